/// The storage of a required to-one relationship.
public struct _ToOneSlot<Value: PersistentModel>: _Slot {
  @usableFromInline var target: ToOneTarget<Value>

  @inlinable public init(_ value: Value) { target = .model(value) }

  @inlinable init() { target = .none }

  public init<Owner: PersistentModel>(
    _ value: Value, _ state: inout _ModelState, _ index: Int, _ owner: Owner.Type
  ) {
    self.init(value)
    FirstLink.note([value], &state, index, owner)
  }

  public func read<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> Value {
    if let value = target.read(owner, index) { return value }
    // The row is gone or the object is a probe: an object without a row stands in, never a trap.
    return Value(_row: .empty)
  }

  public func didReplace<Owner: PersistentModel>(
    with value: Value, _ owner: Owner, _ index: Int
  ) {
    target.didReplace(with: value, owner, index)
  }

  @inlinable public mutating func _load(_ row: _RowReader, _ index: Int) {
    target.load(row, index)
  }

  public func _bind(_ row: _RowWriter, _ index: Int) { target.bind(row, index) }

  public var _content: _SlotContent {
    get { .toOne(target.erased) }
    set { target.set(newValue) }
  }
}
