public import Foundation
public import SteadPreferences

/// A group of settings that is stored as one value under its type's name.
///
/// ```swift
/// struct VisualSettings: DefaultStorable {
///   var themeName: String
///   var background: URL?
/// }
/// VisualSettings(themeName: "bright").write()
/// if let settings = VisualSettings.read() { apply(settings) }
/// ```
///
/// The names and the form are those of the library Default, and existing data of that library is
/// found: it stored under `VisualSettings.Type`, so that key is read when `VisualSettings` has no
/// value, as long as the type does not declare its own ``defaultIdentifier``.
///
/// A stored value that does not decode is never overwritten silently: before ``write(withKey:)``
/// replaces it, it is kept aside (`Preferences.undecodableKeys(for:)`) and reported.
public protocol DefaultStorable: Codable {
  /// The preferences that contain the values; `Preferences.standard` unless a type overrides it.
  static var defaults: Preferences { get }
  /// The key; the type's name unless a type overrides it.
  static var defaultIdentifier: String { get }
  /// What ``read(forKey:)`` returns when nothing is stored, or nothing that decodes; nil unless a
  /// type overrides it.
  static var defaultValue: Self? { get }
  /// The stored value, or ``defaultValue``.
  static func read(forKey key: String?) -> Self?
  /// Stores the value.
  func write(withKey key: String?)
  /// Removes the stored value.
  func clear(forKey key: String?)
  /// Removes the stored value.
  static func clear(forKey key: String?)
}

extension DefaultStorable {
  /// `Preferences.standard`.
  public static var defaults: Preferences { .standard }
  /// The type's name.
  public static var defaultIdentifier: String { String(describing: Self.self) }
  /// Nil.
  public static var defaultValue: Self? { nil }

  /// The value stored under a key, or ``defaultValue``; a nil key means ``defaultIdentifier``.
  ///
  /// `Preferences.onError` is called for a value that does not decode.
  public static func read(forKey key: String? = nil) -> Self? {
    defaults.reporting { try load(forKey: key) } ?? defaultValue
  }

  /// As ``read(forKey:)``, but throws when the stored value does not decode.
  ///
  /// - Throws: `PreferencesError` `.doesNotDecode`, whose cause is the decoder's or the type's
  ///   error.
  public static func load(forKey key: String? = nil) throws -> Self? {
    // The type's own name first: a value under the other one is older.
    for name in names(for: key) {
      if let value = try defaults.df.decode(Self.self, forKey: name) { return value }
    }
    return defaultValue
  }

  /// Stores the value under a key; nil means ``defaultIdentifier``. Errors go to
  /// `Preferences.onError`.
  public func write(withKey key: String? = nil) {
    Self.defaults.df.store(self, forKey: key ?? Self.defaultIdentifier)
  }

  /// As ``write(withKey:)``, but throws when the value could not be encoded or stored.
  ///
  /// - Throws: `PreferencesError`: `.notAPropertyList` when the value does not encode,
  ///   `.tooManyKeptAside`, and those of `Preferences.setPropertyList(_:forKey:)`.
  public func save(forKey key: String? = nil) throws {
    try Self.defaults.df.encode(self, forKey: key ?? Self.defaultIdentifier)
  }

  /// Removes the value stored under a key; nil means ``defaultIdentifier``.
  public func clear(forKey key: String? = nil) { Self.clear(forKey: key) }

  /// Removes the value stored under a key, and what the library Default stored for it; nil means
  /// ``defaultIdentifier``.
  public static func clear(forKey key: String? = nil) {
    let names = names(for: key)
    defaults.reporting(key: names[0]) {
      _ = try defaults.apply(names.map { DomainEdit(key: $0, value: nil) })
    }
  }

  /// The key, followed by the one that the library Default formed from the type of a type.
  private static func names(for key: String?) -> [String] {
    if let key { return [key] }
    guard defaultIdentifier == String(describing: Self.self) else { return [defaultIdentifier] }
    return [defaultIdentifier, String(describing: type(of: Self.self))]
  }
}

// MARK: - Single values

/// Whole `Codable` values as JSON data in preferences: `preferences.df.store(margins, forKey:
/// "margins")`.
///
/// The form is that of the library Default, so each reads what the other has written. For values
/// that no other program has to read, prefer typed keys: their `Codable` values are trees that
/// tools can show.
public struct CodablePreferences: Sendable {
  let preferences: Preferences

