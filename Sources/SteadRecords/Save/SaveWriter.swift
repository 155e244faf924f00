import Foundation
import SteadSQLite

/// Writes one save's rows, and remembers what must be undone if it fails.
///
/// Invariant: besides rows, it only changes the numbers of new objects, which ``revert()`` restores. Everything else
/// about an object changes after the commit, in `SaveRun.finish`.
struct SaveWriter {
  typealias State = SavePlan.State

  /// What the writer asks of the context's layout.
  struct Layout {
    let store: StoreLayout
    let plans: EntityPlans
    let traits: [EntityTraits]
    let contexts: [RowContext]
    /// The place of each entity's store.
    let storeIndex: [Int]
    let stores: [RecordStore]
    /// Whether other contexts have committed rows since the objects were changed.
    let readsOldRows: Bool
    /// Whether a new object whose unique values belong to a row leaves that row's columns unchanged.
    var keepsUniqueRows = false
  }

  let plan: SavePlan
  let layout: Layout
  /// New objects whose unique values belong to an existing row.
  private(set) var upserted: Set<ObjectIdentifier> = []
  /// Changed objects whose row another process deleted.
  private(set) var vanished: [any PersistentModel] = []
  /// The places of the save in the histories of custom stores, by the stores' identifiers.
  var historyTokens: [String: any HistoryToken] = [:]
  /// The places of the stores that have something to write.
  let stores: [Int]
  /// Rows that were written besides those of the plan's objects, by hierarchy.
  private(set) var otherRows: [Int: Set<Int64>]
  /// The properties of such rows that were changed.
  private(set) var otherSides: [PendingChanges.OtherSide]
  /// The numbers that the new objects had before.
  private let temporaryRows: [Int64]
  /// The relationships with a limited number of members that this save changes.
  private(set) var countedLists: CountedLists
  private var droppedFiles: [(entity: Int, reference: String)] = []
  /// The next free number of each hierarchy; 0 where the table was not asked yet.
  private var nextRows: [Int64]
  private var drawnRoots: Set<Int> = []
  /// For each join table that this save writes, the first number of its own pairs and the next free one.
  private var pairNumbers: [String: (first: Int64, next: Int64)] = [:]

  init(_ plan: SavePlan, _ layout: Layout) {
    self.plan = plan
    self.layout = layout
    otherRows = plan.otherRows
    otherSides = plan.otherSides
    countedLists = CountedLists(layout.store)
    temporaryRows = plan.states.inserted.map { $0.pointee.rowID }
    nextRows = Array(repeating: 0, count: layout.traits.count)
    stores = Self.stores(plan, layout)
  }

  /// The stores of the plan's objects and pairs.
  private static func stores(_ plan: SavePlan, _ layout: Layout) -> [Int] {
    if layout.stores.count == 1 { return [0] }
    var used: Set<Int> = []
    for states in [plan.states.inserted, plan.states.updated, plan.states.deleted] {
      for state in states { used.insert(layout.storeIndex[Int(state.pointee.entity)]) }
    }
    for pair in plan.pairs { used.insert(layout.storeIndex[pair.entity]) }
    return used.sorted()
  }

  /// Whether an object is in a store. With one store nothing is looked up.
  func isIn(_ store: Int, _ state: State) -> Bool {
    stores.count == 1 || layout.storeIndex[Int(state.pointee.entity)] == store
  }

  private func isIn(_ store: Int, _ model: any PersistentModel) -> Bool {
    isIn(store, model._$statePointer)
  }

  private func entity(of model: any PersistentModel) -> EntityLayout {
    layout.store.entities[Int(model._$statePointer.pointee.entity)]
  }

