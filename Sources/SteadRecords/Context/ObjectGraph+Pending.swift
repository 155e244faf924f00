import Foundation

extension ObjectGraph {
  // MARK: Insertion

  /// Takes in an object and all that its relationships reach.
  func insert(_ model: any PersistentModel) {
    // One after the other and never one inside the other: a chain of objects may be longer than the
    // stack is deep. The first goes in directly: an empty array needs no memory.
    var queue: [any PersistentModel] = []
    if let entity = adopt(model) { connect(model, entity, &queue) }
    var next = 0
    while next < queue.count {
      connect(queue[next], self.entity(of: queue[next]), &queue)
      next += 1
    }
    didChangePending()
  }

  private func connect(
    _ model: any PersistentModel, _ entity: EntityLayout, _ queue: inout [any PersistentModel]
  ) {
    for index in entity.relationships { connect(model, entity, index, &queue) }
  }

  /// Takes in one object; nil when it is in a context, or cannot be in this one.
  private func adopt(_ model: any PersistentModel) -> EntityLayout? {
    let state = model._$statePointer
    if let graph = state.pointee.graph {
      if graph !== self {
        Report.problem(
          "\(model.persistentModelID) belongs to another context and was not inserted. Fetch it in "
            + "this context by its persistentModelID.")
      } else if state.pointee.has(_ModelFlags.deleted) {
        undelete(model)
      }
      return nil
    }
    guard let entity = entity(for: type(of: model)) else {
      Report.problem(
        "\(type(of: model)) is not in the container's schema; the object was not inserted. Name "
          + "the type when the container is made.")
      return nil
    }
    state.pointee.entity = Int32(entity.index)
    state.pointee.graph = self
    if state.pointee.rowID >= 0 { state.pointee.rowID = TemporaryRowID.next() }
    state.pointee.clear(_ModelFlags.missing)
    state.pointee.set(_ModelFlags.inserted)
    if !observesModels { state.pointee.clear(_ModelFlags.observed) }
    inserted.append(model)
    notePending(model)
    if undoManager != nil { registerUndo(ofInserting: model) }
    return entity
  }

  /// Connects what a new object refers to: takes it in, and sets the inverse.
  private func connect(
    _ model: any PersistentModel, _ entity: EntityLayout, _ index: Int,
    _ queue: inout [any PersistentModel]
  ) {
    let property = entity.properties[index]
    switch model.content(at: index) {
    case .attribute: break
    case .toOne(let target):
      guard case .model(let other) = target else { return }
      if other._$statePointer.pointee.graph == nil, adopt(other) != nil { queue.append(other) }
      guard other._$statePointer.pointee.graph === self else { return }
      setInverse(of: property, from: model, to: other)
    case .toMany(let targets):
      let unique = Self.withoutDuplicates(targets.loaded ?? [])
      if unique.count != targets.loaded?.count {
        model.setContent(.toMany(_Targets(loaded: unique)), at: index)
      }
      for case let other as any PersistentModel in unique {
        if other._$statePointer.pointee.graph == nil, adopt(other) != nil { queue.append(other) }
        guard other._$statePointer.pointee.graph === self else { continue }
        recordPair(property, entity, model, other, isAdded: true)
        setInverse(of: property, from: model, to: other)
      }
      noteOrder(model, property, appended: unique, isReordered: false)
    }
  }

  static func withoutDuplicates(_ objects: [AnyObject]) -> [AnyObject] {
    guard objects.count > 1 else { return objects }
    var seen = Set<ObjectIdentifier>(minimumCapacity: objects.count)
    return objects.filter { seen.insert(ObjectIdentifier($0)).inserted }
  }

  // MARK: Changes

  func markChanged(_ model: any PersistentModel, bit: UInt64, index: Int) {
    let state = model._$statePointer
    state.pointee.changes |= bit
    if state.pointee.has(_ModelFlags.inserted) { return didChangePending() }
    if traits[Int(state.pointee.entity)].ephemeral & bit != 0 { return }
    if !state.pointee.has(_ModelFlags.changed) {
      state.pointee.set(_ModelFlags.changed)
      changed.append(model)
      notePending(model)
    }
    didChangePending()
  }

  /// Marks an object as changed without a property of its own: one of its relationships changed.
  func touch(_ model: any PersistentModel, index: Int) {
    markChanged(model, bit: ModelExtra.bit(index), index: index)
  }

  // MARK: Deletion

  func delete(_ model: any PersistentModel) {
    let state = model._$statePointer
    guard state.pointee.graph === self, !state.pointee.has(_ModelFlags.deleted) else { return }
    if state.pointee.has(_ModelFlags.fault | _ModelFlags.stale) { reload(model) }
    guard state.pointee.graph === self else { return }
    if undoManager != nil { registerUndo(ofDeleting: model) }
    state.pointee.set(_ModelFlags.deleted)
    deleted.append(model)
    notePending(model)
    undigested.append(model)
    didChangePending()
  }

  func undelete(_ model: any PersistentModel) {
    model._$statePointer.pointee.clear(_ModelFlags.deleted)
    deleted.removeAll { $0 === model }
    undigested.removeAll { $0 === model }
    didChangePending()
  }

