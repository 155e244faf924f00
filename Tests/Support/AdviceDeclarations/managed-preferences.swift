import SteadPreferences

// /etc/stead/managed/org.example.Notes.plist has the administrator's value.
func updatesAreAllowed(_ preferences: Preferences) -> Bool {
  preferences.bool(forKey: "updatesAreAllowed")
}
