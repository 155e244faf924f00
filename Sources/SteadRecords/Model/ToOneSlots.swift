/// The destination of a to-one relationship: a row's number until it is first read, then the object.
@usableFromInline enum ToOneTarget<Model: PersistentModel> {
  /// No destination: NULL in the foreign key.
  case none
  /// A destination that was read as a foreign key only, so that fetching owners makes no objects of
  /// their destinations.
  case row(Int64)
  /// The object of the destination, which the owner keeps alive.
  case model(Model)

  /// The destination's object, looked up with the first read and stored in the owner's slot. nil if the row is gone.
  @usableFromInline
  func read<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> Model? {
    switch self {
    case .none: return nil
    case .model(let model):
      // The destination's row is gone, and nothing has cleared the reference: the rule `noAction` leaves it.
      return model._$statePointer.pointee.has(_ModelFlags.missing) ? nil : model
    case .row(let row):
      guard let home = owner._$statePointer.pointee.home,
        let object = home.destination(row, of: owner, index) as? Model
      else { return nil }
      // Through the visitor and not by assignment: the slot that called this is a copy of the
      // stored one. No inverse is touched, since the relationship itself has not changed.
      owner.setContent(.toOne(.model(object)), at: index)
      return object
    }
  }

  /// Takes the destination from a row. A loaded object stays if the row still leads to it.
  @inlinable mutating func load(_ row: _RowReader, _ index: Int) {
    let column = row._column(index)
    // The statement does not select the column: a partial fetch keeps what the object has.
    guard column >= 0 else { return }
    let id = row.integer(column)
    // SQLite returns 0 for NULL, and the row numbers that this library gives are positive, so one
    // call serves both.
    if id == 0 {
      self = .none
      // A stale object may be one whose row is gone. By its row it is looked up again, which finds that out; otherwise
      // a reference that the deletion has left behind would lead to it.
    } else if case .model(let model) = self, model._$statePointer.pointee.rowID == id,
      !model._$statePointer.pointee.has(_ModelFlags.stale)
    {
      return
    } else {
      self = .row(id)
    }
  }

  /// Binds the destination's row; NULL for an object that will have none. A save numbers all new rows before it binds
  /// one.
  func bind(_ row: _RowWriter, _ index: Int) {
    let parameter = row._parameter(index)
    // A statement that updates other columns only.
    guard parameter > 0 else { return }
    switch self {
    case .none: break
    case .row(let id): row.bind(id, parameter)
    case .model(let model):
      let id = model._$statePointer.pointee.rowID
      // A temporary number is negative. It must not get into a column that other processes read as
      // a row.
      if id > 0 { row.bind(id, parameter) }
    }
  }

  /// The destination without its static type.
  var erased: _Target {
    switch self {
    case .none: .none
    case .row(let id): .row(id)
    case .model(let model): .model(model)
    }
  }

  /// Takes over an untyped destination.
  ///
  /// Content of another kind is ignored. No inverse is updated and nothing is marked as changed.
  mutating func set(_ content: _SlotContent) {
    guard case .toOne(let target) = content else { return }
    switch target {
    case .none: self = .none
    case .row(let id): self = .row(id)
    case .model(let model):
      if let model = model as? Model {
        self = .model(model)
      } else if model._$statePointer.pointee.rowID > 0 {
        // The schema has another class of the same name in the place of `Model`; only the row fits.
        self = .row(model._$statePointer.pointee.rowID)
      }
    }
  }
}

// MARK: - Required

/// The storage of a required to-one relationship.
///
/// Required is checked by a save, not by the type: an object that was never given a destination, or whose destination
/// was deleted, reads as an object without a row.
public struct _ToOneSlot<Value: PersistentModel>: _Slot {
  @usableFromInline var target: ToOneTarget<Value>

  /// Creates the storage for an object that belongs to no context, without setting the other side.
  @inlinable public init(_ value: Value) { target = .model(value) }

  @inlinable init() { target = .none }

  /// Creates the storage in a model's initializer, and records the link for its first use
  /// (`FirstLink`).
  public init<Owner: PersistentModel>(
    _ value: Value, _ state: inout _ModelState, _ index: Int, _ owner: Owner.Type
  ) {
    self.init(value)
    FirstLink.note([value], &state, index, owner)
  }

  /// The destination, loaded with the first read. Without one, an object without a row.
  public func read<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> Value {
    if let value = target.read(owner, index) { return value }
    // It is not stored in the slot: the relationship still has no destination, and the next save
    // must find that out.
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

// MARK: - Optional

/// The storage of an optional to-one relationship, in the foreign key of the owner's row.
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

  /// The destination, loaded with the first read; nil without one, and if its row is gone.
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
