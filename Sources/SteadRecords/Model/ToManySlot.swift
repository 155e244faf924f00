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

  @inlinable public mutating func _load(_ row: _RowReader, _ index: Int) { targets.loaded = nil }

  public func _bind(_ row: _RowWriter, _ index: Int) {}

  public func _lend<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> [Element] {
    if owner._$statePointer.pointee.has(_ModelFlags.traced) { return read(owner, index) }
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
