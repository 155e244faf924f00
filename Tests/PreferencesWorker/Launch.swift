import Foundation
import SteadPreferences

// What an app does that was written for the type of that name.
private typealias UserDefaults = Preferences

private struct Launch: DefaultStorable {
  var number: Int
}

/// Counts a launch in the standard preferences, says what they had, and ends as by `kill -9`.
func countLaunch() {
  let defaults = UserDefaults.standard
  defaults.register(defaults: ["volume": 0.5])
  let count = defaults.integer(forKey: "launchCount")
  say("\(count) \(defaults.double(forKey: "volume")) \(Launch.read()?.number ?? -1)")
  defaults.set(count + 1, forKey: "launchCount")
  Launch(number: count).write()
  kill(getpid(), SIGKILL)
}
