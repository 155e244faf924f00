// Properties that undo, or the end of a deletion, gives back to the store: what others have committed counts there again.

extension RelationshipReader {
  /// What the rows of some objects of one hierarchy have in a to-one property, and in which of several lists they are there,
  /// by the rows' numbers. What leads nowhere is left out.
  ///
  /// Costs one statement, with the numbers as a JSON array.
  func storedReferences(
    of models: [any PersistentModel], _ property: PropertyLayout
  ) throws -> [Int64: (row: Int64, list: Int?)] {
    guard let first = models.first, let column = property.column else { return [:] }
    let entity = graph.entity(of: first)
    // In the column, NULL means the first list, as 0 does.
    let list = property.listColumn.map { "ifnull(\($0.sqlName), 0)" } ?? "NULL"
    let numbers = models.map { Int($0._$statePointer.pointee.rowID) }
    let rows = try lookUp(in: graph.entities[entity.index].storeIndex) { connection in
      try connection.rows(
        "SELECT \"_id\", \(column.sqlName), \(list) FROM \(entity.table.sqlName) "
          + "WHERE \"_id\" IN (SELECT value FROM json_each(?1))",
        [.text(numbers.jsonText)])
    }
    var result: [Int64: (row: Int64, list: Int?)] = [:]
    for columns in rows {
      guard case .integer(let number) = columns[0], case .integer(let row) = columns[1] else {
        continue
      }
      if case .integer(let list) = columns[2] {
        result[number] = (row, Int(list))
      } else {
        result[number] = (row, nil)
      }
    }
    return result
  }

  /// The object to which a row leads; nil if it cannot be read.
  fileprivate func destination(
    _ stored: (row: Int64, list: Int?)?, _ property: PropertyLayout
  ) -> (any PersistentModel)? {
    guard let stored, let destination = property.destination else { return nil }
    return try? object(graph.layout.entities[destination], row: stored.row)
  }
}

extension ObjectGraph {
  /// Gives a property that is as it was before this context's first change back to the store: the next save does not write
  /// it, and what others have committed of it shows.
  ///
  /// Reads the row again if others have committed since the last save.
  ///
  /// - Parameters:
  ///   - index: Of an attribute, or of a to-one relationship.
  ///   - isStale: Whether the row is read again anyway.
  func returnToRow(_ model: any PersistentModel, at index: Int, isStale: Bool = false) {
    let state = model._$statePointer
    guard state.pointee.rowID > 0, state.pointee.changes.contains(index) else { return }
    // An ephemeral one has no column to return to.
    if entity(of: model).ephemeral.contains(index) { return }
    notifying(model, index) {
      unmark(model, index)
      if isStale || !commits.hasNews { return }
      state.pointee.set(_ModelFlags.stale)
      reader.reload(model)
    }
    pending.note(entity(of: model).rootIndex)
  }

  /// Makes a property one that the next save does not write.
  private func unmark(_ model: any PersistentModel, _ index: Int) {
    let state = model._$statePointer
    state.pointee.changes = state.pointee.changes.subtracting(PropertySet([index]))
    if state.pointee.changes.isEmpty { pending.remove(model, from: .changed) }
  }

  /// Drops the changes of a list, all of which are taken back.
  ///
  /// Invariant: a list without changes is in no list of changed ones, since a save forgets the changes of the objects that
  /// it writes alone.
  func dropChanges(of model: any PersistentModel, at index: Int) {
    model.updateTargets(at: index) { $0.delta = nil }
    pending.removeSide(of: model, at: index)
    unmark(model, index)
    pending.note(entity(of: model).rootIndex)
  }

  /// Undoes the first change of a to-one relationship where others have led it elsewhere meanwhile: it leads there then.
  ///
  /// Changes this side, and that of its destination. The other actions of the step restore the side where it led, and
  /// leave the one from before the step as others have it.
  ///
  /// - Parameters:
  ///   - target: What the property held before the step.
  ///   - list: In which of several lists it was there.
  /// - Returns: Whether others have led it elsewhere, or nothing of it was pending any more.
  func returnToOthersValue(
    _ model: any PersistentModel, at index: Int, from target: _Target, _ list: Int?
  ) -> Bool {
    // Returned before, by another action of the step.
    if !model._$statePointer.pointee.changes.contains(index) { return true }
    guard commits.hasNews else { return false }
    let property = entity(of: model).properties[index]
    // What cannot be read is as it was.
    guard let rows = try? reader.storedReferences(of: [model], property) else { return false }
    let stored = rows.first?.value
    let row: Int64? =
      switch target {
      case .none: nil
      case .row(let row): row
      case .model(let model): model._$statePointer.pointee.rowID
      }
    let isSameList = stored?.list == nil || stored?.list == list ?? property.firstList
    if stored?.row == row, isSameList { return false }
    takeFromList(model, property)
    returnToStored(model, property, stored)
    return true
  }

  /// Takes an object whose reference is about to lead elsewhere from the list that it is in. No action of the step does so
  /// where the step has taken it from there and put it back.
  private func takeFromList(_ model: any PersistentModel, _ property: PropertyLayout) {
    guard let owner = reader.destination(of: model, at: property.index),
      let inverse = inverse(of: property, list: model.list(at: property.index)), inverse.isToMany,
      case .toMany(let targets) = owner.content(at: inverse.index)
    else { return }
    let held = undo.content(of: owner, at: inverse.index)
    undo.recordChange(of: owner, inverse.index, held, isOfRow: false)
    targets.delta?.forget(model)
    notifying(owner, inverse.index) {
      owner.updateTargets(at: inverse.index) { $0.remove(model) }
    }
  }

  /// Gives a to-one relationship what its row has, and shows it at the other side, unless this context has changed that.
  ///
  /// - Parameter isReview: Whether commits are being applied, after which stale objects are read. Else undo records the
  ///   other side, so that a redo takes the object from there.
  func returnToStored(
    _ model: any PersistentModel, _ property: PropertyLayout, _ stored: (row: Int64, list: Int?)?,
    isReview: Bool = false
  ) {
    editor.membership = nil
    let isStale = isReview && model.has(_ModelFlags.stale)
    let owner = reader.destination(stored, property)
    guard let owner, isHere(owner), let inverse = inverse(of: property, list: stored?.list) else {
      return returnToRow(model, at: property.index, isStale: isStale)
    }
    if !isReview {
      reader.makeCurrent(owner)
      // While the property leads elsewhere.
      if inverse.isToMany {
        let held = undo.content(of: owner, at: inverse.index)
        undo.recordChange(of: owner, inverse.index, held, isOfRow: false)
      } else if reader.refers(owner, inverse.index, to: model, inverse.list) {
        undo.recordChange(
          of: owner, inverse.index, .reference(.none, list: nil), isOfRow: false)
      }
    }
    returnToRow(model, at: property.index, isStale: isStale)
    if inverse.isToMany { forgetChanges(of: model, in: owner, at: inverse.index) }
  }

  /// Has a list be read again, with what is pending of it but for one member.
  func forgetChanges(
    of member: any PersistentModel, in owner: any PersistentModel, at index: Int
  ) {
    guard case .toMany(let targets) = owner.content(at: index) else { return }
    targets.delta?.forget(member)
    // One of a stale object is read with it.
    guard targets.loaded != nil, owner._$statePointer.pointee.rowID > 0,
      !owner.has(_ModelFlags.stale)
    else { return }
    notifying(owner, index) { owner.updateTargets(at: index) { $0.loaded = nil } }
  }
}
