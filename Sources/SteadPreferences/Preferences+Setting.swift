import Foundation

extension Preferences {
  /// Sets a value; nil removes the key.
  ///
  /// A property list can contain strings, numbers, booleans, dates, data, and arrays and dictionaries of
  /// them; other values are refused, and `onError` is called. A URL is stored as the overload for URLs stores
  /// it. ``strict`` has the same call, which throws its errors.
  public func set(_ value: Any?, forKey key: String) {
    reporting(key: key) { try store(value, forKey: key) }
  }

  func store(_ value: Any?, forKey key: String) throws {
    guard let value else { return try setPropertyList(nil, forKey: key) }
    if let url = value as? URL { return try setPropertyList(PropertyList(url: url), forKey: key) }
    try setPropertyList(PropertyList(validating: value), forKey: key)
  }

  /// Sets a value; nil removes the key. This is ``set(_:forKey:)-(Any?,String)`` under the name of key-value coding.
  public func setValue(_ value: Any?, forKey key: String) { set(value, forKey: key) }

  /// Sets a whole number.
  public func set(_ value: Int, forKey key: String) { write(.integer(Int64(value)), key) }

  /// Sets a 32-bit floating-point number.
  public func set(_ value: Float, forKey key: String) { write(.float(value), key) }

  /// Sets a 64-bit floating-point number.
  public func set(_ value: Double, forKey key: String) { write(.double(value), key) }

  /// Sets a boolean.
  public func set(_ value: Bool, forKey key: String) { write(.bool(value), key) }

  /// Sets a URL; nil removes the key.
  ///
  /// A file URL is stored as its path, with `~` for the home directory; any other as an archive that
  /// ``url(forKey:)`` can read, as can `UserDefaults` on Apple's systems.
  public func set(_ url: URL?, forKey key: String) {
    reporting(key: key) {
      try setPropertyList(try url.map { try PropertyList(url: $0) }, forKey: key)
    }
  }

  /// Removes a key from the domain; another domain's value for it becomes effective.
  public func removeObject(forKey key: String) { write(nil, key) }

  /// Removes all keys from the domain, as one change.
  ///
  /// - Throws: ``PreferencesError``, as `setPropertyList(_:forKey:)`.
  public func removeAll() throws {
    try reraising { try writing { target in try target.replaceContents(with: [:]) } }
  }

  private func write(_ value: PropertyList?, _ key: String) {
    do {
      try setPropertyList(value, forKey: key)
    } catch {
      report(PreferencesError(error, domain: domain, key: key))
    }
  }

  func reraising<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch {
      throw PreferencesError(error, domain: domain)
    }
  }
}
