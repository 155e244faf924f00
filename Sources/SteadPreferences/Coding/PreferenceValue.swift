import Foundation

/// A type whose values are stored as property list values.
///
/// `String`, `Bool`, the integers, `Float`, `Double`, `Data`, `Date`, `URL`, `UUID` and `Decimal`
/// are preference values; so are optionals, arrays, sets, ranges and dictionaries of them.
///
/// Your own type only needs to declare conformance if it is `RawRepresentable` or `Codable`:
///
/// ```swift
/// enum Theme: String, PreferenceValue { case system, light, dark }
/// struct Margins: Codable, PreferenceValue { var left = 0.0, right = 0.0 }
/// ```
///
/// A type that is several of these uses the first form that applies, and so do typed keys and
/// wrappers:
///
/// 1. its own ``init(propertyList:)`` and ``propertyList()``,
/// 2. its raw value, if that is a preference value,
/// 3. its `Codable` form, as a tree of property list values that any tool can read.
///
/// Reading is strict: the stored value must be of the type's kind. Only the plain values are
/// converted into one another, as the methods of `UserDefaults` do, and only without loss. So
/// arguments of the command line, which are strings, can be read as numbers and booleans.
///
/// | type | read from |
/// |---|---|
/// | `Bool` | a boolean; a number, true unless 0; string: yes, no, true, false, y, n, t, f, a whole number |
/// | integers | a whole number in range; a boolean as 1 or 0; a number without a fraction; a string |
/// | `Double`, `Float` | a number; a boolean as 1 or 0; a string. `Float` rounds a `Double` |
/// | `String` | a string; a number |
/// | `Data`, `Date` | the same |
/// | `URL` | a string: a path where it begins with `/` or `~`, else an address; what `set(_: URL?)` stores |
/// | `UUID`, `Decimal` | a string; `Decimal` also a number |
public protocol PreferenceValue: SendableMetatype {
  /// Makes the value from its stored form.
  ///
  /// Throws when that is of another kind, or out of range. This package's types throw
  /// ``PreferencesError``.
  init(propertyList: PropertyList) throws

  /// The form in which to store this value; nil when the value means that nothing is stored, as nil
  /// does.
  func propertyList() throws -> PropertyList?
}

/// A preference value with a natural value while nothing is stored: the one that `UserDefaults`
/// returns.
///
/// False, 0, an empty string, empty data, no elements, and nil. A property with the wrapper
/// ``UserDefault`` needs no default if its type is one of these.
public protocol UnsetPreferenceValue: PreferenceValue {
  /// The value while nothing is stored.
  static var whileUnset: Self { get }
}

extension Int: UnsetPreferenceValue {}
extension Int8: UnsetPreferenceValue {}
extension Int16: UnsetPreferenceValue {}
extension Int32: UnsetPreferenceValue {}
extension Int64: UnsetPreferenceValue {}
extension UInt: UnsetPreferenceValue {}
extension UInt8: UnsetPreferenceValue {}
extension UInt16: UnsetPreferenceValue {}
extension UInt32: UnsetPreferenceValue {}
extension UInt64: UnsetPreferenceValue {}

// MARK: - Raw values and Codable values

extension PreferenceValue where Self: RawRepresentable, RawValue: PreferenceValue {
  /// Reads a stored raw value.
  ///
  /// - Throws: ``PreferencesError`` `.doesNotDecode` when no value of the type has that raw value.
  public init(propertyList: PropertyList) throws {
    self = try RawBridge<Self>.decode(propertyList)
  }

  /// The raw value.
  public func propertyList() throws -> PropertyList? { try rawValue.propertyList() }
}

extension PreferenceValue where Self: Codable {
  /// Reads the tree that ``propertyList()`` returns, or JSON data, as SteadDefault stores it.
  ///
  /// - Throws: ``PreferencesError`` `.doesNotDecode`, whose cause is the type's own error.
  public init(propertyList: PropertyList) throws {
    self = try CodableBridge<Self>.decode(propertyList)
  }

  /// Stored as a tree of property list values, which tools can show and edit.
  ///
  /// - Throws: ``PreferencesError`` `.notAPropertyList`, whose cause is the type's own error.
  public func propertyList() throws -> PropertyList? { try CodableBridge.encode(self) }
}

extension PreferenceValue where Self: RawRepresentable & Codable, RawValue: PreferenceValue {
  /// Reads a stored raw value.
  ///
  /// - Throws: ``PreferencesError`` `.doesNotDecode` when no value of the type has that raw value.
  public init(propertyList: PropertyList) throws {
    self = try RawBridge<Self>.decode(propertyList)
  }

