/// What undo and redo have made of the sides of objects whose deletion was saved, until these are back.
struct AbsentSides {
  private var sides: [ObjectIdentifier: [Int: RecordedSide]] = [:]

  /// Keeps what a side would hold; returns what was kept of it before.
  ///
  /// - Parameter held: What the save of the deletion has left of it.
  mutating func keep(
    _ content: RecordedSide.Content, _ model: any PersistentModel, _ index: Int,
    held: RecordedSide.Content
  ) -> RecordedSide.Content? {
    let side = RecordedSide(model, index, content, after: held)
    return sides[ObjectIdentifier(model), default: [:]].updateValue(side, forKey: index)?.before
  }

  mutating func forget(_ model: any PersistentModel) {
    if !sides.isEmpty { sides[ObjectIdentifier(model)] = nil }
  }

  /// An object's sides, which are no longer kept then.
  mutating func take(_ model: any PersistentModel) -> [RecordedSide] {
    if sides.isEmpty { return [] }
    let own = sides.removeValue(forKey: ObjectIdentifier(model)) ?? [:]
    return own.values.sorted { $0.index < $1.index }
  }
}

extension UndoRecorder {
  // MARK: Recording

  /// Keeps what one side of a relationship holds, or held.
  func recordSide(of model: any PersistentModel, at index: Int, _ held: _SlotContent? = nil) {
    recordChange(of: model, index, content(of: model, at: index, held))
  }

  /// What a side holds, or held; nil for an attribute.
  ///
  /// Of an object that is not here, it is what the save of its deletion has left.
  func content(
    of model: any PersistentModel, at index: Int, _ held: _SlotContent? = nil
  ) -> RecordedSide.Content? {
    switch held ?? model.content(at: index) {
    case .attribute: return nil
    case .toOne(var target):
      // The object, since its row may be deleted and written again under another number.
      if case .row(let row) = target, graph.isHere(model) {
        if let found = graph.reader.resolve(row, model, index) as? any PersistentModel {
          target = .model(found)
        } else if graph.reader.registeredTarget(
          target, graph.entity(of: model).properties[index]) != nil
        {
          // It leads elsewhere, and the side reads as nothing until the save.
          target = .none
        }
      }
      return .reference(target, list: model.list(at: index))
    case .toMany(let targets):
      let isCurrent = held == nil && graph.isHere(model)
      return .members(
        isCurrent ? graph.reader.members(of: model, at: index) : targets.loaded ?? [])
    }
  }

  /// Records the members that a list held.
  func recordMembers(of model: any PersistentModel, at index: Int, _ members: [AnyObject]) {
    recordChange(of: model, index, .members(members))
  }

  /// Records a side that a deletion leaves as it is, and that its save clears.
  ///
  /// - Parameter target: The deleted object, which leaves the side; nil if it is the side's owner.
  func recordCut(
    of model: any PersistentModel, at index: Int, from target: (any PersistentModel)?
  ) {
    recordChange(of: model, index, content(of: model, at: index))?.addCut(target)
  }

  private func record(_ side: RecordedSide) { record { $0.undo.restore(side) } }

  // MARK: Undo

  /// Restores a side, of the object that stands for a merged one if it was merged since.
  func restore(_ side: RecordedSide) {
    let owner = side.model.standIn
    guard graph.isHere(owner) else { return restoreAbsent(side, of: owner) }
    graph.reader.makeCurrent(owner)
    let after = side.after(content(of: owner, at: side.index))
    switch (side.before, after) {
    case (.reference(let target, let list), .reference(let left, let leftList)):
      // Without an inverse it is a value as others are, and no other side contradicts it.
      let hasInverse = graph.entity(of: owner).properties[side.index].relationship?.inverse != nil
      // The other side's list has no difference either.
      if hasInverse, side.isWithoutEffect(after) {
        if owner === side.model, isUnsaved(side.base, of: owner),
          !graph.returnToOthersValue(owner, at: side.index, from: target, list)
        {
          graph.returnToRow(owner, at: side.index)
        }
        return
      }
      restoreReference(
        side, of: owner, target, list,
        isAsLeft: !hasInverse || leads(owner, side.index, left, leftList))
    case (.members(let members), .members(let left)): restoreMembers(side, of: owner, members, left)
    default: break
    }
  }

