public import Observation

// The functions that the accessors of `@Model` call. Inlinable, so that in optimised code an unwatched object costs one
// load and one branch.

/// Called before a watched property is read.
///
/// The generated getter calls it only if ``_ModelState/isWatched`` is true.
///
/// - Parameters:
///   - index: The property's index in the class, inherited properties included.
///   - keyPath: Evaluated only if a read is tracked: making a key path takes longer than reading
///     the property.
@inlinable public func _willRead<M: PersistentModel, V>(
  _ model: M, _ index: Int, _ keyPath: @autoclosure () -> KeyPath<M, V>
) {
  let state = model._$statePointer
  if state.pointee.has(_ModelFlags.slowRead) { _makeReadable(model, index) }
  if state.pointee.has(_ModelFlags.observed) { _observe(model, keyPath()) }
}

/// Called before a property is written.
///
/// Undo sees the old value here, and Observation gets its `willSet`.
@inlinable public func _willWrite<M: PersistentModel, V>(
  _ model: M, _ index: Int, _ keyPath: @autoclosure () -> KeyPath<M, V>
) {
  let state = model._$statePointer
  // A write loads the row, too: undo records the stored value, and a relationship's setter needs
  // the old destination, to update its inverse.
  if state.pointee.has(_ModelFlags.slowRead) { _makeReadable(model, index, isRead: false) }
  if state.pointee.extra?.isObserved == true, let registrar = state.pointee.extra?.registrar {
    registrar.willSet(model, keyPath: keyPath())
  }
  if let home = state.pointee.home, home.recordsUndo { home.valueWillChange(of: model, at: index) }
}

/// Called after a property was written.
///
/// Marks the property for the next save, and gives Observation its `didSet`.
@inlinable public func _didWrite<M: PersistentModel, V>(
  _ model: M, _ index: Int, _ keyPath: @autoclosure () -> KeyPath<M, V>
) {
  let state = model._$statePointer
  // A property that is already marked as changed needs nothing more until the next save.
  if state.pointee.home != nil,
    !state.pointee.has(_ModelFlags.changed) || index >= PropertySet.wordLimit
      || state.pointee.changedBits & PropertySet.bit(index) == 0
  {
    // Before `didSet`: code that it runs finds the object changed.
    _recordChange(model, index)
  }
  if state.pointee.extra?.isObserved == true, let registrar = state.pointee.extra?.registrar {
    registrar.didSet(model, keyPath: keyPath())
  }
}

/// Notifies Observation of a read. The first tracked read makes the object's registrar.
@inlinable public func _observe<M: PersistentModel, V>(
  _ model: M, _ keyPath: @autoclosure () -> KeyPath<M, V>
) {
  let state = model._$statePointer
  // Observation's own type is opaque to the compiler, and expensive to pass on if nothing is tracked.
  if state.pointee.extra?.isObserved == true || _isTracked(state) {
    state.pointee.extra?.registrar?.access(model, keyPath: keyPath())
  }
}

/// Whether the read of an object without a registrar is tracked. If it is, the object has a registrar afterwards.
///
/// Costs an access to the context's probe; for an object without a context also a lock.
@usableFromInline func _isTracked(_ state: UnsafeMutablePointer<_ModelState>) -> Bool {
  // Called for each read of an object that nobody observes, so it must not retain the engine.
  if let home = state.pointee.uncountedHome {
    guard home._withUnsafeGuaranteedRef({ $0.isTracking }) else { return false }
    state.pointee.makeExtra().probe = home.takeUnretainedValue().takeProbe()
    return true
  }
  guard let probe = LooseTrackingProbe.takeIfTracking() else { return false }
  state.pointee.makeExtra().probe = probe
  return true
}

