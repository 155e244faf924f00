/// Where a cross-platform user interface keeps settings, as such a library declares it for each system to fill in.
public protocol SettingsProvider: Sendable {
  /// Nil where there is none, or where what is there is of another type.
  func value<Value: Codable & Sendable>(forKey key: String, as type: Value.Type) -> Value?

  /// Keeps a value; nil removes it.
  func set<Value: Codable & Sendable>(_ value: Value?, forKey key: String) throws

  /// Calls a handler after each change of a setting, by this process or another, until the result is released.
  func observe(_ key: String, _ handler: @escaping @Sendable () -> Void) -> any Sendable
}
