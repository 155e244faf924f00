import Foundation
import SteadFiles
public import SteadPreferences

/// A key of preferences and its value.
public struct PreferenceEntry: Sendable, Hashable {
  /// The key.
  public var key: String
  /// The value, as it is kept.
  public var value: PropertyList

  /// A key and its value.
  public init(key: String, value: PropertyList) {
    self.key = key
    self.value = value
  }

  /// A key and the value that something is stored as: its own form where its type is a `PreferenceValue`,
  /// else the tree of its `Codable` form.
  ///
  /// - Throws: `PreferencesError` `.notAPropertyList` for a value that does not encode, nil for one.
  public init<Value: Encodable>(key: String, encoding value: Value) throws {
    guard let stored = try PropertyList.encoded(value) else {
      throw PreferencesError(
        code: .notAPropertyList, message: "A nil cannot be stored. Leave it out.", key: key)
    }
    self.init(key: key, value: stored)
  }

  /// The value as a type of Swift's, read from its own form or the tree of its `Codable` form.
  ///
  /// - Throws: `PreferencesError` `.doesNotDecode`.
  public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
    try value.decoded(as: type)
  }
}

extension PropertyList {
  /// The digest of the value in the binary format, which has one form for each value.
  func digest() throws -> String { ItemDigest.text(of: try data(format: .binary)) }
}

extension PreferenceEntry {
  /// The digest of key and value.
  func digest() throws -> String { try PropertyList.array([.string(key), value]).digest() }
}
