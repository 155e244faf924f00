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

/// A destination: a row's number until it is first read, then the object.
@usableFromInline enum ToOneTarget<Model: PersistentModel> {
  case none
  case row(Int64)
  case model(Model)

  @usableFromInline
  func read<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> Model? {
    switch self {
    case .none: return nil
    case .model(let model):
      // The row of the destination is gone, and no rule cleared what led to it.
      return model._$statePointer.pointee.has(_ModelFlags.missing) ? nil : model
    case .row(let row):
      guard let home = owner._$statePointer.pointee.home,
        let object = home.destination(row, of: owner, index) as? Model
      else { return nil }
      owner.setContent(.toOne(.model(object)), at: index)
      return object
    }
  }

  @inlinable mutating func load(_ row: _RowReader, _ index: Int) {
    let column = row._column(index)
    guard column >= 0 else { return }
    let id = row.integer(column)
    if id == 0 {
      self = .none
    } else if case .model(let model) = self, model._$statePointer.pointee.rowID == id,
      !model._$statePointer.pointee.has(_ModelFlags.stale)
    {
      return
    } else {
      self = .row(id)
    }
  }

  func bind(_ row: _RowWriter, _ index: Int) {
    let parameter = row._parameter(index)
    guard parameter > 0 else { return }
    switch self {
    case .none: break
    case .row(let id): row.bind(id, parameter)
    case .model(let model):
      let id = model._$statePointer.pointee.rowID
      if id > 0 { row.bind(id, parameter) }
    }
  }

  var erased: _Target {
    switch self {
    case .none: .none
    case .row(let id): .row(id)
    case .model(let model): .model(model)
    }
  }

  mutating func set(_ content: _SlotContent) {
    guard case .toOne(let target) = content else { return }
    switch target {
    case .none: self = .none
    case .row(let id): self = .row(id)
    case .model(let model): if let model = model as? Model { self = .model(model) }
    }
  }
}

/// The storage of a to-many relationship.
public struct _ToManySlot<Element: PersistentModel>: _Slot {
  @usableFromInline var targets: _Targets

  @inlinable public init(_ value: [Element]) { targets = _Targets(loaded: ToMany.erased(value)) }

  @inlinable init() { targets = _Targets() }

  public init<Owner: PersistentModel>(
    _ value: [Element], _ state: inout _ModelState, _ index: Int, _ owner: Owner.Type
  ) {
    self.init(value)
    FirstLink.note(targets.loaded ?? [], &state, index, owner)
  }

  @inlinable public func read<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> [Element] {
    if let loaded = targets.loaded { return ToMany.typed(loaded) }
    return ToMany.typed(ToMany.load(owner, index))
  }

  public func didReplace<Owner: PersistentModel>(
    with value: [Element], _ owner: Owner, _ index: Int
  ) {
    ToMany.didReplace(targets, with: ToMany.erased(value), owner, index)
  }

  @inlinable public mutating func _load(_ row: _RowReader, _ index: Int) { targets.loaded = nil }

  public func _bind(_ row: _RowWriter, _ index: Int) {}

  public func _lend<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> [Element] {
    if let loaded = targets.lend() { return ToMany.typed(loaded) }
    return read(owner, index)
  }

  public static func _takeBack<Owner: PersistentModel>(
    _ value: [Element], into place: UnsafeMutablePointer<Self>, _ owner: Owner, _ index: Int
  ) {
    let targets = withUnsafeMutablePointer(to: &place.pointee.targets) { $0 }
    if ToMany.didModify(targets, ToMany.erased(value), owner, index) { return }
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

/// The storage of an optional to-many relationship, which reads as an empty array once saved.
public struct _OptionalToManySlot<Element: PersistentModel>: _Slot {
  @usableFromInline var targets: _Targets
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
    if isNil, owner._$statePointer.pointee.home == nil { return nil }
    if let loaded = targets.loaded { return ToMany.typed(loaded) }
    return ToMany.typed(ToMany.load(owner, index))
  }

  public func didReplace<Owner: PersistentModel>(
    with value: [Element]?, _ owner: Owner, _ index: Int
  ) {
    ToMany.didReplace(targets, with: ToMany.erased(value ?? []), owner, index)
  }

  @inlinable public mutating func _load(_ row: _RowReader, _ index: Int) { targets.loaded = nil }

  public func _bind(_ row: _RowWriter, _ index: Int) {}

  public func _lend<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> [Element]? {
    if !isNil, let loaded = targets.lend() { return ToMany.typed(loaded) }
    return read(owner, index)
  }

  public static func _takeBack<Owner: PersistentModel>(
    _ value: [Element]?, into place: UnsafeMutablePointer<Self>, _ owner: Owner, _ index: Int
  ) {
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

/// What to-many storages share.
@usableFromInline enum ToMany {
  @usableFromInline static func load<Owner: PersistentModel>(
    _ owner: Owner, _ index: Int
  ) -> [AnyObject] {
    owner._$statePointer.pointee.home?.destinations(of: owner, index) ?? []
  }

  /// Arrays of class references have one layout, so neither way needs a look at the elements; and the
  /// engine puts only objects of the destination's class into a relationship.
  @inlinable static func typed<Element: PersistentModel>(_ objects: [AnyObject]) -> [Element] {
    unsafeBitCast(objects, to: [Element].self)
  }

  @inlinable static func erased<Element: PersistentModel>(_ models: [Element]) -> [AnyObject] {
    unsafeBitCast(models, to: [AnyObject].self)
  }
}
