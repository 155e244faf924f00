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
  }

  /// What waited for an object since a moment, in the order in which it was undone; that waits no longer then.
  mutating func take(for object: AnyObject, since moment: Int) -> [UndoRecorder.Action] {
    guard let kept = waits.removeValue(forKey: ObjectIdentifier(object)) else { return [] }
    let earlier = kept.filter { $0.moment < moment }
    if !earlier.isEmpty { waits[ObjectIdentifier(object)] = earlier }
    return kept.filter { $0.moment >= moment }.map(\.action)
  }

  /// Forgets what waits for a side and was kept at a moment or later.
  mutating func forget(_ side: UndoRecorder.Place, since moment: Int) {
    for object in waits.keys {
      // What was recorded after the save that cleared the side is later than what waits.
      waits[object]?.removeAll { $0.side == side && $0.moment >= moment }
    }
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
    let side = RecordedSide(owner, index, before)
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