  /// Stores a value as JSON data.
  ///
  /// On an error nothing is stored, and `Preferences.onError` is called. A stored value that does
  /// not decode as a `Value` is first kept aside, under `Preferences.undecodableKeys(for:)`.
  public func store<Value: Codable>(
    _ value: Value, forKey key: String, encoder: JSONEncoder = JSONEncoder()
  ) {
    preferences.reporting(key: key) { try encode(value, forKey: key, encoder: encoder) }
  }

  /// As ``store(_:forKey:encoder:)``, but throws when the value does not encode or could not be
  /// stored.
  ///
  /// Whether the stored value decodes is checked with a decoder of the encoder's strategies. If one
  /// of these is a formatter or the program's own code, any JSON counts as a value that decodes.
  ///
  /// - Throws: `PreferencesError`: `.notAPropertyList` when the value does not encode,
  ///   `.tooManyKeptAside`, and those of `Preferences.setPropertyList(_:forKey:)`.
  public func encode<Value: Codable>(
    _ value: Value, forKey key: String, encoder: JSONEncoder = JSONEncoder()
  ) throws {
    let json: Data
    do {
      json = try encoder.encode(value)
    } catch {
      throw PreferencesError.doesNotEncode(Value.self, key: key, cause: error)
    }
    try preferences.replace(with: .data(json), forKey: key) { stored in
      if let decoder = JSONDecoder(matching: encoder) {
        _ = try Self.decode(Value.self, from: stored, key: key, decoder: decoder)
      } else if case .data(let json) = stored {
        _ = try JSONSerialization.jsonObject(with: json, options: .fragmentsAllowed)
      } else {
        _ = try Self.decode(Value.self, from: stored, key: key, decoder: JSONDecoder())
      }
    }
  }

  /// The value of a key; nil when nothing is stored or the stored value does not decode.
  ///
  /// `Preferences.onError` is called for a value that does not decode. Reads JSON data, and the
  /// trees that typed keys store.
  public func fetch<Value: Decodable>(
    forKey key: String, type: Value.Type, decoder: JSONDecoder = JSONDecoder()
  ) -> Value? {
    preferences.reporting(key: key) { try decode(type, forKey: key, decoder: decoder) } ?? nil
  }

  /// As ``fetch(forKey:type:decoder:)``, but throws when the stored value does not decode.
  ///
  /// - Throws: `PreferencesError` `.doesNotDecode`, whose cause is the decoder's or the type's
  ///   error.
  public func decode<Value: Decodable>(
    _ type: Value.Type, forKey key: String, decoder: JSONDecoder = JSONDecoder()
  ) throws -> Value? {
    guard let stored = preferences.propertyList(forKey: key) else { return nil }
    return try Self.decode(type, from: stored, key: key, decoder: decoder)
  }

  /// Decodes JSON in data, or else the tree that a typed key has stored.
  private static func decode<Value: Decodable>(
    _ type: Value.Type, from stored: PropertyList, key: String, decoder: JSONDecoder
  ) throws -> Value {
    do {
      if case .data(let json) = stored { return try decoder.decode(type, from: json) }
      return try stored.decodedTree(as: type)
    } catch {
      throw PreferencesError.doesNotDecode(as: Value.self, key: key, cause: error)
    }
  }
}

extension Preferences {
  /// Whole `Codable` values as JSON data, with the methods of the library Default.
  public var df: CodablePreferences { CodablePreferences(preferences: self) }
}

extension JSONDecoder {
  /// The decoder that reads what an encoder writes; nil if only the program knows.
  fileprivate convenience init?(matching encoder: JSONEncoder) {
    self.init()
    switch encoder.dateEncodingStrategy {
    case .deferredToDate: dateDecodingStrategy = .deferredToDate
    case .secondsSince1970: dateDecodingStrategy = .secondsSince1970
    case .millisecondsSince1970: dateDecodingStrategy = .millisecondsSince1970
    case .iso8601: dateDecodingStrategy = .iso8601
    default: return nil
    }
    switch encoder.dataEncodingStrategy {
    case .deferredToData: dataDecodingStrategy = .deferredToData
    case .base64: dataDecodingStrategy = .base64
    default: return nil
    }
    switch encoder.nonConformingFloatEncodingStrategy {
    case .throw: nonConformingFloatDecodingStrategy = .throw
    case .convertToString(let positive, let negative, let nan):
      nonConformingFloatDecodingStrategy = .convertFromString(
        positiveInfinity: positive, negativeInfinity: negative, nan: nan)
    @unknown default: return nil
    }
    switch encoder.keyEncodingStrategy {
    case .useDefaultKeys: keyDecodingStrategy = .useDefaultKeys
    case .convertToSnakeCase: keyDecodingStrategy = .convertFromSnakeCase
    default: return nil
    }
  }
}
