import Foundation

/// How the values of a type go to a property list and back: a type to choose, never a value to keep.
///
/// A key holds the metatype of one, which is two words and nothing on the heap. So keys serve types that
/// have said nothing of preferences, such as an enum with raw values.
@usableFromInline
protocol PreferenceBridge<Value>: SendableMetatype {
  associatedtype Value
  static func decode(_ stored: PropertyList) throws -> Value
  static func encode(_ value: Value) throws -> PropertyList?
}

/// The bridge of a type that is a ``PreferenceValue``.
@usableFromInline
enum NativeBridge<Value: PreferenceValue>: PreferenceBridge {
  @inlinable
  static func decode(_ stored: PropertyList) throws -> Value { try Value(propertyList: stored) }

  @inlinable
  static func encode(_ value: Value) throws -> PropertyList? { try value.propertyList() }
}

/// The bridge of a type that is stored as its raw value.
@usableFromInline
enum RawBridge<Value: RawRepresentable>: PreferenceBridge where Value.RawValue: PreferenceValue {
  @usableFromInline
  static func decode(_ stored: PropertyList) throws -> Value {
    guard let value = Value(rawValue: try Value.RawValue(propertyList: stored)) else {
      throw PreferencesError(
        code: .doesNotDecode, message: "No \(Value.self) has the raw value that is stored.")
    }
    return value
  }

  @usableFromInline
  static func encode(_ value: Value) throws -> PropertyList? { try value.rawValue.propertyList() }
}

/// The bridge of a type that is stored as the tree of its `Codable` form.
@usableFromInline
enum CodableBridge<Value: Codable>: PreferenceBridge {
  /// Data is read as JSON, since that is how SteadDefault's `df.store` keeps a value.
  @usableFromInline
  static func decode(_ stored: PropertyList) throws -> Value {
    do {
      if case .data(let json) = stored, Value.self != Data.self {
        return try JSONDecoder().decode(Value.self, from: json)
      }
      return try TreeDecoder(stored, path: []).decode(Value.self)
    } catch let error as PreferencesError {
      throw error
    } catch {
      throw PreferencesError(
        code: .doesNotDecode, message: "What is stored does not decode as \(Value.self).",
        cause: error)
    }
  }

  @usableFromInline
  static func encode(_ value: Value) throws -> PropertyList? {
    do {
      return try TreeEncoder.tree(of: value)
    } catch let error as PreferencesError {
      throw error
    } catch {
      throw PreferencesError(
        code: .notAPropertyList, message: "A value of \(Value.self) does not encode.", cause: error)
    }
  }
}

/// The bridge of an optional; nil is stored as nothing.
@usableFromInline
enum OptionalBridge<Wrapped: PreferenceBridge>: PreferenceBridge {
  @usableFromInline
  static func decode(_ stored: PropertyList) throws -> Wrapped.Value? {
    try Wrapped.decode(stored)
  }

  @usableFromInline
  static func encode(_ value: Wrapped.Value?) throws -> PropertyList? {
    try value.flatMap { try Wrapped.encode($0) }
  }
}
