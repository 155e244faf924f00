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
