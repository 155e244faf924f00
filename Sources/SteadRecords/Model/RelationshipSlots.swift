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

// MARK: - To many

/// The storage of a to-many relationship.
public struct _ToManySlot<Element: PersistentModel>: _Slot {
  /// The destinations, and the changes since the last save.
  @usableFromInline var targets: _Targets

  @inlinable public init(_ value: [Element]) { targets = _Targets(loaded: ToMany.erased(value)) }

  @inlinable init() { targets = _Targets() }

  public init<Owner: PersistentModel>(
    _ value: [Element], _ state: inout _ModelState, _ index: Int, _ owner: Owner.Type
  ) {
    self.init(value)
    FirstLink.note(targets.loaded ?? [], &state, index, owner)
  }

  /// The destinations in order, loaded with the first read: one query for all owners of the same
  /// fetch.
  @inlinable public func read<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> [Element] {
    let loaded = targets.loaded ?? ToMany.load(owner, index)
    // Only objects whose reads are traced may have destinations of another class.
    if owner._$statePointer.pointee.has(_ModelFlags.traced) { return ToMany.checked(loaded) }
    return ToMany.typed(loaded)
  }

  public func didReplace<Owner: PersistentModel>(
    with value: [Element], _ owner: Owner, _ index: Int
  ) {
    ToMany.didReplace(targets, with: ToMany.erased(value), owner, index)
  }

  /// Drops the loaded array, which is read again with the next access.
  @inlinable public mutating func _load(_ row: _RowReader, _ index: Int) { targets.loaded = nil }

  /// Binds nothing: no column of the owner's row holds the relationship.
  public func _bind(_ row: _RowWriter, _ index: Int) {}

  /// The array for the program to change: the shadow's, if there is one, so that appending does not copy.
  public func _lend<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> [Element] {
    // Checked reads leave objects out, so what they return is not the loaded array, and its shadow
    // must not be lent.
    if owner._$statePointer.pointee.has(_ModelFlags.traced) { return read(owner, index) }
    if let loaded = targets.lend() { return ToMany.typed(loaded) }
    return read(owner, index)
  }

  /// Applies what the program has changed in place. Only if that cannot be told from the arrays, the relationship is
  /// assigned as a whole.
  public static func _takeBack<Owner: PersistentModel>(
    _ value: [Element], into place: UnsafeMutablePointer<Self>, _ owner: Owner, _ index: Int
  ) {
    // A pointer, not an inout access: the engine reads the same relationship of this object during the call.
    let targets = withUnsafeMutablePointer(to: &place.pointee.targets) { $0 }
    if ToMany.didModify(targets, ToMany.erased(value), owner, index) { return }
    // The old storage is kept for the comparison: `didReplace` finds in it what left the
    // relationship.
    let old = place.pointee
    place.pointee = Self(value)
    old.didReplace(with: value, owner, index)
  }

  public var _content: _SlotContent {
    get { .toMany(targets) }
    set { if case .toMany(let new) = newValue { targets.replace(with: new) } }
  }

  public mutating func _updateTargets(_ body: (inout _Targets) -> Void) { targets.update(body) }
}

// MARK: - Optional

/// The storage of an optional to-many relationship.
///
/// The store has no nil for it: once the object belongs to a context, nil reads as an empty array.
public struct _OptionalToManySlot<Element: PersistentModel>: _Slot {
  @usableFromInline var targets: _Targets
  /// Whether nil was assigned. It counts only while the object belongs to no context.
  @usableFromInline var isNil = false

  @inlinable public init(_ value: [Element]?) {
    targets = _Targets(loaded: ToMany.erased(value ?? []))
    isNil = value == nil
  }

  @inlinable init() { targets = _Targets() }

  public init<Owner: PersistentModel>(
    _ value: [Element]?, _ state: inout _ModelState, _ index: Int, _ owner: Owner.Type
  ) {
    self.init(value)
    FirstLink.note(targets.loaded ?? [], &state, index, owner)
  }

  @inlinable public func read<Owner: PersistentModel>(
    _ owner: Owner, _ index: Int
  ) -> [Element]? {
    // An object in a context shows what a fetch in another context would: the store has no nil.
    if isNil, owner._$statePointer.pointee.home == nil { return nil }
    let loaded = targets.loaded ?? ToMany.load(owner, index)
    // Only objects whose reads are traced may have destinations of another class.
    if owner._$statePointer.pointee.has(_ModelFlags.traced) { return ToMany.checked(loaded) }
    return ToMany.typed(loaded)
  }

  public func didReplace<Owner: PersistentModel>(
    with value: [Element]?, _ owner: Owner, _ index: Int
  ) {
    ToMany.didReplace(targets, with: ToMany.erased(value ?? []), owner, index)
  }

  /// Drops the loaded array, which is read again with the next access.
  @inlinable public mutating func _load(_ row: _RowReader, _ index: Int) { targets.loaded = nil }

  /// Binds nothing: no column of the owner's row holds the relationship.
  public func _bind(_ row: _RowWriter, _ index: Int) {}

  public func _lend<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> [Element]? {
    if owner._$statePointer.pointee.has(_ModelFlags.traced) { return read(owner, index) }
    if !isNil, let loaded = targets.lend() { return ToMany.typed(loaded) }
    return read(owner, index)
  }

  public static func _takeBack<Owner: PersistentModel>(
    _ value: [Element]?, into place: UnsafeMutablePointer<Self>, _ owner: Owner, _ index: Int
  ) {
    // As in `_ToManySlot`. nil before or after is no difference between two arrays, and takes the
    // way of the setter.
    let targets = withUnsafeMutablePointer(to: &place.pointee.targets) { $0 }
    if let value, !place.pointee.isNil,
      ToMany.didModify(targets, ToMany.erased(value), owner, index)
    {
      return
    }
    let old = place.pointee
    place.pointee = Self(value)
    old.didReplace(with: value, owner, index)
  }

  public var _content: _SlotContent {
    get { .toMany(targets) }
    set {
      guard case .toMany(let new) = newValue else { return }
      targets.replace(with: new)
      isNil = false
    }
  }

  public mutating func _updateTargets(_ body: (inout _Targets) -> Void) {
    targets.update(body)
    isNil = false
  }
}

// MARK: - Erased arrays

/// What the two to-many slots share: arrays without their static type.
@usableFromInline enum ToMany {
  /// The destinations from the store; none for an object without a context.
  ///
  /// Reads the store, and stores the array in the slot: the next read finds it there. A failure is
  /// reported, and reads as an empty array.
  @usableFromInline static func load<Owner: PersistentModel>(
    _ owner: Owner, _ index: Int
  ) -> [AnyObject] {
    owner._$statePointer.pointee.home?.destinations(of: owner, index) ?? []
  }

  /// Reinterprets an array in constant time.
  ///
  /// Sound because all arrays of class references have one layout, and the engine puts only objects of the destination's
  /// class into a relationship.
  @inlinable static func typed<Element: PersistentModel>(_ objects: [AnyObject]) -> [Element] {
    unsafeBitCast(objects, to: [Element].self)
  }

  /// Converts by casts, for relationships in which the schema may have another class of the destination's name: its objects
  /// are left out.
  @usableFromInline static func checked<Element: PersistentModel>(
    _ objects: [AnyObject]
  ) -> [Element] {
    objects.compactMap { $0 as? Element }
  }

  /// The inverse of ``typed(_:)``, in constant time.
  @inlinable static func erased<Element: PersistentModel>(_ models: [Element]) -> [AnyObject] {
    unsafeBitCast(models, to: [AnyObject].self)
  }
}
