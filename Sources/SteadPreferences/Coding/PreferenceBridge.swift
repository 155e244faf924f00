import Foundation

/// How the values of a type go to a property list and back: a type to choose, never a value to keep.
///
/// A key holds the metatype of one, which is two words and nothing on the heap. So keys serve types that
/// have said nothing of preferences, such as an enum with raw values.
@usableFromInline
protocol PreferenceBridge<Value>: SendableMetatype {
  /// The type whose values go there and back.
  associatedtype Value

  /// Reads what is stored; throws when it is no such value.
  static func decode(_ stored: PropertyList) throws -> Value

  /// What to store for a value; nil when nothing is to be stored.
  static func encode(_ value: Value) throws -> PropertyList?
}
