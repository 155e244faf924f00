import UIKit

struct AvatarFile {
  let folder: URL
  let defaults: UserDefaults

  func set(_ image: UIImage) throws {
    let name = "avatar.jpg"
    try image.jpegData(compressionQuality: 0.8)?.write(
      to: folder.appending(path: name), options: .atomic)
    defaults.set(name, forKey: "avatarName")
  }
}