  /// The raw value.
  public func propertyList() throws -> PropertyList? { try rawValue.propertyList() }
}

// MARK: - Bridges

/// Converts the values of a type to property lists and back. Only its metatype is used.
///
/// A key stores a bridge's metatype: two words, nothing on the heap. With it, keys support types
/// that do not conform to ``PreferenceValue``, such as any enum with raw values.
@usableFromInline
protocol PreferenceBridge<Value>: SendableMetatype {
  /// The type of the converted values.
  associatedtype Value

  /// Reads a stored value.
  ///
  /// - Throws: What the type throws when it is not one of its values.
  static func decode(_ stored: PropertyList) throws -> Value

  /// The form in which to store a value; nil when nothing is to be stored.
  static func encode(_ value: Value) throws -> PropertyList?
}

/// The bridge of a ``PreferenceValue``.
///
/// Inlinable, so that a key of such a type costs only the type's own conversion. The other bridges
/// encode or wrap, which costs more than a call.
@usableFromInline
enum NativeBridge<Value: PreferenceValue>: PreferenceBridge {
  @inlinable
  static func decode(_ stored: PropertyList) throws -> Value {
    try Value(propertyList: stored)
  }

  @inlinable
  static func encode(_ value: Value) throws -> PropertyList? {
    try value.propertyList()
  }
}

/// The bridge of a type that is stored as its raw value.
@usableFromInline
enum RawBridge<Value: RawRepresentable>: PreferenceBridge where Value.RawValue: PreferenceValue {
  @usableFromInline
  static func decode(_ stored: PropertyList) throws -> Value {
    guard let value = Value(rawValue: try Value.RawValue(propertyList: stored)) else {
      throw PreferencesError(
        code: .doesNotDecode, message: "The stored raw value isn't one of \(Value.self).")
    }
    return value
  }

  @usableFromInline
  static func encode(_ value: Value) throws -> PropertyList? { try value.rawValue.propertyList() }
}

/// The bridge of a type that is stored as the tree of its `Codable` form.
@usableFromInline
enum CodableBridge<Value: Codable>: PreferenceBridge {
  /// Reads a tree, or JSON in data, as SteadDefault's `df.store` stores a value.
  @usableFromInline
  static func decode(_ stored: PropertyList) throws -> Value {
    do {
      // SteadDefault's `df.store` stores JSON, and a type may move from there to a typed key.
      if case .data(let json) = stored, Value.self != Data.self {
        return try JSONDecoder().decode(Value.self, from: json)
      }
      return try TreeDecoder(stored, path: []).decode(Value.self)
    } catch let error as PreferencesError {
      throw error
    } catch {
      throw PreferencesError.doesNotDecode(as: Value.self, cause: error)
    }
  }

  @usableFromInline
  static func encode(_ value: Value) throws -> PropertyList? {
    try PropertyList.encodedTree(value)
  }
}

/// The bridge of an optional: nil is stored as no value.
///
/// So a stored value is never read as nil, and the stored form is that of the wrapped type.
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

// MARK: - Errors

extension PropertyList {
  /// The kind of this value in words, for messages, which never contain the value.
  package var kindName: String {
    switch self {
    case .bool: "a boolean"
    case .integer, .unsignedInteger: "a whole number"
    case .float, .double: "a number"
    case .date: "a date"
    case .data: "data"
    case .string: "a string"
    case .array: "an array"
    case .dictionary: "a dictionary"
    }
  }
}

extension PreferencesError {
  /// The error for a stored value of the wrong kind or out of range.
  @usableFromInline
  init(_ stored: PropertyList, isNo type: Any.Type) {
    self.init(
      code: .doesNotDecode,
      message:
        "The stored value is \(stored.kindName), which cannot be read as \(type). Set the key again, "
        + "or remove it.")
  }
}

extension PreferencesError {
  /// The error for a stored value that a type's own decoding has refused.
  package static func doesNotDecode(
    as type: Any.Type, key: String? = nil, cause: any Error
  ) -> PreferencesError {
    PreferencesError(
      code: .doesNotDecode,
      message:
        "The stored value does not decode as \(type). Have the type decode it, or set another value.",
      key: key, cause: cause)
  }

  /// The error for a value that its type's own encoding has refused.
  package static func doesNotEncode(
    _ type: Any.Type, key: String? = nil, cause: any Error
  ) -> PreferencesError {
    PreferencesError(
      code: .notAPropertyList,
      message: "A value of \(type) could not be encoded; correct what the cause names.", key: key,
      cause: cause)
  }
}