  /// Keeps what a side of an object would hold whose deletion was saved since, so that the step can be redone once the
  /// object is back.
  private func restoreAbsent(_ side: RecordedSide, of owner: any PersistentModel) {
    guard let left = content(of: owner, at: side.index) else { return }
    let held = absent.keep(side.before, owner, side.index, held: left)
    record(RecordedSide(owner, side.index, held ?? left, after: side.before))
  }

  /// Whether a to-one property leads to a destination, and to a list there.
  private func leads(
    _ model: any PersistentModel, _ index: Int, _ target: _Target, _ list: Int?
  ) -> Bool {
    let current = graph.reader.destination(of: model, at: index)
    let expected = graph.reader.resolved(target, model, index)
    guard let current, let expected else {
      // A row that cannot be read is no missing destination.
      if case .none = target { return current == nil }
      return false
    }
    let first = graph.entity(of: model).properties[index].firstList
    // Not its stand-in: two objects that a save has made one may be about to become two again.
    return current === expected
      && (model.list(at: index) ?? first) == (list ?? first)
  }

  /// Restores a to-one property, or clears it if the deletion of its destination was saved in the meantime.
  ///
  /// Changes this side alone: the actions of the same step restore the other side. Where another context has led the
  /// property elsewhere since, these do not know that destination. It loses the object if the property led somewhere
  /// before the step, and otherwise keeps it.
  ///
  /// - Parameter isAsLeft: Whether the property leads where the step led it, or anywhere if it has no inverse.
  private func restoreReference(
    _ side: RecordedSide, of model: any PersistentModel, _ target: _Target, _ list: Int?,
    isAsLeft: Bool
  ) {
    let index = side.index
    recordSide(of: model, at: index)
    forgetWaiting(model, index)
    let isUnsaved = model === side.model && isUnsaved(side.base, of: model)
    if isUnsaved, graph.returnToOthersValue(model, at: index, from: target, list) { return }
    func returnToRow() { if isUnsaved { graph.returnToRow(model, at: index) } }
    var found = target
    // Its deletion was saved in the meantime.
    if case .model(let destination) = target, !graph.isHere(destination) {
      wait(for: destination, model, index) { $0.undo.restore(side) }
      found = .none
    }
    // Marked as changed, it would hold against later commits, without the list on the other side.
    if leads(model, index, found, list) { return returnToRow() }
    if !isAsLeft, case .none = found { return }
    let property = graph.entity(of: model).properties[index]
    if let inverse = graph.inverse(of: property, list: model.list(at: index)),
      let owner = graph.reader.destination(of: model, at: index)
    {
      // The list on the other side is loaded while this side still leads there. The next action, which restores that
      // list, records it for redo first: loaded later, it would lack this object.
      if inverse.isToMany { _ = graph.reader.members(of: owner, at: inverse.index) }
      if !isAsLeft { graph.editor.take(model, from: owner, inverse) }
    }
    graph.notifying(model, index) {
      model.setContent(.toOne(found), at: index)
      model.setList(list, at: index)
    }
    graph.markChanged(model, at: index)
    returnToRow()
  }

