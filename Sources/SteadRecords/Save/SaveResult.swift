import SteadSQLite

/// What the writing of a save has found out: the rows that new objects share, those that were gone, and those that were
/// changed besides the objects' own.
///
/// Made before the first row is written; the writing of each store adds to it. What a save writes is in its plan.
///
/// A class, since all steps of a save work on one result: a copy for each would retain every array of the plan.
final class SaveResult {
  typealias State = SavePlan.State

  let plan: SavePlan
  let layout: SaveLayout
  /// The places of the stores that have something to write.
  let stores: [Int]
  /// The numbers that the new objects had before.
  private let temporaryRows: [Int64]
  /// New objects whose unique values belong to an existing row.
  var upserted: Set<ObjectIdentifier> = []
  /// Changed objects whose row another process deleted.
  var vanished: [any PersistentModel] = []
  /// Rows that were written besides those of the plan's objects, by hierarchy.
  private(set) var otherRows: [Int: Set<Int64>]
  /// The properties of such rows that were changed.
  private(set) var otherSides: [PendingChanges.OtherSide]
  /// The places of the save in the histories of custom stores, by the stores' identifiers.
  var historyTokens: [String: any HistoryToken] = [:]
  private var droppedFiles: [(entity: Int, reference: String)] = []

  /// The result of a save that has written nothing yet.
  init(_ plan: SavePlan, _ layout: SaveLayout) {
    self.plan = plan
    self.layout = layout
    otherRows = plan.otherRows
    otherSides = plan.otherSides
    temporaryRows = plan.states.inserted.map { $0.pointee.rowID }
    stores = Self.stores(plan, layout)
  }

  /// The stores of the plan's objects and pairs.
  private static func stores(_ plan: SavePlan, _ layout: SaveLayout) -> [Int] {
    if layout.stores.count == 1 { return [0] }
    var used: Set<Int> = []
    for states in [plan.states.inserted, plan.states.updated, plan.states.deleted] {
      for state in states { used.insert(layout.entities[Int(state.pointee.entity)].storeIndex) }
    }
    for pair in plan.pairs { used.insert(layout.entities[pair.entity].storeIndex) }
    return used.sorted()
  }

  /// Whether an object is in a store. With one store nothing is looked up.
  func isIn(_ store: Int, _ state: State) -> Bool {
    stores.count == 1 || layout.entities[Int(state.pointee.entity)].storeIndex == store
  }

  // MARK: New objects

  /// Restores new objects' temporary numbers.
  func revert() {
    for (state, row) in zip(plan.states.inserted, temporaryRows) { state.pointee.rowID = row }
  }

  /// The new objects with their own rows, and the numbers that they had before.
  func newRows(in store: Int) -> [(model: any PersistentModel, temporary: Int64)] {
    zip(plan.inserted, temporaryRows).filter { model, _ in
      isIn(store, model._$statePointer) && !upserted.contains(ObjectIdentifier(model))
    }.map { (model: $0, temporary: $1) }
  }

  /// Gives new objects a custom store's numbers for their rows.
  func renumber(_ root: Int, _ numbers: [Int64: Int64]) {
    for state in plan.states.inserted
    where layout.entities[Int(state.pointee.entity)].layout.rootIndex == root {
      if let number = numbers[state.pointee.rowID] { state.pointee.rowID = number }
    }
    otherRows[root] = otherRows[root].map { Set($0.map { numbers[$0] ?? $0 }) }
  }

  // MARK: Other rows

  /// Records rows that were changed besides those of the plan's objects, by hierarchy.
  func noteRows(_ rows: [Int: Set<Int64>]) {
    otherRows.merge(rows) { $0.union($1) }
  }

  /// Records rows that were changed besides those of the plan's objects, and in which property.
  func noteRows(_ rows: [Int64], of entity: EntityLayout, _ property: Int?) {
    if rows.isEmpty { return }
    otherRows[entity.rootIndex, default: []].formUnion(rows)
    guard let property else { return }
    otherSides += rows.map { .init(entity: entity.index, property: property, row: $0) }
  }

  /// Records the owners that the row of an object has, before it is overwritten, for other contexts: by another
  /// context's commit, or an upsert, that may be one which the object never had in memory.
  func noteOldOwners(
    of model: any PersistentModel, _ changes: PropertySet?, _ connection: StoreConnection
  ) throws {
    let entity = layout.entity(of: model)
    for index in entity.relationships where changes?.contains(index) ?? true {
      let property = entity.properties[index]
      guard let column = property.column, let destination = property.destination else { continue }
      let row = model._$statePointer.pointee.rowID
      if let owner = try connection.reference(in: entity.table, column, row: row) {
        noteRows(
          [owner], of: layout.store.entities[destination], property.relationship?.inverse)
      }
    }
  }

  // MARK: Files

  /// Records the files of large values that a row refers to, before it is overwritten or deleted. They are removed
  /// after the commit, if no other row refers to them.
  func noteFiles(
    of model: any PersistentModel, _ connection: StoreConnection, changes: PropertySet? = nil
  ) {
    let entity = layout.entity(of: model)
    for (property, column) in entity.externalColumns
    where changes?.contains(property.index) ?? true {
      let row = model._$statePointer.pointee.rowID
      // If the name cannot be read, the save goes on and the file stays: `check` reports it, `compact` removes it.
      if let name = try? connection.fileName(in: entity.table, column, row: row) {
        droppedFiles.append((entity.index, name))
      }
    }
  }

  /// Removes the files that no row refers to any more.
  ///
  /// Called after the commit: until then a rollback could bring back rows that refer to them.
  func removeUnusedFiles() {
    for store in stores {
      let dropped = droppedFiles.filter { layout.entities[$0.entity].storeIndex == store }
      layout.stores[store].removeFiles(dropped.map(\.reference))
    }
  }
}

// MARK: - History

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

// MARK: - What it needs of the context

/// What the writing of a save needs of its context: the entities, the stores, and how rows of others are treated.
struct SaveLayout {
  let store: StoreLayout
  /// The context's entities, by their index.
  let entities: [ContextEntity]
  let stores: [RecordStore]
  /// Whether other contexts have committed rows since the objects were changed.
  let readsOldRows: Bool
  /// Whether a new object whose unique values belong to a row leaves that row's columns unchanged.
  var keepsUniqueRows = false

  func entity(of model: any PersistentModel) -> EntityLayout {
    entities[Int(model._$statePointer.pointee.entity)].layout
  }

  /// Whether objects of a hierarchy have files or rows in join tables.
  func hasMoreThanRows(_ root: Int) -> Bool {
    store.entities.contains {
      $0.rootIndex == root && (!$0.joined.isEmpty || !$0.externalColumns.isEmpty)
    }
  }

  /// The one-to-one relationships in which an object has a partner.
  func partners(of model: any PersistentModel) -> PropertySet {
    let entity = entity(of: model)
    var result = PropertySet()
    for index in entity.relationships where entity.properties[index].isOneToOne {
      switch model.content(at: index) {
      case .toOne(.model), .toOne(.row): result.insert(index)
      default: break
      }
    }
    return result
  }
}
