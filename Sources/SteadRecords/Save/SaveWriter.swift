import SteadSQLite

/// Writes one store's part of a save to the open transaction, and records in the result what it has found out.
///
/// Invariant: besides rows, it only changes the numbers of new objects, which ``SaveResult/revert()`` restores.
/// Everything else about an object changes after the commit, in `SaveRun.finish`. Nothing carries over from one store
/// to the next but the result: numbers and owners mean nothing in another store's tables.
struct SaveWriter {
  typealias State = SavePlan.State

  private let layout: SaveLayout
  private let store: Int
  private let connection: StoreConnection
  /// Whether the save writes to no other store. Then no object's store is looked up.
  private let isAlone: Bool
  private let references: RowReferences
  private var numbers: RowNumbers
  private var places: ListPlaces
  /// The relationships with a limited number of members that this save changes.
  private var countedLists: CountedLists
  private let result: SaveResult

  private init(_ result: SaveResult, to store: Int, _ connection: StoreConnection) {
    (self.result, layout) = (result, result.layout)
    (self.store, self.connection) = (store, connection)
    isAlone = result.stores.count == 1
    references = RowReferences(layout: layout, store: store, connection: connection)
    numbers = RowNumbers(layout, connection)
    places = ListPlaces(layout, connection)
    countedLists = CountedLists(layout.store)
  }

  /// Writes a store's part of a save.
  ///
  /// - Parameter result: Has what was found out in the stores before; what is found out in this one is added.
  /// - Throws: `modelValidationFailure` for what the rows do not allow, and errors of SQLite. The caller rolls back the
  ///   transaction, and reverts the result.
  static func write(_ result: SaveResult, to store: Int, _ connection: StoreConnection) throws {
    var writer = SaveWriter(result, to: store, connection)
    try writer.write()
  }

  /// Deletes a store's rows, and gives new objects theirs, as the save will.
  ///
  /// Called in a savepoint that is rolled back, to find out which objects would share a row; the caller reverts the
  /// result.
  ///
  /// - Throws: `modelValidationFailure` if unique keys contradict each other.
  static func assignRows(
    of result: SaveResult, in store: Int, _ connection: StoreConnection
  ) throws {
    var writer = SaveWriter(result, to: store, connection)
    try writer.assignRows()
  }

  /// Does what ``write(_:to:_:)`` describes.
  ///
  /// The order of the passes is the algorithm:
  ///
  /// 1. Rows are deleted, and changed objects give up their unique values, so that new rows can have these.
  /// 2. New objects get their numbers, all of them before the first is inserted: rows refer to each other, in any
  ///    direction.
  /// 3. Rows are inserted and updated.
  /// 4. One-to-one references that contradict the new ones are cleared.
  /// 5. Pairs of join tables are written, and then positions, which are read from the pairs and rows that are there.
  /// 6. What rows show is checked last, with the whole save in them: the numbers of members, and required references.
  ///    Then the changes are recorded for the history.
  private mutating func write() throws {
    try assignRows()
    try insert()
    try update()
    try clearPartners()
    try writePairs()
    try writePlaces()
    try countedLists.check(connection)
    try result.checkReferences(in: store, connection)
    try result.recordChanges(in: store, connection)
    try places.retire(numbers)
    numbers.remember()
  }

  private var plan: SavePlan { result.plan }

  private func isHere(_ state: State) -> Bool {
    isAlone || layout.entities[Int(state.pointee.entity)].storeIndex == store
  }

  private func isHere(_ model: any PersistentModel) -> Bool { isHere(model._$statePointer) }

  // MARK: Deletion

  /// Deletes the rows of deleted objects, with their pairs, the references to them that have no inverse, and, after
  /// the commit, their files.
  ///
  /// First of all passes, since new and changed objects may have the unique values of deleted ones: SQLite checks a
  /// unique index with each row.
  ///
  /// Invariant: afterwards no pair and no reference without an inverse leads to a deleted row; what else may lead
  /// there, the delete rules have put into the plan. The number of a deleted row is never reused: an identifier that
  /// the program has kept must not lead to a new object.
  private mutating func delete() throws {
    for (root, member) in deletedRoots() {
      // Of a class that has objects here, whose plan is made already. The table is that of the whole hierarchy.
      let entityPlan = layout.entities[member].lazyPlan.plan
      try connection.retiringNumbers(of: entityPlan.tableLayout.name) {
        try deleteRows(of: root, entityPlan)
      }
    }
  }