  /// Applies the delete rules of all deletions since the last call.
  func digestDeletions() {
    guard !undigested.isEmpty else { return }
    rememberDeletedOwners()
    while let model = undigested.popLast() {
      let state = model._$statePointer
      guard traits[Int(state.pointee.entity)].hasRelationships,
        state.pointee.has(_ModelFlags.deleted)
      else { continue }
      let entity = entity(of: model)
      for index in entity.relationships { digest(model, entity.properties[index]) }
    }
    if inserted.contains(where: { $0.has(_ModelFlags.deleted) }) { dropUnsavedDeletions() }
  }

  /// Lets the relationships of all deleted objects load in one query each.
  private func rememberDeletedOwners() {
    let owners = undigested.filter {
      traits[Int($0._$statePointer.pointee.entity)].hasRelationships
    }
    guard owners.count > 1 else { return }
    let byRoot = Dictionary(grouping: owners) { entity(of: $0).rootIndex }
    for (root, models) in byRoot where models.count > 1 {
      remember(OwnerBatch(root: root, rows: models.map { $0._$statePointer.pointee.rowID }))
    }
  }

  private func digest(_ model: any PersistentModel, _ property: PropertyLayout) {
    guard let relationship = property.relationship else { return }
    switch relationship.deleteRule {
    case .noAction, .deny: break
    case .cascade:
      for target in targets(of: model, property) { delete(target) }
    case .nullify:
      guard let inverse = relationship.inverse else { return }
      for target in targets(of: model, property) where !target.has(_ModelFlags.deleted) {
        removeFromInverse(target, inverse, model)
      }
    }
    if relationship.deleteRule == .cascade, let inverse = relationship.inverse,
      !property.isToMany
    {
      // The destination may hold others beside the one that is going.
      for target in targets(of: model, property) where !target.has(_ModelFlags.deleted) {
        removeFromInverse(target, inverse, model)
      }
    }
  }

  /// An object that was never saved needs no row deleted.
  private func dropUnsavedDeletions() {
    for model in inserted where model.has(_ModelFlags.deleted) {
      model._$statePointer.pointee.clear(_ModelFlags.pending)
      model._$statePointer.pointee.graph = nil
    }
    inserted.removeAll { !$0.has(_ModelFlags.inserted) }
    deleted.removeAll { !$0.has(_ModelFlags.deleted) }
    pairs.removeAll {
      $0.owner._$statePointer.pointee.graph == nil || $0.target._$statePointer.pointee.graph == nil
    }
  }

  /// The destinations of a relationship, loaded when they are not.
  func targets(
    of model: any PersistentModel, _ property: PropertyLayout
  ) -> [any PersistentModel] {
    switch model.content(at: property.index) {
    case .attribute, .toOne(.none): return []
    case .toOne(.model(let target)): return [target]
    case .toOne(.row(let row)):
      guard let target = resolve(row, model, property.index) as? any PersistentModel else {
        return []
      }
      return [target]
    case .toMany(let targets):
      return (targets.loaded ?? loadToMany(model, property.index)).compactMap {
        $0 as? any PersistentModel
      }
    }
  }

  // MARK: Ends

  /// Forgets all pending changes: new objects leave, the others get the values of their rows.
  func rollback() {
    for model in inserted where model.has(_ModelFlags.inserted) {
      for index in entity(of: model).relationships {
        if case .toMany = model.content(at: index) {
          model.setContent(.toMany(_Targets(loaded: [])), at: index)
        }
      }
      model._$statePointer.pointee.clear(_ModelFlags.pending)
      model._$statePointer.pointee.graph = nil
    }
    let touched = changed.filter { $0.has(_ModelFlags.changed) }
    let restored = deleted.filter { $0.has(_ModelFlags.deleted) }
    forgetPending()
    for model in restored { model._$statePointer.pointee.clear(_ModelFlags.deleted) }
    for model in touched {
      let state = model._$statePointer
      let changes = state.pointee.changes
      state.pointee.changes = 0
      state.pointee.clear(_ModelFlags.changed)
      resetRelationships(of: model, changes: changes)
      notifying(model, changes: changes) {
        state.pointee.set(_ModelFlags.stale)
        reload(model)
      }
    }
    undoManager?.removeAllActions()
    contextDidChange()
  }

  private func resetRelationships(of model: any PersistentModel, changes: UInt64) {
    for index in entity(of: model).relationships where changes & ModelExtra.bit(index) != 0 {
      switch model.content(at: index) {
      case .toMany: model.setContent(.toMany(_Targets()), at: index)
      case .toOne: model.setContent(.toOne(.none), at: index)
      case .attribute: break
      }
    }
  }

  func forgetPending() {
    inserted.removeAll()
    changed.removeAll()
    deleted.removeAll()
    undigested.removeAll()
    pairs.removeAll()
    reordered.removeAll()
    clearedOrders.removeAll()
    membership = nil
    forgetPendingRoots()
  }

  /// Called after each change: plans an autosave, and tells those who watch the context.
  func didChangePending() {
    if autosaves, !isAutosaveScheduled { scheduleAutosave() }
  }
}
