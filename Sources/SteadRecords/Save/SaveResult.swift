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