  /// Deletes the rows of a hierarchy's deleted objects, and what they have outside of themselves.
  private mutating func deleteRows(of root: Int, _ entityPlan: EntityPlan) throws {
    // Once, and not for each object.
    let connection = self.connection
    let isReferenced = !layout.store.oneWay[root].isEmpty
    // Then the row is all that an object leaves. The loop needs the states alone, so no object is retained.
    let isBare = !isReferenced && !layout.hasMoreThanRows(root)
    var rows: [Int64] = []
    for (place, state) in plan.states.deleted.enumerated()
    where layout.entities[Int(state.pointee.entity)].layout.rootIndex == root && isHere(state) {
      // While the row is there: it says which lists lose a member.
      try countedLists.noteDeletion(of: state.pointee.rowID, root: root, connection)
      if !isBare { try deleteSurroundings(of: plan.deleted[place], isReferenced: isReferenced) }
      rows.append(state.pointee.rowID)
      // While the row is there: the history may preserve values of it.
      if connection.notesChanges {
        try connection.noteDeletion(
          of: state.pointee.rowID, layout.store.entities[Int(state.pointee.entity)],
          stamp: plan.stamps.deleted[place])
      }
    }
    // Together, not in the loop: consecutive numbers become one DELETE of a range (`RowRuns`).
    try connection.delete(rows, of: entityPlan)
  }

  /// The hierarchies of which objects are deleted, each with the index of a class that has some.
  private func deletedRoots() -> [Int: Int] {
    var roots: [Int: Int] = [:]
    var lastRoot = -1
    for state in plan.states.deleted where isHere(state) {
      let root = layout.entities[Int(state.pointee.entity)].layout.rootIndex
      // Any class of the hierarchy will do. Objects of one hierarchy mostly follow each other, so its key is seldom
      // hashed.
      if root != lastRoot { roots[root] = Int(state.pointee.entity) }
      lastRoot = root
    }
    return roots
  }

  /// Deletes what a row has outside of itself: pairs, and references that no rule clears. Its files are noted.
  private mutating func deleteSurroundings(
    of model: any PersistentModel, isReferenced: Bool
  ) throws {
    let entity = layout.entity(of: model)
    if layout.entities[entity.index].lazyPlan.plan.hasExternal {
      result.noteFiles(of: model, connection)
    }
    // First, since it notes the rows: their pairs may be in the table of one of the object's own lists.
    if isReferenced { try references.clearOneWay(to: model, entity, &places, result) }
    for index in entity.joined {
      guard let join = entity.properties[index].joinTable else { continue }
      // Before pairs go, so that their numbers are not given out again.
      try places.openPairs(join.name)
      try connection.deletePairs(join, owner: model._$statePointer.pointee.rowID)
    }
  }

  // MARK: Numbers

  /// Deletes rows, and gives new objects theirs.
  ///
  /// Invariant: a row is looked for by unique values only when no deleted row has them any more, nor the row of an
  /// object that has given them up.
  private mutating func assignRows() throws {
    try delete()
    try UniqueKeys.release(by: result, in: store, connection) { model, released in
      try noteOverwriting(
        of: model, layout.entities[Int(model._$statePointer.pointee.entity)].lazyPlan.plan, released
      )
    }
    try numberObjects()
  }

  /// Gives each new object a row number: a new one, or that of the row that has its unique values, which it then
  /// overwrites.
  ///
  /// Changed objects claim their values first. Their rows may lack them at this point, since `UniqueKeys.release` has
  /// taken them out and `update` writes them later, so a query for them would find nothing.
  ///
  /// Invariant: afterwards each new object of the store has its row's number, so that the rows written next can refer
  /// to it. Those whose row existed, or is that of an earlier new object, are in `upserted`, and no others.
  private mutating func numberObjects() throws {
    var constrained: [any PersistentModel] = []
    for (place, state) in plan.states.inserted.enumerated() where isHere(state) {
      let entity = Int(state.pointee.entity)
      if layout.entities[entity].layout.isConstrained {
        constrained.append(plan.inserted[place])
        continue
      }
      // No unique key, so no stored row can be the object's.
      state.pointee.rowID = try numbers.draw(layout.entities[entity].layout.rootIndex)
    }
    let changed = plan.updated.filter {
      isHere($0) && layout.entities[Int($0._$statePointer.pointee.entity)].layout.isConstrained
    }
    guard !constrained.isEmpty || !changed.isEmpty else { return }
    let assignment = try RowAssignment.run(
      new: constrained, changed: changed, layout, numbers, connection)
    numbers = assignment.numbers
    result.upserted.formUnion(assignment.upserted)
  }