  /// Writes a store's part of the save to the open transaction.
  ///
  /// The order of the steps is the algorithm:
  ///
  /// 1. Rows are deleted, and changed objects give up their unique values, so that new rows can have these.
  /// 2. New objects get their numbers, all of them before the first is inserted: rows refer to each other, in any
  ///    direction.
  /// 3. Rows are inserted and updated.
  /// 4. One-to-one references that contradict the new ones are cleared.
  /// 5. Pairs of join tables are written, and then positions, which are read from the pairs and rows that are there.
  /// 6. What rows show is checked last, with the whole save in them: the numbers of members, and required references.
  ///    Then the changes are recorded for the history.
  mutating func write(to store: Int, _ connection: StoreConnection) throws {
    // Nothing carries over from the store that was written before: its numbers and owners mean nothing in this one's
    // tables.
    nextRows = Array(repeating: 0, count: layout.traits.count)
    drawnRoots = []
    pairNumbers = [:]
    countedLists = CountedLists(layout.store)
    try assignRows(of: store, connection)
    try insert(into: store, connection)
    try update(in: store, connection)
    try separate(in: store, connection)
    try writePairs(in: store, connection)
    try writePlaces(in: store, connection)
    try checkRelationships(in: store, connection)
    try noteChanges(in: store, connection)
    // A position was drawn from a table's numbers and is in no `_id` there, so only stead_sequence keeps it from
    // being given to a new row.
    for root in drawnRoots where !connection.numbersRowsByKey {
      try connection.retire(nextRows[root] - 1, table: layout.plans[root].tableLayout.name)
    }
    if !connection.numbersRowsByKey {
      for (table, pairs) in pairNumbers { try connection.retire(pairs.next - 1, table: table) }
    }
    // The next save then need not ask the table.
    for (root, next) in nextRows.enumerated() where next > 0 { connection.nextRows[root] = next }
  }

  /// Deletes rows, and gives new objects theirs.
  ///
  /// Also called alone, in a savepoint that is rolled back, to find out which objects would share a row.
  ///
  /// - Throws: `modelValidationFailure` if unique keys contradict each other.
  mutating func assignRows(of store: Int, _ connection: StoreConnection) throws {
    try delete(from: store, connection)
    try releaseUniqueValues(in: store, connection)
    try assignRows(in: store, connection)
  }

  /// Reads the next number of a join table, before this save deletes pairs of it: a number is a member's position,
  /// and is never given out twice, not even that of a deleted pair.
  ///
  /// Does nothing if the save has asked for this table before.
  private mutating func openPairs(_ table: String, _ connection: StoreConnection) throws {
    guard pairNumbers[table] == nil else { return }
    let next =
      try connection.numbersRowsByKey ? KeyNumber.next() : connection.nextNumber(in: table)
    pairNumbers[table] = (first: next, next: next)
  }

  /// Restores new objects' temporary numbers.
  func revert() {
    for (state, row) in zip(plan.states.inserted, temporaryRows) { state.pointee.rowID = row }
  }

  /// Records rows that were changed besides those of the plan's objects, by hierarchy.
  mutating func noteRows(_ rows: [Int: Set<Int64>]) {
    otherRows.merge(rows) { $0.union($1) }
  }

  /// Gives new objects a custom store's numbers for their rows.
  mutating func renumber(_ root: Int, _ numbers: [Int64: Int64]) {
    for state in plan.states.inserted where layout.traits[Int(state.pointee.entity)].root == root {
      if let number = numbers[state.pointee.rowID] { state.pointee.rowID = number }
    }
    otherRows[root] = otherRows[root].map { Set($0.map { numbers[$0] ?? $0 }) }
  }

  /// The new objects with their own rows, and the numbers that they had before.
  func newRows(in store: Int) -> [(model: any PersistentModel, temporary: Int64)] {
    zip(plan.inserted, temporaryRows).filter { model, _ in
      isIn(store, model) && !upserted.contains(ObjectIdentifier(model))
    }.map { (model: $0, temporary: $1) }
  }

  /// Records rows that were changed besides those of the plan's objects, and in which property.
  private mutating func noteRows(_ rows: [Int64], of entity: EntityLayout, _ property: Int?) {
    if rows.isEmpty { return }
    otherRows[entity.rootIndex, default: []].formUnion(rows)
    guard let property else { return }
    otherSides += rows.map { .init(entity: entity.index, property: property, row: $0) }
  }

  // MARK: Deletion

