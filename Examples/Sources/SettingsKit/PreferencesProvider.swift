import SteadPreferences

/// Settings in preferences: durable when `set` returns, and shared with other processes.
public struct PreferencesProvider: SettingsProvider {
  private let preferences: Preferences

  public init(_ preferences: Preferences = .standard) { self.preferences = preferences }

  public func value<Value: Codable & Sendable>(forKey key: String, as type: Value.Type) -> Value? {
    preferences[Preferences.Key<Value?>(key)]
  }

  public func set<Value: Codable & Sendable>(_ value: Value?, forKey key: String) throws {
    try preferences.set(value, for: Preferences.Key<Value?>(key))
  }

  public func observe(_ key: String, _ handler: @escaping @Sendable () -> Void) -> any Sendable {
    preferences.observe(key) { _ in handler() }
  }
}