  // MARK: Rows

  /// Inserts the rows of new objects, and overwrites the rows of those whose unique values a row has.
  ///
  /// In the order of insertion, of which the last object with a row's unique values counts. A row that is overwritten was
  /// stored: new objects that would share a new row are one object by now. A reference may lead to a row that is not
  /// there yet, since SQLite does not enforce foreign keys.
  ///
  /// Invariant: afterwards each new object has a row of its number. Before a row is overwritten, its files, its
  /// owners and its members are recorded, for which the save has to account, too. Objects of one class mostly follow
  /// each other, so a statement is looked up and reset once for each run of them.
  private mutating func insert() throws {
    var insertion: RowInsertion?
    // Once, and not for each object.
    let upserted = result.upserted
    for model in plan.inserted where isHere(model) {
      let entity = Int(model._$statePointer.pointee.entity)
      if !upserted.isEmpty, upserted.contains(ObjectIdentifier(model)) {
        try overwriteRow(of: model, layout.entities[entity].lazyPlan.plan)
        continue
      }
      if insertion?.entity != entity {
        insertion?.statement.reset()
        insertion = RowInsertion(
          entity: entity, plan: layout.entities[entity].lazyPlan.plan,
          context: layout.entities[entity].rowContext,
          statement: try connection.statement(layout.entities[entity].lazyPlan.plan.insert))
      }
      try countedLists.noteWrite(
        of: model, layout.entities[entity].layout, nil, stored: nil)
      try insertion?.run(model)
    }
    insertion?.statement.reset()
  }

  /// Writes a new object to the row that has its unique values.
  private mutating func overwriteRow(
    of model: any PersistentModel, _ entityPlan: EntityPlan
  ) throws {
    let changes = layout.keepsUniqueRows ? layout.partners(of: model) : nil
    // The row keeps all of its values.
    if let changes, changes.isDisjoint(with: entityPlan.storedProperties) { return }
    // What the row has now is read before the UPDATE below replaces it.
    result.noteFiles(of: model, connection, changes: changes)
    try result.noteOldOwners(of: model, changes, connection)
    try countedLists.noteWrite(of: model, entityPlan.entity, changes, stored: connection)
    let update = changes.map { entityPlan.update(changes: $0) } ?? entityPlan.updateAll
    let exists = try Self.run(
      update, connection.statement(update.sql), model,
      layout.entities[entityPlan.entity.index].rowContext, connection)
    guard exists else {
      throw SwiftDataError(
        .storeFailure,
        "A new \(entityPlan.entity.name) has a unique value of row \(model._$statePointer.pointee.rowID), which is not there. "
          + "Nothing was saved; save again.")
    }
  }

  /// Binds an object's values to an UPDATE, and runs it; returns whether the row exists.
  ///
  /// Slots bind without throwing. What one has recorded in the row context is thrown before anything is written.
  private static func run(
    _ update: EntityPlan.Update, _ statement: SQLiteStatement, _ model: any PersistentModel,
    _ context: RowContext, _ connection: StoreConnection
  ) throws -> Bool {
    let row = model._$statePointer.pointee.rowID
    context.row = row
    statement.reset()
    model._$bind(
      _RowWriter(
        statement: statement.pointer, parameters: update.parameters,
        context: .passUnretained(context)))
    if !update.lists.isEmpty { update.lists.bind(of: model, to: statement) }
    statement.bind(row, at: update.idParameter)
    if context.error != nil { try context.throwIfRejected() }
    try statement.run()
    return connection.changedRows > 0
  }

  /// Writes the changed properties of changed objects; those that are not stored are left out.
  ///
  /// Before what is read from rows: partners, positions, and the numbers of members. Among the rows the order does not
  /// matter, since their numbers are assigned and their old unique values are gone.
  ///
  /// Invariant: only changed columns are written, so that another context's change of another property of the object
  /// stays.
  private mutating func update() throws {
    // Once, and not for each object.
    let connection = self.connection
    var current:
      (
        entity: Int32, changes: PropertySet, plan: EntityPlan, update: EntityPlan.Update,
        statement: SQLiteStatement
      )?
    for (place, state) in plan.states.updated.enumerated() where isHere(state) {
      let (entity, changes) = (state.pointee.entity, state.pointee.changes)
      // Objects of one class with the same changes mostly follow each other.
      if current?.entity != entity || current?.changes != changes {
        let entityPlan = layout.entities[Int(entity)].lazyPlan.plan
        // A list alone has no column here: its pairs and positions are written after the rows.
        guard !changes.isDisjoint(with: entityPlan.storedProperties) else { continue }
        let update = entityPlan.update(changes: changes)
        let statement = try connection.statement(update.sql)
        current = (entity, changes, entityPlan, update, statement)
      }
      guard let current else { continue }
      let model = plan.updated[place]
      // Of unique values, which `UniqueKeys.release` has taken out of the row, this has been done before.
      try noteOverwriting(of: model, current.plan, changes)
      let exists = try Self.run(
        current.update, current.statement, model, layout.entities[Int(entity)].rowContext,
        connection)
      // An UPDATE that finds no row: another process has deleted it, and the object leaves when the save is done.
      if !exists { result.vanished.append(model) }
    }
  }