  /// Deletes the rows of deleted objects, with their pairs, the references to them that have no inverse, and, after
  /// the commit, their files.
  ///
  /// Invariant: afterwards no pair and no reference without an inverse leads to a deleted row; what else may lead
  /// there, the delete rules have put into the plan. The number of a deleted row is never reused: an identifier that
  /// the program has kept must not lead to a new object.
  private mutating func delete(from store: Int, _ connection: StoreConnection) throws {
    var roots: [Int: Int] = [:]
    var lastRoot = -1
    for state in plan.states.deleted where isIn(store, state) {
      let root = layout.traits[Int(state.pointee.entity)].root
      // Any class of the hierarchy will do. Objects of one hierarchy mostly follow each other, so its key is seldom
      // hashed.
      if root != lastRoot { roots[root] = Int(state.pointee.entity) }
      lastRoot = root
    }
    for (root, member) in roots {
      // Of a class that has objects here: a custom stage counts a class as used whose plan was made.
      let entityPlan = layout.plans[member]
      // Read before the deletion, which may take the row that has it.
      let newest = try connection.greatestRow(of: entityPlan)
      let isReferenced = !layout.store.oneWay[root].isEmpty
      // Then the row is all that an object leaves. The loop needs the states alone, so no object is retained.
      let isAlone = !isReferenced && !hasMoreThanRows(root)
      var rows: [Int64] = []
      for (place, state) in plan.states.deleted.enumerated()
      where layout.traits[Int(state.pointee.entity)].root == root && isIn(store, state) {
        // While the row is there: it says which lists lose a member.
        try countedLists.noteDeletion(of: state.pointee.rowID, root: root, connection)
        if !isAlone {
          let model = plan.deleted[place]
          let entity = entity(of: model)
          if layout.plans[entity.index].hasExternal { noteFiles(of: model, connection) }
          // First, since it notes the rows: their pairs may be in the table of one of the object's own lists.
          if isReferenced { try clearReferences(to: model, entity, in: store, connection) }
          for index in entity.joined {
            guard let join = entity.properties[index].joinTable else { continue }
            try openPairs(join.name, connection)
            try connection.deletePairs(join, owner: state.pointee.rowID)
          }
        }
        rows.append(state.pointee.rowID)
        try noteDeletion(state, at: place, connection)
      }
      // Together, not in the loop: consecutive numbers become one DELETE of a range (`RowRuns`).
      try connection.delete(rows, of: entityPlan)
      // A number is never reused, not even that of the newest row.
      if try connection.greatestRow(of: entityPlan) < newest {
        try connection.retire(newest, table: entityPlan.tableLayout.name)
      }
    }
  }

  /// Whether objects of a hierarchy have files or rows in join tables.
  private func hasMoreThanRows(_ root: Int) -> Bool {
    layout.store.entities.contains {
      $0.rootIndex == root && (!$0.joined.isEmpty || !$0.externalColumns.isEmpty)
    }
  }

  /// Clears what refers to a row by relationships without an inverse, which no rule of the deleted object clears: the
  /// owners need not be loaded, so rows are changed directly.
  private mutating func clearReferences(
    to model: any PersistentModel, _ entity: EntityLayout, in store: Int,
    _ connection: StoreConnection
  ) throws {
    let row = model._$statePointer.pointee.rowID
    for relationship in layout.store.oneWay[entity.rootIndex]
    where layout.storeIndex[relationship.entity] == store {
      let owner = layout.store.entities[relationship.entity]
      let property = owner.properties[relationship.property]
      if let join = property.joinTable {
        try openPairs(join.name, connection)
        noteRows(
          try connection.deletePairs(join, target: row), of: owner, property.index)
      } else if let column = property.column {
        noteRows(
          try connection.clearReferences(in: owner.table, column, to: row, of: owner.ownClass),
          of: owner, property.index)
      }
    }
  }

