import SteadSQLite

extension SaveResult {
  /// Records what was written to a store, for its history.
  ///
  /// Invariant: a row that the save has made is recorded as inserted, and nothing else. Of any other row each
  /// property that was written is in one update, whatever number of objects stands for the row. Called after the
  /// writing, when objects have their rows and vanished ones are known.
  func recordChanges(in store: Int, _ connection: StoreConnection) throws {
    guard connection.notesChanges else { return }
    let new = upserted.isEmpty ? [] : newRows()
    // Several new objects may stand for one row, and a changed object may have it.
    var replaced: [Row: PropertySet] = [:]
    for (place, state) in plan.states.inserted.enumerated() where isIn(store, state) {
      let entity = layout.store.entities[Int(state.pointee.entity)]
      let (row, stamp) = (state.pointee.rowID, plan.stamps.inserted[place])
      if upserted.isEmpty || !upserted.contains(ObjectIdentifier(plan.inserted[place])) {
        connection.changes.record(.insert, entity, row: row, stamp: stamp)
        continue
      }
      // Another object of this save has inserted the row, and an insertion already stands for all of its properties.
      let key = Row(root: entity.rootIndex, number: row)
      if new.contains(key) { continue }
      let stored = layout.entities[entity.index].lazyPlan.plan.storedProperties
      let all = layout.keepsUniqueRows ? layout.partners(of: plan.inserted[place]) : stored
      let written = all.subtracting(replaced[key] ?? PropertySet())
      if written.isEmpty { continue }
      replaced[key] = (replaced[key] ?? PropertySet()).union(all)
      connection.changes.record(.update, entity, row: row, stamp: stamp, properties: written)
    }
    let missing = Set(vanished.map { ObjectIdentifier($0) })
    for (place, state) in plan.states.updated.enumerated() where isIn(store, state) {
      let entity = Int(state.pointee.entity)
      // The history has what the row has, and an ephemeral property has no column.
      var changes = state.pointee.changes.subtracting(layout.entities[entity].layout.ephemeral)
      // A new object with the row's unique values has overwritten these, and was recorded with them above.
      if !replaced.isEmpty {
        let key = Row(root: layout.entities[entity].layout.rootIndex, number: state.pointee.rowID)
        changes = changes.subtracting(replaced[key] ?? PropertySet())
      }
      if changes.isEmpty { continue }
      // Another process has deleted the row, so the UPDATE has changed nothing.
      if !missing.isEmpty, missing.contains(ObjectIdentifier(plan.updated[place])) { continue }
      connection.changes.record(
        .update, layout.store.entities[entity], row: state.pointee.rowID,
        stamp: plan.stamps.updated[place], properties: changes)
    }
    if !otherSides.isEmpty { try recordOtherRows(in: store, connection) }
  }

  private struct Row: Hashable {
    /// The index of the entity whose table has it.
    let root: Int
    let number: Int64
  }

  /// The rows that the save has inserted.
  private func newRows() -> Set<Row> {
    Set(
      zip(plan.inserted, plan.states.inserted).compactMap { model, state in
        upserted.contains(ObjectIdentifier(model))
          ? nil
          : Row(
            root: layout.entities[Int(state.pointee.entity)].layout.rootIndex,
            number: state.pointee.rowID)
      })
  }

  /// Records rows without an object whose relationships were changed along with those of others.
  ///
  /// Invariant: a property of a row is recorded once in a save, and never for the row of a new object.
  private func recordOtherRows(in store: Int, _ connection: StoreConnection) throws {
    let new = Set(
      plan.states.inserted.map {
        Row(
          root: layout.entities[Int($0.pointee.entity)].layout.rootIndex, number: $0.pointee.rowID)
      })
    // Several objects may have left one object's list, and the save may also have changed it directly.
    var noted: [Row: PropertySet] = [:]
    for state in plan.states.updated where isIn(store, state) {
      let root = layout.entities[Int(state.pointee.entity)].layout.rootIndex
      noted[Row(root: root, number: state.pointee.rowID)] = state.pointee.changes
    }
    for side in otherSides where layout.entities[side.entity].storeIndex == store {
      let declared = layout.store.entities[side.entity]
      let row = Row(root: declared.rootIndex, number: side.row)
      // `recordChanges` has recorded what new objects have written of their rows.
      guard !new.contains(row),
        let entity = try connection.entity(of: side.row, in: declared, layout.store)
      else { continue }
      // A subclass inherits the property.
      let name = declared.properties[side.property].name
      guard let property = entity.property(named: name),
        noted[row]?.contains(property.index) != true
      else { continue }
      noted[row, default: PropertySet()].insert(property.index)
      connection.changes.record(
        .update, entity, row: side.row, properties: PropertySet([property.index]))
    }
  }
}

extension StoreConnection {
  /// The entity of a row of a hierarchy; nil if the row does not exist.
  func entity(
    of row: Int64, in member: EntityLayout, _ layout: StoreLayout
  ) throws -> EntityLayout? {
    let column = member.discriminator == nil ? "1" : "\"_entity\""
    let found = try integer(
      "SELECT \(column) FROM \(member.table.sqlName) WHERE \"_id\" = ?1", [.integer(row)])
    guard let found, member.discriminator != nil else { return found == nil ? nil : member }
    return layout.entities.first {
      $0.rootIndex == member.rootIndex && $0.discriminator == Int(found)
    }
  }

  /// Records that a row is about to be deleted, with the values that the history preserves.
  ///
  /// Does nothing if values are to be preserved and the row is gone: whoever deleted it has recorded that.
  func noteDeletion(of row: Int64, _ entity: EntityLayout, stamp: Int64? = nil) throws {
    let preserved = PreservedColumns(entity.properties)
    var values: String?
    if !preserved.isEmpty {
      let rows = try rows(
        "SELECT \(preserved.list()) FROM \(entity.table.sqlName) WHERE \"_id\" = ?1",
        [.integer(row)])
      // Another process has deleted the row before, and has recorded that.
      guard case .text(let text)? = rows.first?.first else { return }
      values = text
    }
    changes.record(
      .delete, entity, row: row, stamp: stamp, properties: preserved.set, values: values)
  }
}