  /// Records what a changed object's row has, before its changes are written there: files, former owners, and the lists
  /// whose members are counted.
  ///
  /// Invariant: called for each property while the row still has the value that other contexts know.
  private mutating func noteOverwriting(
    of model: any PersistentModel, _ entityPlan: EntityPlan, _ changes: PropertySet
  ) throws {
    if entityPlan.hasExternal { result.noteFiles(of: model, connection, changes: changes) }
    // If no other context has committed, the object itself knew its old owner, and has recorded it.
    if layout.readsOldRows { try result.noteOldOwners(of: model, changes, connection) }
    try countedLists.noteWrite(of: model, entityPlan.entity, changes, stored: connection)
  }

  // MARK: Relationships

  /// Clears other objects' one-to-one references to an object's new destination, which other contexts, or the row of an
  /// upsert, may have set.
  ///
  /// After all rows are written, so that what a later object of the save has given up is not taken for a contradiction.
  ///
  /// Invariant: afterwards the one-to-one references that this save has written are the only ones of their two sides.
  private mutating func clearPartners() throws {
    guard layout.entities.contains(where: { $0.layout.hasOneToOne }) else { return }
    for models in [plan.inserted, plan.updated] {
      for model in models
      where isHere(model)
        && layout.entities[Int(model._$statePointer.pointee.entity)].layout.hasOneToOne
      {
        let entity = layout.entity(of: model)
        for index in entity.relationships where entity.properties[index].isOneToOne {
          // All references of a new object are new to the store; of a stored object, those that were changed.
          let isNew = model.has(_ModelFlags.inserted)
          guard isNew || model._$statePointer.pointee.changes.contains(index) else { continue }
          try references.clearPartners(of: model, entity, entity.properties[index], result)
        }
      }
    }
  }

  /// Inserts and deletes rows of join tables.
  ///
  /// Invariant: in the order of the changes, since a pair may have come and gone, and after the numbers of a table were
  /// read (`openPairs`): a pair's number is the position of its member, so pairs are in the order of the additions.
  private mutating func writePairs() throws {
    // Not in the plan: only the assignment of rows has shown which objects share one.
    let pairs = plan.pairs(upserted: result.upserted)
    for pair in pairs where isAlone || layout.entities[pair.entity].storeIndex == store {
      let owner = pair.owner._$statePointer.pointee.rowID
      let target = pair.target._$statePointer.pointee.rowID
      // An end that was deleted, or could not be inserted, has no row. The pairs of a deleted row were deleted with
      // it.
      guard hasRow(pair.owner), hasRow(pair.target) else { continue }
      try places.openPairs(pair.table.name)
      countedLists.notePair(of: pair.table, owner, target)
      if pair.isAdded {
        let number = places.drawPair(of: pair.table.name)
        try connection.insertPair(pair.table, number, owner, target)
      } else {
        try connection.deletePair(pair.table, owner, target)
      }
    }
  }

  /// Whether an object has a row that stays. The number of a stored one is below 1 if another program has written it; that
  /// of a duplicate that became another object is one in memory.
  private func hasRow(_ model: any PersistentModel) -> Bool {
    let isStored = !model.has(_ModelFlags.inserted | _ModelFlags.redirected)
    return (model._$statePointer.pointee.rowID > 0 || isStored) && SavePlan.isAlive(model)
  }

  /// Writes the positions of the members of changed lists.
  ///
  /// Invariant: all rows and pairs are there, with which the members and their present positions are read.
  private mutating func writePlaces() throws {
    for side in plan.sides where isHere(side.owner) && SavePlan.isAlive(side.owner) {
      try places.write(side, upserted: result.upserted, &numbers)
    }
  }
}
