// Changes of single sides, none of which has a consequence for another side.

extension RelationshipEditor {
  /// Makes changes of single sides, none of which has a consequence for another side. `Inverses` has found them all.
  func apply(_ changes: [Inverses.Change]) {
    for change in changes {
      switch change {
      case .refer(let model, let index, let target, let list):
        refer(model, index, to: target, list)
      case .add(let model, let owner, let index): add(model, to: owner, index)
      case .remove(let model, let owner, let index):
        if owner._$statePointer.pointee.home == nil {
          owner.updateTargets(at: index) { $0.remove(model) }
        } else {
          remove(model, from: owner, index)
        }
      }
    }
  }

  /// Sets a to-one property as a consequence of another side's change.
  ///
  /// An object of another context is left alone: a save reports it. A reference to a new object by a property of
  /// another version's class cannot be saved, and is reported, too.
  private func refer(
    _ model: any PersistentModel, _ index: Int, to target: (any PersistentModel)?, _ list: Int?
  ) {
    guard graph.isHere(model) else { return }
    graph.reader.makeCurrent(model)
    let property = graph.entity(of: model).properties[index]
    if property.isForeign, let target, target._$statePointer.pointee.rowID <= 0 {
      graph.pending.misuses.append(
        .init(error: Misuses.link(property, of: graph.entity(of: model), toNew: target)))
    }
    graph.undo.recordSide(of: model, at: index)
    graph.notifying(model, index) {
      model.setContent(.toOne(target.map { .model($0) } ?? .none), at: index)
      let first = property.firstList
      // The first list needs no number, so that an object of a relationship that shares its inverse with no other
      // needs no memory for it.
      model.setList(list == first ? nil : list, at: index)
    }
    graph.markChanged(model, at: index)
  }

  /// Adds an object to the end of a list as a consequence of another side's change, unless it is in the list. If the
  /// list is not loaded, its delta alone gets the object.
  private func add(_ member: any PersistentModel, to owner: any PersistentModel, _ index: Int) {
    // An object of another context is left alone: a save reports it.
    guard graph.isHere(owner) else { return }
    graph.reader.makeCurrent(owner)
    let property = graph.entity(of: owner).properties[index]
    if hasAlready(member, owner, property) { return }
    graph.undo.recordSide(of: owner, at: index)
    graph.notifying(owner, index) {
      changeSide(of: owner, at: index) { targets, delta in
        delta.add(member)
        targets.loaded?.append(member)
      }
    }
    membership?.insert([member], into: owner, index)
    graph.markChanged(owner, at: index)
  }

  /// Whether an object that is about to be added to a list is already in it.
  ///
  /// A separate function, so that its reference to the list ends before the list is changed in place.
  @inline(never)
  private func hasAlready(
    _ member: any PersistentModel, _ owner: any PersistentModel, _ property: PropertyLayout
  ) -> Bool {
    guard case .toMany(let held) = owner.content(at: property.index) else { return true }
    guard let loaded = held.loaded else { return held.delta?.hasAdded(member) == true }
    guard contains(member, loaded, owner, property) else { return false }
    // The set holds addresses. A pending owner keeps its members alive, so that none is used again. Without the
    // set, inserting an owner with n new members would take time in n².
    if !owner.has(_ModelFlags.pending) { membership = nil }
    return true
  }

  /// Whether a list has an object that is about to be added to it.
  private func contains(
    _ member: any PersistentModel, _ loaded: [AnyObject], _ owner: any PersistentModel,
    _ property: PropertyLayout
  ) -> Bool {
    // The last ones are the likeliest, and a list that was just read is short.
    if loaded.count <= 8 { return loaded.contains { $0 === member } }
    return memberSet(loaded, of: owner, property.index).contains(ObjectIdentifier(member))
  }

