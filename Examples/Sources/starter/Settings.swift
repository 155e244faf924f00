import SteadPreferences

/// Settings, each with its type and its default.
extension Preferences.Keys {
  var runs: Preferences.Key<Int> { .init("runs", default: 0) }
}
