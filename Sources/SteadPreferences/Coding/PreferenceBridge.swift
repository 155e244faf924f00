import Foundation

/// Converts a type's values to property lists and back; used as a type, never as a value.
///
/// A key stores a bridge's metatype, which is two words and nothing on the heap. So keys also support types
/// that know nothing about preferences, such as an enum with raw values.
@usableFromInline
protocol PreferenceBridge<Value>: SendableMetatype {
  /// The type of the converted values.
  associatedtype Value

  /// Reads a stored value; throws when it isn't a value of the type.
  static func decode(_ stored: PropertyList) throws -> Value

  /// The form in which to store a value; nil when nothing is to be stored.
  static func encode(_ value: Value) throws -> PropertyList?
}
