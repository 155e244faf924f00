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