  /// Removes an object from a list as a consequence of another side's change.
  private func remove(
    _ member: any PersistentModel, from owner: any PersistentModel, _ index: Int
  ) {
    guard graph.isHere(owner) else { return }
    graph.reader.makeCurrent(owner)
    if graph.undo.isRecording {
      let held = graph.reader.members(of: owner, at: index)
      // Read later than the member, the list may have another context's commit that has taken it away. Undo leads both
      // sides back.
      graph.undo.recordMembers(
        of: owner, at: index, held.contains { $0 === member } ? held : held + [member])
    }
    membership = nil
    graph.notifying(owner, index) {
      changeSide(of: owner, at: index) { targets, delta in
        delta.remove(member)
        targets.remove(member)
      }
    }
    graph.markChanged(owner, at: index)
  }

  /// Changes a to-many relationship, and records its changes for the next save.
  ///
  /// Invariant: between two saves, each changed side is in `pending.sides` once, because the save plans positions for
  /// each entry. The delta itself says whether it is there.
  func changeSide(
    of owner: any PersistentModel, at index: Int,
    _ change: (inout _Targets, ToManyDelta) -> Void
  ) {
    var isNew = false
    owner.updateTargets(at: index) { targets in
      let delta = targets.delta ?? ToManyDelta()
      targets.delta = delta
      isNew = !delta.isEnqueued
      delta.isEnqueued = true
      change(&targets, delta)
    }
    if isNew { graph.pending.addSide(.init(owner: owner, index: index)) }
  }

  // MARK: Rows of join tables

  /// Records that a row of a join table is to be inserted or deleted. Each call is kept, in order, since a pair may
  /// come and go.
  func logPair(
    _ property: PropertyLayout, _ entity: EntityLayout, _ owner: any PersistentModel,
    _ target: any PersistentModel, isAdded: Bool
  ) {
    // Without a join table, the member's own column has the pair.
    guard let table = property.joinTable else { return }
    graph.pending.addPair(
      .init(table: table, entity: entity.index, owner: owner, target: target, isAdded: isAdded))
    if property.relationship?.inverse == property.index, property.destination == entity.index {
      // A relationship that is its own inverse has a row for each direction.
      graph.pending.addPair(
        .init(table: table, entity: entity.index, owner: target, target: owner, isAdded: isAdded))
    }
  }

  /// Forgets what was recorded of the pairs of an owner with some objects.
  func forgetPairs(
    _ property: PropertyLayout, _ owner: any PersistentModel, _ targets: [any PersistentModel]
  ) {
    guard let table = property.joinTable else { return }
    graph.pending.removePairs(of: table, owner, targets)
    if property.relationship?.inverse == property.index,
      property.destination == graph.entity(of: owner).index
    {
      // A relationship that is its own inverse has a row for each direction.
      for target in targets { graph.pending.removePairs(of: table, target, [owner]) }
    }
  }

  // MARK: Objects that go

  /// Takes deleted objects out of the loaded relationships that no rule has cleared: those without an inverse, and
  /// those whose rule leaves a reference behind.
  ///
  /// Otherwise an owner would return an object that has left the context. Costs a look at each registered object if
  /// the class has such relationships, else nothing.
  ///
  /// Invariant: afterwards no registered object leads to one of these by such a relationship, loaded or by its row's
  /// number.
  ///
  /// - Parameter isOwnCommit: Whether this context deleted them. Another context's commit names the owners of one-way
  ///   relationships, whose rows it changed.
  func dropReferences(to deleted: [any PersistentModel], isOwnCommit: Bool = true) {
    guard !deleted.isEmpty else { return }
    // By root, since each hierarchy numbers its own rows.
    var rows: [Int: Set<Int64>] = [:]
    for model in deleted {
      let state = model._$statePointer
      rows[graph.entities[Int(state.pointee.entity)].layout.rootIndex, default: []].insert(
        state.pointee.rowID)
    }
    let places = rows.keys.flatMap {
      (isOwnCommit ? graph.layout.oneWay[$0] : []) + graph.layout.danglingReferences[$0]
    }
    guard !places.isEmpty else { return }
    let gone = Set(deleted.map { ObjectIdentifier($0) })
    for case let owner as any PersistentModel in graph.loader.registry.all() {
      let entity = graph.entity(of: owner)
      for place in places where place.entity == entity.index {
        let index = place.property
        switch owner.content(at: index) {
        case .toOne(.model(let target)) where gone.contains(ObjectIdentifier(target)):
          graph.notifying(owner, index) { owner.setContent(.toOne(.none), at: index) }
        case .toOne(.row(let row)):
          let root = entity.properties[index].destination.map {
            graph.entities[$0].layout.rootIndex
          }
          if let root, rows[root]?.contains(row) == true {
            // Observed before, perhaps: a large context drops the objects that relationships hold.
            graph.notifying(owner, index) { owner.setContent(.toOne(.none), at: index) }
          }
        case .toMany(var targets):
          let left = targets.loaded?.filter { !gone.contains(ObjectIdentifier($0)) }
          guard left?.count != targets.loaded?.count else { continue }
          targets.loaded = left
          graph.notifying(owner, index) { owner.setContent(.toMany(targets), at: index) }
        default: break
        }
      }
    }
  }
}