/// Makes an object ready for a read or write of a property: the slow path of each accessor.
///
/// The order of the flags matters. Links of an initializer come before anything that reads a relationship; a probe never
/// loads; an object that was merged into another takes the value from that one, and is never loaded itself; and only
/// what is left, a fault, a stale or a partial object, is read from the store. Postcondition: the property's slot holds a
/// value, or the object belongs to no context.
///
/// - Parameter isRead: Whether the property is read, and not about to be written.
@usableFromInline func _makeReadable(
  _ model: any PersistentModel, _ index: Int, isRead: Bool = true
) {
  let state = model._$statePointer
  if state.pointee.has(_ModelFlags.traced) {
    state.pointee.home?.didUse(model, at: index, isRead: isRead)
    if !state.pointee.has(_ModelFlags.unready) { return }
  }
  if state.pointee.has(_ModelFlags.linked) {
    model.makeFirstLinks()
    if !state.pointee.has(_ModelFlags.unready) { return }
  }
  if state.pointee.has(_ModelFlags.probe) {
    let extra = state.pointee.makeExtra()
    // Only the first: a computed property may read several, and the first is what the key path
    // stands for.
    if extra.probed == nil { extra.probed = index }
    return
  }
  if state.pointee.has(_ModelFlags.redirected) {
    guard let successor = state.pointee.extra?.successor else { return }
    // The successor may itself be stale, or have a successor of its own after a second upsert.
    if successor.has(_ModelFlags.slowRead) { _makeReadable(successor, index, isRead: isRead) }
    // An unloaded list would be copied as unloaded, and this object cannot load it: the row is the
    // successor's.
    if case .toMany(let targets) = successor.content(at: index), targets.loaded == nil {
      _ = successor._$statePointer.pointee.home?.destinations(of: successor, index)
    }
    if let copy = successor.copySlot(at: index) { model.restoreSlot(copy, at: index) }
    return
  }
  // A partial object stays partial, and its loaded properties need no store. One that is stale has
  // to be read as a whole.
  if state.pointee.has(_ModelFlags.partial), !state.pointee.has(_ModelFlags.stale),
    let extra = state.pointee.extra, extra.loaded.contains(index)
  {
    return
  }
  guard let home = state.pointee.home else {
    // Deleted, or removed from its context: there is no row to read. Without the flags, the next
    // read takes the fast path.
    state.pointee.clear(_ModelFlags.fault | _ModelFlags.stale | _ModelFlags.partial)
    return
  }
  home.renew(model)
}

/// Marks a property as changed: the slow path of `_didWrite`, taken once for each property between two saves.
///
/// Invariant: a change of an object that lost its row to a successor is marked on the successor,
/// since only that one has a row for the save to write.
@usableFromInline func _recordChange(_ model: any PersistentModel, _ index: Int) {
  guard let home = model._$statePointer.pointee.home else { return }
  if model.has(_ModelFlags.redirected) {
    // Only attributes are copied: setting a relationship of this object has changed the inverse, and with it the
    // successor's own side.
    if case .attribute = model.content(at: index), let copy = model.copySlot(at: index) {
      let successor = model.standIn
      // Nil once that object was deleted, which then has no row to write.
      let home = successor._$statePointer.pointee.home
      if let home, home.recordsUndo { home.valueWillChange(of: successor, at: index) }
      successor.restoreSlot(copy, at: index)
      home?.didChange(successor, at: index)
    }
    return
  }
  home.didChange(model, at: index)
}

/// The value of a property that has none: a placeholder of its type. Ends the program only if no placeholder exists.
public func _missingValue<Value, Owner: PersistentModel>(
  _ owner: Owner, _ index: Int
) -> Value {
  // A placeholder rather than a trap: SwiftData ends the program when any property of such an
  // object is read.
  if let value = PlaceholderDecoder.value(of: Value.self) { return value }
  // A programmer error, named in the documentation: a property was read of an object whose row does not exist, or
  // before `didMigrate` has set it, and its type has no placeholder.
  fatalError(  // allowed: documented
    "Property \(index) of \(Owner.self) has no value: the object has no row, or a migration has not set the "
      + "property yet. Check modelContext before reading it; set it first in didMigrate.")
}
