import Foundation
import SteadFiles
import SteadPreferences

func movePicture(from preferences: Preferences, into folder: URL) throws {
  guard let picture = preferences.data(forKey: "avatar") else { return }
  // The file is durable before the preference is removed. After a crash in between, the next start repeats this.
  try AtomicFile(folder.appending(path: "avatar.png")).replace(with: picture)
  preferences.set("avatar.png", forKey: "avatar_file")
  preferences.removeObject(forKey: "avatar")
}
