/// The bridge of an optional; nil is stored as no value.
///
/// A stored value is never read as nil: a key whose value is nil has no stored value. So the wrapped type's
/// bridge determines the stored form.
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