  /// Takes back the change of a list, without the members whose deletion was saved in the meantime: those wait for
  /// their deletion to be undone.
  ///
  /// Changes this side alone. The actions of the same step restore the members' sides. Both sides record pairs of a
  /// join table, which is the same pair twice, and written once.
  ///
  /// Invariant: afterwards the list has what the change removed and is here, and not what it added; its delta and its
  /// pairs agree with it, and the list that it replaced is recorded, for redo. What others have committed stays.
  private func restoreMembers(
    _ side: RecordedSide, of model: any PersistentModel, _ all: [AnyObject], _ left: [AnyObject]
  ) {
    let index = side.index
    let held = graph.reader.members(of: model, at: index)
    recordMembers(of: model, at: index, held)
    forgetWaiting(model, index)
    let isUnsaved = model === side.model && isUnsaved(side.base, of: model)
    // Nothing of the list is pending: another action of the step has taken it back.
    if isUnsaved, !model._$statePointer.pointee.changes.contains(index) { return }
    // Without those whose deletion was saved in the meantime.
    var earlier = all.filter { ($0 as? any PersistentModel).map(graph.isHere) ?? false }
    for case let gone as any PersistentModel in all where !graph.isHere(gone) {
      let rest = RecordedSide(side.model, index, .members(all), after: .members(earlier))
      wait(for: gone, model, index) { $0.undo.restore(rest) }
    }
    var left = left
    let stored = newestMembers(of: model, index)
    if let stored { leaveToOthers(side, model, stored, earlier, left) }
    if !side.others.isEmpty {
      earlier.removeAll { side.others.contains(ObjectIdentifier($0)) }
      left.removeAll { side.others.contains(ObjectIdentifier($0)) }
    }
    var result = ListChange.undone(from: earlier, to: left, in: held)
    if isUnsaved, let stored { result = ListChange.arranged(result, as: stored) }
    let change = ListChange(from: held, to: result, isUnique: true)
    if change.isEmpty, !isUnsaved { return }
    // What this context alone has changed is no change any more, so that others' commits count from now on.
    var undone: [any PersistentModel] = []
    var isAsStored = false
    graph.notifying(model, index) {
      graph.editor.changeSide(of: model, at: index) { targets, delta in
        for object in change.removed {
          if delta.hasAddedNew(object) { forget(object) } else { delta.remove(object) }
        }
        for object in change.added {
          if delta.hasRemovedOld(object) { forget(object) } else { delta.add(object) }
        }
        func forget(_ object: AnyObject) {
          delta.forget(object)
          if let object = object as? any PersistentModel { undone.append(object) }
        }
        isAsStored = isUnsaved && delta.hasSameMembers
        // Order and members at once: a member that returns has its old place, whatever others add before the save.
        if !isAsStored, change.isReordered || !change.added.isEmpty {
          delta.setOrder(change.result)
        }
        targets.loaded = change.result
      }
    }
    let property = graph.entity(of: model).properties[index]
    graph.editor.forgetPairs(property, model, undone)
    logPairs(of: model, property, change, but: undone)
    // The list changed by more than one addition.
    graph.editor.membership = nil
    graph.markChanged(model, at: index)
    if isAsStored { graph.dropChanges(of: model, at: index) }
  }

  private func logPairs(
    of model: any PersistentModel, _ property: PropertyLayout, _ change: ListChange,
    but undone: [any PersistentModel]
  ) {
    if property.joinTable == nil { return }
    let entity = graph.entity(of: model)
    let ids = Set(undone.map { ObjectIdentifier($0) })
    for (objects, isAdded) in [(change.removed, false), (change.added, true)] {
      for case let target as any PersistentModel in objects
      where !ids.contains(ObjectIdentifier(target)) {
        graph.editor.logPair(property, entity, model, target, isAdded: isAdded)
      }
    }
  }

  /// The rows' members of a list, if others have committed since this context's last save, which has not written the step.
  ///
  /// Costs a query.
  private func newestMembers(of model: any PersistentModel, _ index: Int) -> [AnyObject]? {
    // A redo makes changes again, whatever the store has.
    guard graph.commits.hasNews, isUnsavedStep, manager?.isRedoing != true else { return nil }
    return graph.reader.storedMembers(of: model, at: index)
  }

