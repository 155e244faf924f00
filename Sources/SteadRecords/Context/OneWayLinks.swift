extension ObjectGraph {
  /// Keeps, for the undo of deletions, which relationships without an inverse the save is about to clear: those that
  /// lead to deleted objects, of owners that are loaded or not.
  ///
  /// Nothing is registered with the undo manager: the step that brings the object back restores these, too. Costs a
  /// query for each deleted object and each such relationship to its class, and loads the owners.
  func keepOneWayLinks(to deleted: [any PersistentModel]) throws {
    guard undo.isRecording, !layout.oneWay.allSatisfy(\.isEmpty) else { return }
    for target in deleted {
      let state = target._$statePointer
      for place in layout.oneWay[traits[Int(state.pointee.entity)].root] {
        let entity = layout.entities[place.entity]
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
    for kind in [PendingChanges.Kind.inserted, .changed] {
      found += pending.models(kind).filter { self.entity(of: $0) === entity }
    }
    if row > 0, storeIndex[entity.index] == storeIndex[Int(target._$statePointer.pointee.entity)] {
      let rows = try lookUp(in: storeIndex[entity.index]) {
        try $0.owners(of: row, entity.table, property)
      }
      found += try load(entity, rows: rows).filter { self.entity(of: $0) === entity }
    }
    var seen: Set<ObjectIdentifier> = []
    return found.filter { owner in
      guard isHere(owner), !owner.has(_ModelFlags.deleted),
        seen.insert(ObjectIdentifier(owner)).inserted
      else { return false }
      return targets(of: owner, at: property.index).contains { $0 === target }
    }
  }

  private func keepLink(
    _ owner: any PersistentModel, _ property: PropertyLayout, _ target: any PersistentModel
  ) {
    let index = property.index
    let before: RecordedSide.Content =
      property.isToMany
      ? .members(members(of: owner, at: index))
      : .reference(.model(target), list: owner.list(at: index))
    let side = RecordedSide(owner, index, before)
    undo.wait(for: target, owner, index) { graph in
      // A save that was refused may not have come to clearing it.
      let owner = owner.standIn
      if graph.targets(of: owner, at: index).contains(where: { $0 === target }) { return }
      graph.restore(side)
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
