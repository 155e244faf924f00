import Foundation

/// Whole `Codable` values as JSON data in preferences: `preferences.df.store(margins, forKey: "margins")`.
///
/// The form is that of the library Default, so each reads what the other has written. For what no other
/// program must read typed keys are the better choice: their `Codable` values are trees that tools show.
public struct CodablePreferences: Sendable {
  let preferences: Preferences

  /// Stores a value as JSON data.
  ///
  /// Errors go to `Preferences.onError`, and nothing is stored then. A stored value that is no
  /// `Value` is kept aside first, with ``Preferences/keysKeptAside(for:)``.
  public func store<Value: Codable>(
    _ value: Value, forKey key: String, encoder: JSONEncoder = JSONEncoder()
  ) {
    preferences.reporting(key: key) { try storeChecked(value, forKey: key, encoder: encoder) }
  }

  /// Stores a value as JSON data; throws when it does not encode or could not be stored.
  public func storeChecked<Value: Codable>(
    _ value: Value, forKey key: String, encoder: JSONEncoder = JSONEncoder()
  ) throws {
    let json: Data
    do {
      json = try encoder.encode(value)
    } catch {
      throw PreferencesError(
        code: .notAPropertyList, message: "A value of \(Value.self) does not encode.", key: key,
        cause: error)
    }
    try preferences.replace(with: .data(json), forKey: key) { stored in
      _ = try Self.decode(Value.self, from: stored, key: key, decoder: JSONDecoder())
    }
  }

  /// The value of a key, nil when nothing is stored or that does not decode.
  ///
  /// What does not decode is told to `Preferences.onError`. Reads JSON data, and the trees that typed
  /// keys store.
  public func fetch<Value: Decodable>(
    forKey key: String, type: Value.Type, decoder: JSONDecoder = JSONDecoder()
  ) -> Value? {
    let fetched = preferences.reporting(key: key) {
      try fetchChecked(forKey: key, type: type, decoder: decoder)
    }
    return fetched ?? nil
  }

  /// The value of a key, nil when nothing is stored; throws when what is stored does not decode.
  public func fetchChecked<Value: Decodable>(
    forKey key: String, type: Value.Type, decoder: JSONDecoder = JSONDecoder()
  ) throws -> Value? {
    guard let stored = preferences.propertyList(forKey: key) else { return nil }
    return try Self.decode(type, from: stored, key: key, decoder: decoder)
  }

  private static func decode<Value: Decodable>(
    _ type: Value.Type, from stored: PropertyList, key: String, decoder: JSONDecoder
  ) throws -> Value {
    do {
      if case .data(let json) = stored { return try decoder.decode(type, from: json) }
      return try TreeDecoder(stored, path: []).decode(type)
    } catch {
      throw PreferencesError(
        code: .doesNotDecode, message: "What is stored does not decode as \(Value.self).",
        key: key, cause: error)
    }
  }
}

extension Preferences {
  /// Whole `Codable` values as JSON data, with the methods of the library Default.
  public var df: CodablePreferences { CodablePreferences(preferences: self) }
}
