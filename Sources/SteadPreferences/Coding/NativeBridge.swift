/// The bridge of a type that is a ``PreferenceValue``.
///
/// It can be inlined, so that a key of such a type costs only the type's own conversion. Bridges of other
/// types, which encode or wrap, cost more than a call anyway.
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