// MARK: - Sides that a save clears

/// One side of a relationship without an inverse, before a save clears what leads to deleted objects.
///
/// Until a save succeeds, such a relationship leads there, since the deletion may still be taken back. So a save that fails
/// puts back what it has cleared: the content itself, and what the side has changed since the last save.
struct CutSide {
  let model: any PersistentModel
  let index: Int
  private let content: _SlotContent
  private let list: Int?
  /// Whether the program had changed the property. Otherwise the next save need not write it, over what another context
  /// has committed meanwhile.
  private let wasChanged: Bool

  init(_ model: any PersistentModel, _ index: Int) {
    (self.model, self.index, list) = (model, index, model.list(at: index))
    wasChanged = model._$statePointer.pointee.changes.contains(index)
    content =
      switch model.content(at: index) {
      // The delta is changed in place.
      case .toMany(let targets):
        .toMany(_Targets(loaded: targets.loaded, delta: targets.delta?.copy()))
      case let content: content
      }
  }

  /// Puts the side back, unless the program has changed it since: an observer, or the store of an app.
  fileprivate func restore(_ graph: ObjectGraph) {
    switch (content, model.content(at: index)) {
    case (.toOne, .toOne(.none)):
      graph.notifying(model, index) {
        model.setContent(content, at: index)
        model.setList(list, at: index)
      }
    case (.toMany(let held), .toMany(let targets)):
      let gone = (held.loaded ?? []).filter { isDeleted($0, graph) }
      let ids = Set(gone.map(ObjectIdentifier.init))
      let rest = (held.loaded ?? []).filter { !ids.contains(ObjectIdentifier($0)) }
      guard let loaded = targets.loaded, loaded.elementsEqual(rest, by: ===) else { return }
      graph.notifying(model, index) {
        model.updateTargets(at: index) { targets in
          // The save's list of sides has this one, whatever it changes.
          let delta = held.delta ?? ToManyDelta()
          delta.isEnqueued = true
          (targets.loaded, targets.delta) = (held.loaded, delta)
        }
      }
      if let table = graph.entity(of: model).properties[index].joinTable {
        for object in gone { graph.pending.removeLastRemoval(from: table.name, model, object) }
      }
      graph.editor.membership = nil
    default: return
    }
    if wasChanged { return }
    let state = model._$statePointer
    state.pointee.changes = state.pointee.changes.subtracting(PropertySet([index]))
  }

  private func isDeleted(_ object: AnyObject, _ graph: ObjectGraph) -> Bool {
    guard let model = object as? any PersistentModel else { return false }
    return model.has(_ModelFlags.deleted) || !graph.isHere(model)
  }
}

extension RelationshipEditor {
  /// Restores what a save that has failed cleared of relationships without an inverse. No step of undo.
  func restoreCutSides() {
    let sides = cutSides
    guard !sides.isEmpty else { return }
    cutSides = []
    isCutting = true
    defer { isCutting = false }
    for side in sides where graph.isHere(side.model) { side.restore(graph) }
  }
}
