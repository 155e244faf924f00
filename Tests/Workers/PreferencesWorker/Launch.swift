import Foundation
import SteadPreferences

// What an app does that was written for the type of that name.
private typealias UserDefaults = Preferences

private struct Launch: DefaultStorable {
  var number: Int
}

extension Preferences.Keys {
  fileprivate var launchCount: Preferences.Key<Int> { .init("launchCount", default: 0) }
}

private struct Settings {
  @Preference(\.launchCount) var launchCount
}

/// Counts a launch in the standard preferences, says what they had, and ends as by `kill -9`.
func countLaunch() {
  let defaults = UserDefaults.standard
  defaults.register(defaults: ["volume": 0.5])
  let count = Settings().launchCount
  say("\(count) \(defaults.double(forKey: "volume")) \(Launch.read()?.number ?? -1)")
  defaults.set(count + 1, forKey: "launchCount")
  Launch(number: count).write()
  kill(getpid(), SIGKILL)
}