  /// Finds what a step changed of a list and others have committed, too, as long as no save has written the step: what both
  /// have added stays, and what both have removed does not return.
  private func leaveToOthers(
    _ side: RecordedSide, _ model: any PersistentModel, _ stored: [AnyObject],
    _ before: [AnyObject], _ after: [AnyObject]
  ) {
    let index = side.index
    guard case .toMany(let targets) = model.content(at: index) else { return }
    let delta = targets.delta
    let property = graph.entity(of: model).properties[index]
    let inverse = graph.inverse(of: property).flatMap { $0.isToMany ? nil : $0 }
    let rows = Set(stored.map(ObjectIdentifier.init))
    let (old, new) = (Set(before.map(ObjectIdentifier.init)), Set(after.map(ObjectIdentifier.init)))
    /// Whether the member's own side was given back to its row before the list.
    func isReturned(_ object: AnyObject) -> Bool {
      guard let inverse, let member = object as? any PersistentModel, graph.isHere(member),
        member._$statePointer.pointee.rowID > 0
      else { return false }
      return !member._$statePointer.pointee.changes.contains(inverse.index)
    }
    let staying = after.filter {
      let id = ObjectIdentifier($0)
      return !old.contains(id) && rows.contains(id)
        && (delta?.hasAddedNew($0) == true || isReturned($0))
    }
    let leaving = before.filter {
      let id = ObjectIdentifier($0)
      return !new.contains(id) && !rows.contains(id)
        && (delta?.hasRemovedOld($0) == true || isReturned($0))
    }
    guard !staying.isEmpty || !leaving.isEmpty else { return }
    for object in staying + leaving {
      side.others.insert(ObjectIdentifier(object))
      delta?.forget(object)
    }
    graph.editor.forgetPairs(
      property, model, (staying + leaving).compactMap { $0 as? any PersistentModel })
  }
}

// MARK: - Sides that wait

/// What undoing could not restore, because the deletion of the other object was saved in the meantime. If undo goes on to
/// the deletion itself, it restores this, too.
///
/// Kept by the other object. The keys are addresses, which stay unique: each action holds its object.
struct WaitingSides {
  /// One side of a relationship that waits for an object.
  private struct Wait {
    let side: UndoRecorder.Place
    /// After how many saves the side was as the action makes it.
    let moment: Int
    let action: UndoRecorder.Action
  }

  private var waits: [ObjectIdentifier: [Wait]] = [:]
  /// What a side waits for.
  private var objects: [UndoRecorder.Place: Set<ObjectIdentifier>] = [:]

  var isEmpty: Bool { waits.isEmpty }

  /// Keeps the action that restores a side once an object is back, in place of an earlier one.
  mutating func add(
    _ action: @escaping UndoRecorder.Action, for object: AnyObject, _ side: UndoRecorder.Place,
    moment: Int, isRedoing: Bool
  ) {
    let object = ObjectIdentifier(object)
    var kept = waits[object] ?? []
    if let earlier = kept.firstIndex(where: { $0.side == side }) {
      // A redo comes to later states, with objects whose insertion undo takes back before it comes to the deletion.
      if isRedoing { return }
      kept.remove(at: earlier)
    }
    kept.append(Wait(side: side, moment: moment, action: action))
    waits[object] = kept
    objects[side, default: []].insert(object)
  }

  /// What waited for an object since a moment, in the order in which it was undone; that waits no longer then.
  mutating func take(for object: AnyObject, since moment: Int) -> [UndoRecorder.Action] {
    let object = ObjectIdentifier(object)
    guard let kept = waits[object] else { return [] }
    let taken = kept.filter { $0.moment >= moment }
    keep(kept.filter { $0.moment < moment }, for: object)
    for wait in taken { note(object, waitsNoLonger: wait.side) }
    return taken.map(\.action)
  }

  /// Forgets what waits for a side and was kept at a moment or later.
  mutating func forget(_ side: UndoRecorder.Place, since moment: Int) {
    for object in objects[side] ?? [] {
      guard let kept = waits[object] else { continue }
      // What was recorded after the save that cleared the side is later than what waits.
      let rest = kept.filter { $0.side != side || $0.moment < moment }
      if rest.count == kept.count { continue }
      keep(rest, for: object)
      note(object, waitsNoLonger: side)
    }
  }

  private mutating func keep(_ rest: [Wait], for object: ObjectIdentifier) {
    waits[object] = rest.isEmpty ? nil : rest
  }

