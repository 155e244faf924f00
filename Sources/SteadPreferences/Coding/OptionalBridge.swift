/// The bridge of an optional; nil is stored as nothing.
///
/// What is stored is never read as nil: a key whose value is nil has none. So the bridge of what is wrapped
/// says what is stored.
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
