/// The storage of a required to-one relationship.
public struct _ToOneSlot<Value: PersistentModel>: _Slot {
  @usableFromInline var target: ToOneTarget<Value>

  public init(_ value: Value) { target = .model(value) }

  @inlinable init() { target = .none }

  public func read<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> Value {
    if let value = target.read(owner, index) { return value }
    // The row is gone or the object is a probe: an object without a row stands in, never a trap.
    return Value(_row: .empty)
  }

  public func didReplace<Owner: PersistentModel>(
    with value: Value, _ owner: Owner, _ index: Int
  ) {
    owner._$statePointer.pointee.graph.didSetToOne(owner, index, target.erased, value)
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

  public init(_ value: Wrapped?) { target = value.map { .model($0) } ?? .none }

  @inlinable init() { target = .none }

  public func read<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> Wrapped? {
    target.read(owner, index)
  }

  public func didReplace<Owner: PersistentModel>(
    with value: Wrapped?, _ owner: Owner, _ index: Int
  ) {
    owner._$statePointer.pointee.graph.didSetToOne(owner, index, target.erased, value)
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
    case .model(let model): return model
    case .row(let row):
      guard let graph = owner._$statePointer.pointee.graph,
        let object = graph.resolve(row, owner, index) as? Model
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
    } else if case .model(let model) = self, model._$statePointer.pointee.rowID == id {
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
  @usableFromInline var models: [Element]?
  @usableFromInline var delta: ToManyDelta?

  public init(_ value: [Element]) { models = value }

  @inlinable init() {}

  public func read<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> [Element] {
    models ?? ToManyLoader<Element>.load(owner, index)
  }

  public func didReplace<Owner: PersistentModel>(
    with value: [Element], _ owner: Owner, _ index: Int
  ) {
    owner._$statePointer.pointee.graph.didSetToMany(
      owner, index, ToManyLoader.targets(models, delta), value)
  }

  @inlinable public mutating func _load(_ row: _RowReader, _ index: Int) { models = nil }

  public func _bind(_ row: _RowWriter, _ index: Int) {}

  public var _content: _SlotContent {
    get { .toMany(ToManyLoader.targets(models, delta)) }
    set { (models, delta) = ToManyLoader<Element>.parts(newValue) }
  }

  public mutating func _append(_ model: any PersistentModel) {
    ToManyLoader.append(model, &models, &delta)
  }

  public mutating func _remove(_ model: any PersistentModel) {
    ToManyLoader.remove(model, &models, &delta)
  }
}

/// The storage of an optional to-many relationship, which reads as an empty array once saved.
public struct _OptionalToManySlot<Element: PersistentModel>: _Slot {
  @usableFromInline var models: [Element]?
  @usableFromInline var delta: ToManyDelta?
  @usableFromInline var isNil = false

  public init(_ value: [Element]?) {
    models = value ?? []
    isNil = value == nil
  }

  @inlinable init() {}

  public func read<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> [Element]? {
    if isNil, owner._$statePointer.pointee.graph == nil { return nil }
    return models ?? ToManyLoader<Element>.load(owner, index)
  }

  public func didReplace<Owner: PersistentModel>(
    with value: [Element]?, _ owner: Owner, _ index: Int
  ) {
    owner._$statePointer.pointee.graph.didSetToMany(
      owner, index, ToManyLoader.targets(models, delta), value ?? [])
  }

  @inlinable public mutating func _load(_ row: _RowReader, _ index: Int) { models = nil }

  public func _bind(_ row: _RowWriter, _ index: Int) {}

  public var _content: _SlotContent {
    get { .toMany(ToManyLoader.targets(models, delta)) }
    set {
      (models, delta) = ToManyLoader<Element>.parts(newValue)
      isNil = false
    }
  }

  public mutating func _append(_ model: any PersistentModel) {
    ToManyLoader.append(model, &models, &delta)
    isNil = false
  }

  public mutating func _remove(_ model: any PersistentModel) {
    ToManyLoader.remove(model, &models, &delta)
  }
}

enum ToManyLoader<Element: PersistentModel> {
  static func load<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> [Element] {
    guard let graph = owner._$statePointer.pointee.graph else { return [] }
    return typed(graph.loadToMany(owner, index))
  }

  static func append(
    _ model: any PersistentModel, _ models: inout [Element]?, _ delta: inout ToManyDelta?
  ) {
    if models == nil {
      let changes = delta ?? ToManyDelta()
      changes.add(model)
      delta = changes
    } else if let element = model as? Element {
      models?.append(element)
    }
  }

  static func remove(
    _ model: any PersistentModel, _ models: inout [Element]?, _ delta: inout ToManyDelta?
  ) {
    if models == nil {
      let changes = delta ?? ToManyDelta()
      changes.remove(model)
      delta = changes
    } else if let place = models?.lastIndex(where: { $0 === model }) {
      models?.remove(at: place)
    }
  }

  static func targets(_ models: [Element]?, _ delta: ToManyDelta?) -> _Targets {
    _Targets(loaded: models.map { unsafeBitCast($0, to: [AnyObject].self) }, delta: delta)
  }

  static func parts(_ content: _SlotContent) -> ([Element]?, ToManyDelta?) {
    guard case .toMany(let targets) = content else { return (nil, nil) }
    return (targets.loaded.map(typed), targets.delta)
  }

  /// The engine puts only objects of the destination's class into a relationship, and arrays of
  /// class references have one layout, so the cast needs no look at each element.
  static func typed(_ objects: [AnyObject]) -> [Element] {
    assert(objects.allSatisfy { $0 is Element })
    return unsafeBitCast(objects, to: [Element].self)
  }
}
