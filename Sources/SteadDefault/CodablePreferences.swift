public import Foundation
public import SteadPreferences

/// Whole `Codable` values as JSON data in preferences: `preferences.df.store(margins, forKey: "margins")`.
///
/// The form is that of the library Default, so each reads what the other has written. For values that no
/// other program has to read, prefer typed keys: their `Codable` values are trees that tools can show.
public struct CodablePreferences: Sendable {
  let preferences: Preferences

  /// Stores a value as JSON data.
  ///
  /// On an error nothing is stored, and `Preferences.onError` is called. A stored value that does not decode
  /// as a `Value` is first kept aside, under `Preferences.undecodableKeys(for:)`.
  public func store<Value: Codable>(
    _ value: Value, forKey key: String, encoder: JSONEncoder = JSONEncoder()
  ) {
    preferences.reporting(key: key) { try encode(value, forKey: key, encoder: encoder) }
  }

  /// As ``store(_:forKey:encoder:)``, but throws when the value does not encode or could not be stored.
  public func encode<Value: Codable>(
    _ value: Value, forKey key: String, encoder: JSONEncoder = JSONEncoder()
  ) throws {
    let json: Data
    do {
      json = try encoder.encode(value)
    } catch {
      throw PreferencesError(
        code: .notAPropertyList,
        message: "A value of \(Value.self) could not be encoded; correct what the cause names.",
        key: key,
        cause: error)
    }
    try preferences.replace(with: .data(json), forKey: key) { stored in
      _ = try Self.decode(Value.self, from: stored, key: key, decoder: JSONDecoder())
    }
  }

  /// The value of a key; nil when nothing is stored or the stored value does not decode.
  ///
  /// `Preferences.onError` is called for a value that does not decode. Reads JSON data, and the trees that
  /// typed keys store.
  public func fetch<Value: Decodable>(
    forKey key: String, type: Value.Type, decoder: JSONDecoder = JSONDecoder()
  ) -> Value? {
    preferences.reporting(key: key) { try decode(type, forKey: key, decoder: decoder) } ?? nil
  }

  /// As ``fetch(forKey:type:decoder:)``, but throws when the stored value does not decode.
  public func decode<Value: Decodable>(
    _ type: Value.Type, forKey key: String, decoder: JSONDecoder = JSONDecoder()
  ) throws -> Value? {
    guard let stored = preferences.propertyList(forKey: key) else { return nil }
    return try Self.decode(type, from: stored, key: key, decoder: decoder)
  }

  private static func decode<Value: Decodable>(
    _ type: Value.Type, from stored: PropertyList, key: String, decoder: JSONDecoder
  ) throws -> Value {
    do {
      if case .data(let json) = stored { return try decoder.decode(type, from: json) }
      return try stored.decodedTree(as: type)
    } catch {
      throw PreferencesError(
        code: .doesNotDecode,
        message: "The stored value does not decode as \(Value.self). Have the type decode it, or "
          + "set another value.", key: key, cause: error)
    }
  }
}

extension Preferences {
  /// Whole `Codable` values as JSON data, with the methods of the library Default.
  public var df: CodablePreferences { CodablePreferences(preferences: self) }
}
