// Overloads for types that no other overload accepts, so that the compiler explains what to do about the type instead
// of listing the others.

@available(
  *, unavailable,
  message: """
    the type of this property cannot be stored. Make it Codable (an enum can have a raw value such \
    as String or Int and be Codable, too), mark the property @Transient, or name a transformer with \
    @Attribute(.transformable(by:)).
    """
)
public func _makeSlot<T>(_: T.Type) -> _UnstorableSlot<T> { .init() }

@available(
  *, unavailable,
  message: """
    the type of this property cannot be stored. Make it Codable (an enum can have a raw value such \
    as String or Int and be Codable, too), mark the property @Transient, or name a transformer with \
    @Attribute(.transformable(by:)).
    """
)
public func _makeSlot<T>(inferring _: @autoclosure () -> T) -> _UnstorableSlot<T> { .init() }

/// Stands for the storage of a type that cannot be stored, so that the compiler reports only one error.
public struct _UnstorableSlot<Value>: _Slot {
  var value: Value?

  public init(_ value: Value) { self.value = value }

  init() {}

  public func read<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> Value {
    if let value { return value }
    return _missingValue(owner, index)
  }

  public mutating func _load(_ row: _RowReader, _ index: Int) {}

  public func _bind(_ row: _RowWriter, _ index: Int) {}
}