  private mutating func note(_ object: ObjectIdentifier, waitsNoLonger side: UndoRecorder.Place) {
    objects[side]?.remove(object)
    if objects[side]?.isEmpty == true { objects[side] = nil }
  }
}

// MARK: - References without an inverse

extension UndoRecorder {
  /// Keeps, for the undo of deletions, which relationships without an inverse the save is about to clear: those that
  /// lead to deleted objects, of owners that are loaded or not.
  ///
  /// Nothing is registered with the undo manager: the step that brings the object back restores these, too. Costs a
  /// query for each deleted object and each such relationship to its class, and loads the owners.
  ///
  /// - Throws: The error of a query. The save then writes nothing.
  func keepOneWayLinks(to deleted: [any PersistentModel]) throws {
    guard isRecording, !graph.layout.oneWay.allSatisfy(\.isEmpty) else { return }
    for target in deleted {
      let state = target._$statePointer
      for place in graph.layout.oneWay[graph.entities[Int(state.pointee.entity)].layout.rootIndex] {
        let entity = graph.layout.entities[place.entity]
        let property = entity.properties[place.property]
        for owner in try owners(entity, property, of: target) { keepLink(owner, property, target) }
      }
    }
  }

  /// The objects of a class that lead to an object, by their rows or by what is pending.
  private func owners(
    _ entity: EntityLayout, _ property: PropertyLayout, of target: any PersistentModel
  ) throws -> [any PersistentModel] {
    let row = target._$statePointer.pointee.rowID
    var found: [any PersistentModel] = []
    // Pending owners, too: their rows need not lead to the object yet.
    for kind in [PendingChanges.Kind.inserted, .changed] {
      found += graph.pending.models(kind).filter { graph.entity(of: $0) === entity }
    }
    // A new object has no row, and a row's number means something in its own store alone.
    if row > 0,
      graph.entities[entity.index].storeIndex
        == graph.entities[Int(target._$statePointer.pointee.entity)].storeIndex
    {
      let rows = try graph.reader.lookUp(in: graph.entities[entity.index].storeIndex) {
        try $0.owners(of: row, entity.table, property)
      }
      found += try graph.reader.load(entity, rows: rows).filter { graph.entity(of: $0) === entity }
    }
    // A pending owner may also have a row that leads there.
    var seen: Set<ObjectIdentifier> = []
    return found.filter { owner in
      guard graph.isHere(owner), !owner.has(_ModelFlags.deleted),
        seen.insert(ObjectIdentifier(owner)).inserted
      else { return false }
      return graph.reader.targets(of: owner, at: property.index).contains { $0 === target }
    }
  }

  /// Keeps the value of one relationship until the deletion of its destination is undone.
  private func keepLink(
    _ owner: any PersistentModel, _ property: PropertyLayout, _ target: any PersistentModel
  ) {
    let index = property.index
    let before: RecordedSide.Content =
      property.isToMany
      ? .members(graph.reader.members(of: owner, at: index))
      : .reference(.model(target), list: owner.list(at: index))
    let side = RecordedSide(owner, index, before, after: before.without([ObjectIdentifier(target)]))
    wait(for: target, owner, index) { graph in
      // A save that was refused may not have come to clearing it.
      let owner = owner.standIn
      if graph.reader.targets(of: owner, at: index).contains(where: { $0 === target }) { return }
      graph.undo.restore(side)
    }
  }
}

extension StoreConnection {
  /// The rows whose relationship leads to a row.
  fileprivate func owners(
    of row: Int64, _ table: String, _ property: PropertyLayout
  ) throws -> [Int64] {
    if let join = property.joinTable {
      return try integers(
        "SELECT \(join.owner) FROM \(join.name.sqlName) WHERE \(join.target) = ?1",
        [.integer(row)])
    }
    guard let column = property.column else { return [] }
    return try integers(
      "SELECT \"_id\" FROM \(table.sqlName) WHERE \(column.sqlName) = ?1", [.integer(row)])
  }
}
