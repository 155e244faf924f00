import Foundation
import SteadPreferences

/// Opens one directory after the other, as the input names them: prints what is in the domain, with
/// errors as lines of their own, then sets a key.
struct Inspector {
  let name: String

  func run() {
    // What is found wrong while a domain is opened has no object yet that could be told.
    Preferences.onError = { error in say("error \(error)") }
    while let directory = readLine() {
      do {
        let preferences = try Domain(directory: directory, name: name).open()
        try dump(preferences)
        preferences.set(1, forKey: "inspected")
      } catch {
        say("error \(error)\n.")
      }
      say(".")
    }
  }
}
