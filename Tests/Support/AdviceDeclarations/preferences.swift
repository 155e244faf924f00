import SteadPreferences

extension Preferences.Keys {
  var theme: Preferences.Key<String> { .init("theme", default: "system") }
}

func useTheme(_ preferences: Preferences) {
  preferences[\.theme] = "dark"
}
