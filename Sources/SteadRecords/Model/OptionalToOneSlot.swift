/// The storage of an optional to-one relationship.
public struct _OptionalToOneSlot<Wrapped: PersistentModel>: _Slot {
  @usableFromInline var target: ToOneTarget<Wrapped>

  @inlinable public init(_ value: Wrapped?) {
    if let value { target = .model(value) } else { target = .none }
  }

  @inlinable init() { target = .none }

  public init<Owner: PersistentModel>(
    _ value: Wrapped?, _ state: inout _ModelState, _ index: Int, _ owner: Owner.Type
  ) {
    self.init(value)
    if let value { FirstLink.note([value], &state, index, owner) }
  }

  public func read<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> Wrapped? {
    target.read(owner, index)
  }

  public func didReplace<Owner: PersistentModel>(
    with value: Wrapped?, _ owner: Owner, _ index: Int
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
