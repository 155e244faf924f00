public import Observation

// What the accessors that `@Model` writes call. Inlinable, so that in optimised code an object that
// nothing watches costs one load and one branch.

/// Called before a watched property is read.
@inlinable public func _willRead<M: PersistentModel, V>(
  _ model: M, _ index: Int, _ keyPath: @autoclosure () -> KeyPath<M, V>
) {
  let state = model._$statePointer
  if state.pointee.has(_ModelFlags.slowRead) { _makeReadable(model, index) }
  if state.pointee.has(_ModelFlags.observed) { _observe(model, keyPath()) }
}

/// Called before a property is written.
@inlinable public func _willWrite<M: PersistentModel, V>(
  _ model: M, _ index: Int, _ keyPath: @autoclosure () -> KeyPath<M, V>
) {
  let state = model._$statePointer
  if state.pointee.has(_ModelFlags.slowRead) { _makeReadable(model, index) }
  if let registrar = state.pointee.extra?.registrar {
    registrar.willSet(model, keyPath: keyPath())
  }
  if let graph = state.pointee.graph, graph.recordsUndo { graph.registerUndo(of: model, at: index) }
}

/// Called after a property was written.
@inlinable public func _didWrite<M: PersistentModel, V>(
  _ model: M, _ index: Int, _ keyPath: @autoclosure () -> KeyPath<M, V>
) {
  let state = model._$statePointer
  // A property that is noted as changed needs nothing more until the next save.
  if !state.pointee.has(_ModelFlags.changed) || state.pointee.changes & ModelExtra.bit(index) == 0,
    state.pointee.graph != nil
  {
    _recordChange(model, index)
  }
  if let registrar = state.pointee.extra?.registrar {
    registrar.didSet(model, keyPath: keyPath())
  }
}

/// Tells Observation of a read, making the object's registrar when it is the first one.
@inlinable public func _observe<M: PersistentModel, V>(_ model: M, _ keyPath: KeyPath<M, V>) {
  let state = model._$statePointer
  if let registrar = state.pointee.extra?.registrar {
    registrar.access(model, keyPath: keyPath)
  } else {
    _makeRegistrar(state).access(model, keyPath: keyPath)
  }
}

@usableFromInline func _makeRegistrar(
  _ state: UnsafeMutablePointer<_ModelState>
) -> ObservationRegistrar {
  let extra = state.pointee.makeExtra()
  if let registrar = extra.registrar { return registrar }
  let registrar = ObservationRegistrar()
  extra.registrar = registrar
  return registrar
}

/// Loads what a read or write of a property needs.
@usableFromInline func _makeReadable(_ model: any PersistentModel, _ index: Int) {
  let state = model._$statePointer
  if state.pointee.has(_ModelFlags.probe) {
    let extra = state.pointee.makeExtra()
    if extra.probed == nil { extra.probed = index }
    return
  }
  if state.pointee.has(_ModelFlags.redirected) {
    if let successor = state.pointee.extra?.successor,
      let copy = successor.copySlot(at: index)
    {
      model.restoreSlot(copy, at: index)
    }
    return
  }
  if state.pointee.has(_ModelFlags.partial), !state.pointee.has(_ModelFlags.stale),
    let extra = state.pointee.extra, extra.loaded & ModelExtra.bit(index) != 0
  {
    return
  }
  guard let graph = state.pointee.graph else {
    state.pointee.clear(_ModelFlags.fault | _ModelFlags.stale | _ModelFlags.partial)
    return
  }
  graph.reload(model)
}

@usableFromInline func _recordChange(_ model: any PersistentModel, _ index: Int) {
  let state = model._$statePointer
  guard let graph = state.pointee.graph else { return }
  let bit = ModelExtra.bit(index)
  if state.pointee.has(_ModelFlags.changed), state.pointee.changes & bit != 0 { return }
  if state.pointee.has(_ModelFlags.redirected) {
    if let successor = state.pointee.extra?.successor, let copy = model.copySlot(at: index) {
      successor.restoreSlot(copy, at: index)
      _recordChange(successor, index)
    }
    return
  }
  graph.markChanged(model, bit: bit, index: index)
}

/// The stand-in for a value that is not there: a placeholder, never a trap where one can be made.
public func _missingValue<Value, Owner: PersistentModel>(
  _ owner: Owner, _ index: Int
) -> Value {
  if let value = PlaceholderDecoder.value(of: Value.self) { return value }
  // A programmer error, named in the documentation: a property was read of an object whose row does
  // not exist, and its type has no value that can be made up.
  fatalError(  // allowed: documented
    "Property \(index) of \(Owner.self) has no value: the object has no row. Check "
      + "modelContext before reading it.")
}