  /// Records the files of large values that a row refers to, before it is overwritten or deleted. They are removed
  /// after the commit, if no other row refers to them.
  private mutating func noteFiles(
    of model: any PersistentModel, _ connection: StoreConnection, changes: PropertySet? = nil
  ) {
    let entity = entity(of: model)
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
      let dropped = droppedFiles.filter { layout.storeIndex[$0.entity] == store }
      layout.stores[store].removeFiles(dropped.map(\.reference))
    }
  }

  // MARK: Rows

  /// Gives each new object a row number: a new one, or that of the row that has its unique values, which it then
  /// overwrites.
  ///
  /// Changed objects claim their values first. Their rows may lack them at this point, since `releaseUniqueValues`
  /// has taken them out and `update` writes them later, so a query for them would find nothing.
  private mutating func assignRows(in store: Int, _ connection: StoreConnection) throws {
    var constrained: [any PersistentModel] = []
    for (place, state) in plan.states.inserted.enumerated() where isIn(store, state) {
      let traits = layout.traits[Int(state.pointee.entity)]
      if traits.isConstrained {
        constrained.append(plan.inserted[place])
        continue
      }
      // No unique key, so no stored row can be the object's.
      state.pointee.rowID = try nextRow(traits.root, connection)
    }
    let changed = plan.updated.filter {
      isIn(store, $0) && layout.traits[Int($0._$statePointer.pointee.entity)].isConstrained
    }
    guard !constrained.isEmpty || !changed.isEmpty else { return }
    var keys = UniqueKeys(layout.contexts, connection)
    for model in changed { try keys.claim(model, entity(of: model)) }
    for model in constrained {
      let entity = entity(of: model)
      let row: Int64
      // A stored row, or the row of an earlier new object of this save that has the same values.
      if let found = try keys.row(of: model, entity) {
        row = found
        upserted.insert(ObjectIdentifier(model))
      } else {
        row = try nextRow(entity.rootIndex, connection)
        keys.claim(row, entity)
      }
      model._$statePointer.pointee.rowID = row
    }
  }

  /// A new row number of a hierarchy.
  private mutating func nextRow(_ root: Int, _ connection: StoreConnection) throws -> Int64 {
    // In a mirror each number also stands for a primary key of the custom store, and must not repeat in the process.
    if connection.numbersRowsByKey { return KeyNumber.next() }
    // The connection knows where its last save stopped, unless another program may have written since.
    if nextRows[root] == 0 {
      nextRows[root] =
        try connection.nextRows[root] ?? connection.nextNumber(of: layout.plans[root])
    }
    // Without a check: `StoreConnection.numberLimit` leaves more numbers than one save can use.
    defer { nextRows[root] += 1 }
    return nextRows[root]
  }

  /// Inserts the rows of new objects, and overwrites the rows of those whose unique values a row has.
  ///
  /// Invariant: afterwards each new object has a row of its number. Before a row is overwritten, its files, its
  /// owners and its members are recorded, for which the save has to account, too. Objects of one class mostly follow
  /// each other, so a statement is looked up and reset once for each run of them.
  private mutating func insert(into store: Int, _ connection: StoreConnection) throws {
    var insertion: RowInsertion?
    for model in plan.inserted where isIn(store, model) {
      let entity = Int(model._$statePointer.pointee.entity)
      // The row exists: it was stored, or the first object with its values has inserted it, earlier in this loop.
      if !upserted.isEmpty, upserted.contains(ObjectIdentifier(model)) {
        let entityPlan = layout.plans[entity]
        let changes = layout.keepsUniqueRows ? partners(of: model) : nil
        // The row keeps all of its values.
        if let changes, changes.isDisjoint(with: entityPlan.storedProperties) { continue }
        // What the row has now is read before the UPDATE below replaces it.
        noteFiles(of: model, connection, changes: changes)
        try noteOldOwners(of: model, changes, connection)
        try countedLists.noteWrite(
          of: model, entityPlan.entity, changes, stored: connection)
        let update = changes.map { entityPlan.update(changes: $0) } ?? entityPlan.updateAll
        try run(update, connection.statement(update.sql), model, entityPlan, connection)
        continue
      }
      if insertion?.entity != entity {
        insertion?.statement.reset()
        insertion = RowInsertion(
          entity: entity, plan: layout.plans[entity], context: layout.contexts[entity],
          statement: try connection.statement(layout.plans[entity].insert))
      }
      try countedLists.noteWrite(
        of: model, layout.plans[entity].entity, nil, stored: nil)
      try insertion?.run(model)
    }
    insertion?.statement.reset()
  }

  /// The one-to-one relationships in which an object has a partner.
  func partners(of model: any PersistentModel) -> PropertySet {
    let entity = entity(of: model)
    var result = PropertySet()
    for index in entity.relationships where isOneToOne(entity.properties[index]) {
      switch model.content(at: index) {
      case .toOne(.model), .toOne(.row): result.insert(index)
      default: break
      }
    }
    return result
  }

  /// Binds an object's values to an UPDATE, and runs it; returns whether the row exists.
  ///
  /// Slots bind without throwing. What one has recorded in the row context is thrown before anything is written.
  @discardableResult
  private func run(
    _ update: EntityPlan.Update, _ statement: SQLiteStatement, _ model: any PersistentModel,
    _ plan: EntityPlan, _ connection: StoreConnection
  ) throws -> Bool {
    let context = layout.contexts[plan.entity.index]
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

  /// Takes the unique values of changed objects out of their rows, so that they can trade places and
  /// new objects can have what old ones gave up; `update` writes the new values.
  private func releaseUniqueValues(in store: Int, _ connection: StoreConnection) throws {
    func isConstrained(_ state: State) -> Bool {
      isIn(store, state) && layout.traits[Int(state.pointee.entity)].isConstrained
    }
    guard plan.states.updated.contains(where: isConstrained) else { return }
    // One object alone cannot be in the way of another.
    let count = (plan.states.updated + plan.states.inserted).lazy.filter(isConstrained).prefix(2)
    guard count.count > 1 else { return }
    for model in plan.updated where isConstrained(model._$statePointer) {
      let entity = entity(of: model)
      let changes = model._$statePointer.pointee.changes
      let columns = Set(entity.uniqueConstraints.joined()).sorted().filter {
        changes.contains($0)
      }.compactMap { entity.properties[$0].column }
      guard !columns.isEmpty else { continue }
      // NULL is where a value can wait. SQLite checks a unique index with each row and not at the commit, and takes
      // NULLs as different from each other (https://sqlite.org/lang_createindex.html, Unique Indexes).
      try connection.clear(
        columns, in: entity.table, row: model._$statePointer.pointee.rowID)
    }
  }

  /// Writes the changed properties of changed objects; those that are not stored are left out.
  ///
  /// Invariant: only changed columns are written, so that another context's change of another property of the object
  /// stays.
  private mutating func update(in store: Int, _ connection: StoreConnection) throws {
    var current:
      (
        entity: Int32, changes: PropertySet, plan: EntityPlan, update: EntityPlan.Update,
        statement: SQLiteStatement
      )?
    for (place, state) in plan.states.updated.enumerated() where isIn(store, state) {
      let (entity, changes) = (state.pointee.entity, state.pointee.changes)
      // Objects of one class with the same changes mostly follow each other.
      if current?.entity != entity || current?.changes != changes {
        let entityPlan = layout.plans[Int(entity)]
        // A list alone has no column here: its pairs and positions are written after the rows.
        guard !changes.isDisjoint(with: entityPlan.storedProperties) else { continue }
        let update = entityPlan.update(changes: changes)
        let statement = try connection.statement(update.sql)
        current = (entity, changes, entityPlan, update, statement)
      }
      guard let current else { continue }
      let model = plan.updated[place]
      if current.plan.hasExternal { noteFiles(of: model, connection, changes: changes) }
      // If no other context has committed, the object itself knew its old owner, and has recorded it.
      if layout.readsOldRows { try noteOldOwners(of: model, changes, connection) }
      try countedLists.noteWrite(
        of: model, current.plan.entity, changes, stored: connection)
      // An UPDATE that finds no row: another process has deleted it, and the object leaves when the save is done.
      if try !run(current.update, current.statement, model, current.plan, connection) {
        vanished.append(model)
      }
    }
  }

  /// Records the owners that the row of an object has, for other contexts: by another context's commit, or an upsert,
  /// that may be one which the object never had in memory.
  private mutating func noteOldOwners(
    of model: any PersistentModel, _ changes: PropertySet?, _ connection: StoreConnection
  ) throws {
    let entity = entity(of: model)
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

  // MARK: Relationships

  /// Clears other objects' one-to-one references to an object's new destination, which other contexts, or the row of an
  /// upsert, may have set.
  private mutating func separate(in store: Int, _ connection: StoreConnection) throws {
    guard layout.traits.contains(where: \.hasOneToOne) else { return }
    for models in [plan.inserted, plan.updated] {
      for model in models
      where isIn(store, model)
        && layout.traits[Int(model._$statePointer.pointee.entity)].hasOneToOne
      {
        let entity = entity(of: model)
        for index in entity.relationships where isOneToOne(entity.properties[index]) {
          // All references of a new object are new to the store; of a stored object, those that were changed.
          let isNew = model.has(_ModelFlags.inserted)
          guard isNew || model._$statePointer.pointee.changes.contains(index) else { continue }
          try separate(model, entity, entity.properties[index], connection)
        }
      }
    }
  }

  /// Whether a to-one property has a to-one inverse, or one among several.
  private func isOneToOne(_ property: PropertyLayout) -> Bool {
    !property.isToMany
      && property.inverses(in: layout.store.entities).contains { !$0.isToMany }
  }

  /// Clears the references that contradict a one-to-one reference of an object: those of other rows to its
  /// destination, and those of its old partners to it.
  ///
  /// Invariant: afterwards at most one row of each side refers to the other. The rows are asked, because objects here
  /// only know the pair that this one has left: another context's commit, or the row of an upsert, may refer to one
  /// of the two as well.
  private mutating func separate(
    _ model: any PersistentModel, _ entity: EntityLayout, _ property: PropertyLayout,
    _ connection: StoreConnection
  ) throws {
    guard let destination = property.destination, let column = property.column else { return }
    let target = layout.store.entities[destination]
    let inverses = property.inverses(in: layout.store.entities)
    let list = model.list(at: property.index) ?? property.firstList
    // One of several lists may be a to-many relationship, which is stored in the other side's column.
    let held = inverses.first { $0.relationship?.list ?? list == list }
    let row = model._$statePointer.pointee.rowID
    var targetRow: Int64 = 0
    switch model.content(at: property.index) {
    case .toOne(.model(let other)): targetRow = other._$statePointer.pointee.rowID
    case .toOne(.row(let other)): targetRow = other
    default: break
    }
    // The former partners: rows that lead to this object by any inverse, except the new destination's own reference.
    for inverse in inverses {
      guard let inverseColumn = inverse.column else { continue }
      let number = property.relationship?.list
      let others = try connection.clearReferences(
        in: target.table, inverseColumn, to: row, of: target.ownRows(),
        except: inverse.index == held?.index ? max(targetRow, 0) : 0,
        list: inverse.listColumn.flatMap { column in number.map { (column, $0) } })
      noteRows(others, of: target, inverse.index)
    }
    // A to-many inverse allows any number of rows that lead to the destination.
    guard targetRow > 0, let held, !held.isToMany else { return }
    // Of the classes that the other side leads to.
    let owners = held.destination.map { layout.store.entities[$0] } ?? entity
    let others = try connection.clearReferences(
      in: entity.table, column, to: targetRow, of: owners.ownRows(), except: row,
      list: property.listColumn.map { ($0, list) })
    noteRows(others, of: entity, property.index)
  }

  /// Inserts and deletes rows of join tables, in the order of the changes, since a pair may have come and gone.
  private mutating func writePairs(in store: Int, _ connection: StoreConnection) throws {
    // Not in the plan: only the assignment of rows has shown which objects share one.
    let pairs = plan.pairs(upserted: upserted)
    for pair in pairs where stores.count == 1 || layout.storeIndex[pair.entity] == store {
      let owner = pair.owner._$statePointer.pointee.rowID
      let target = pair.target._$statePointer.pointee.rowID
      // An end that was deleted, or could not be inserted, has no row. The pairs of a deleted row were deleted with
      // it.
      guard owner > 0, target > 0, isAlive(pair.owner), isAlive(pair.target) else { continue }
      try openPairs(pair.table.name, connection)
      countedLists.notePair(of: pair.table, owner, target)
      if pair.isAdded {
        let number = drawPair(of: pair.table.name, connection)
        try connection.insertPair(pair.table, number, owner, target)
      } else {
        try connection.deletePair(pair.table, owner, target)
      }
    }
  }

  /// The number of a new pair of an opened join table.
  private mutating func drawPair(of table: String, _ connection: StoreConnection) -> Int64 {
    if connection.numbersRowsByKey { return KeyNumber.next() }
    let number = pairNumbers[table]?.next ?? 1
    pairNumbers[table]?.next = number + 1
    return number
  }

  /// Whether an object is in the context and stays.
  private func isAlive(_ model: any PersistentModel) -> Bool {
    model._$statePointer.pointee.home != nil && !model.has(_ModelFlags.deleted)
  }

  /// Gives new members of a relationship positions after the existing ones, and gives all members new positions if
  /// the order changed.
  ///
  /// A new row's position is its own number, which needs no write. Members are in the order in which they were added
  /// as long as these numbers rise; where one falls, all positions are assigned again.
  private mutating func writePlaces(in store: Int, _ connection: StoreConnection) throws {
    for side in plan.sides where isIn(store, side.owner) && isAlive(side.owner) {
      guard case .toMany(let storage, let destination) = side.property.kind else { continue }
      let owner = side.owner._$statePointer.pointee.rowID
      let entityPlan = layout.plans[destination]
      var isOrdered = side.isOrdered
      // Pairs need no such comparison: they are numbered as they are inserted, in the order of the additions. Where the
      // list's order is another one, its delta has an ordering.
      if case .inverse = storage {
        var last: Int64 = 0
        for member in onePerRow(side.additions) where isAlive(member) {
          let place = try self.place(of: member, storage, owner, connection)
          if place < last { isOrdered = true }
          last = place
        }
      }
      if isOrdered {
        try reorder(
          onePerRow(side.members), storage, entityPlan, owner, connection,
          from: firstPlace(in: storage, of: side.owner))
      }
    }
  }

  /// The members without those that share a row with an earlier one, which are objects of one unique key: a row has
  /// one position.
  private func onePerRow(_ members: [any PersistentModel]) -> [any PersistentModel] {
    if upserted.isEmpty { return members }
    var rows: Set<Int64> = []
    return members.filter { rows.insert($0._$statePointer.pointee.rowID).inserted }
  }

  /// The position of an object that was added to a relationship: its own number if it is new, else one that no row has
  /// or will have.
  private mutating func place(
    of member: any PersistentModel, _ storage: ToManyStorage, _ owner: Int64,
    _ connection: StoreConnection
  ) throws -> Int64 {
    let row = member._$statePointer.pointee.rowID
    if member.has(_ModelFlags.inserted), !upserted.contains(ObjectIdentifier(member)) {
      return row
    }
    let entityPlan = layout.plans[Int(member._$statePointer.pointee.entity)]
    let place = try drawPlace(storage, entityPlan, connection)
    try connection.setPlace(place, storage, entityPlan, owner: owner, member: row)
    return place
  }

  /// A position that no member has: the next number of the members' table, or of the pairs', which no row gets.
  ///
  /// From the numbers of rows and pairs, since a new one's number is its position: what is added later then comes after
  /// this.
  private mutating func drawPlace(
    _ storage: ToManyStorage, _ plan: EntityPlan, _ connection: StoreConnection
  ) throws -> Int64 {
    switch storage {
    case .inverse:
      let root = plan.entity.rootIndex
      let place = try nextRow(root, connection)
      drawnRoots.insert(root)
      return place
    case .join(let table, _, _):
      try openPairs(table, connection)
      return drawPair(of: table, connection)
    }
  }

  /// The greatest position that comes before all rows or pairs that are added later.
  private func greatestPlace(
    _ storage: ToManyStorage, _ plan: EntityPlan, _ connection: StoreConnection
  ) throws -> Int64 {
    // The numbers of a mirror are the process's, and no other program writes it.
    if connection.numbersRowsByKey { return .max }
    // What this save has drawn is in stead_sequence only at its end.
    switch storage {
    case .inverse:
      let drawn = nextRows[plan.entity.rootIndex] - 1
      return try max(connection.lastNumber(in: plan.tableLayout.name), drawn)
    case .join(let table, _, _):
      let drawn = (pairNumbers[table]?.next ?? 0) - 1
      return try max(connection.lastNumber(in: table), drawn)
    }
  }

  /// The first position that this save assigns in a relationship of a new object whose row another object has, too:
  /// existing members keep their positions.
  private func firstPlace(
    in storage: ToManyStorage, of owner: any PersistentModel
  ) -> Int64 {
    guard upserted.contains(ObjectIdentifier(owner)), case .join(let table, _, _) = storage else {
      return 0
    }
    return pairNumbers[table]?.first ?? 0
  }

  /// Assigns the positions that the members have to them in another order, so that no new numbers are needed, and
  /// rows that keep their position are not written.
  ///
  /// Invariant: afterwards the positions rise from each member to the next one, and to what is added later. Equal ones
  /// cannot, nor those beyond the numbers that are given out. Only another program writes such positions: then all
  /// members get new numbers.
  ///
  /// - Parameter first: Members with a place before this one keep it.
  private mutating func reorder(
    _ members: [any PersistentModel], _ storage: ToManyStorage, _ plan: EntityPlan, _ owner: Int64,
    _ connection: StoreConnection, from first: Int64
  ) throws {
    let places = try connection.places(storage, plan, owner: owner).filter { $0.value >= first }
    let rows = members.map { $0._$statePointer.pointee.rowID }.filter { places[$0] != nil }
    var free = rows.compactMap { places[$0] }.sorted()
    if try Set(free).count < free.count || free.last ?? 0 > greatestPlace(storage, plan, connection)
    {
      for index in free.indices { free[index] = try drawPlace(storage, plan, connection) }
    }
    for (row, place) in zip(rows, free) where places[row] != place {
      try connection.setPlace(place, storage, plan, owner: owner, member: row)
    }
  }
}
