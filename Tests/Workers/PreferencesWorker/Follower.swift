import Foundation
import SteadPreferences

/// Tells of changes as they come, and does what the input says.
///
///     set <key> <number>     sets a key
///     get <key>              prints a key's value
///     hammer <key> <count>   sets `key.0` and so on
///     synchronize            brings the property list file up to date
///     dump                   prints all, to a full stop
struct Follower {
  let preferences: Preferences

  init(_ preferences: Preferences) { self.preferences = preferences }

  func run() throws {
    let observation = preferences.observe { change in
      say("\(change.isOwn ? "own" : "other") \(change.key.escaped) \(change.new?.line ?? "none")")
    }
    say("ready")
    while let line = readLine() {
      let words = line.split(separator: " ").map(String.init)
      switch words[0] {
      case "set": preferences.set(Int(words[2]) ?? 0, forKey: words[1])
      case "get": say(preferences.propertyList(forKey: words[1])?.line ?? "none")
      case "hammer":
        for number in 0..<(Int(words[2]) ?? 0) {
          preferences.set(number, forKey: "\(words[1]).\(number)")
        }
        say("hammered")
      case "synchronize": say("\(preferences.synchronize())")
      case "dump": try dump(preferences)
      default: WorkerMain.misuse()
      }
    }
    observation.cancel()
  }
}
