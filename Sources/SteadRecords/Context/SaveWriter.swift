import Foundation

/// Writes one save's rows, and remembers what must be undone when it fails.
struct SaveWriter {
  let graph: ObjectGraph
  let inserted: [any PersistentModel]
  let changed: [any PersistentModel]
  let deleted: [any PersistentModel]
  /// The objects' states. What needs no more than these goes through them, so that the objects'
  /// references are not counted up and down; the arrays above keep them alive.
  let states: (inserted: [State], changed: [State], deleted: [State])
  typealias State = UnsafeMutablePointer<_ModelState>
  /// New objects whose unique values belong to a row that is there.
  private(set) var upserted: Set<ObjectIdentifier> = []
  /// Changed objects whose row another process deleted.
  private(set) var vanished: [any PersistentModel] = []
  /// The stores that have something to write.
  let stores: [RecordStore]
  /// The numbers that the new objects had before.
  private let temporaryRows: [Int64]
  private var droppedFiles: [(entity: Int, reference: String)] = []

  init(graph: ObjectGraph) {
    self.graph = graph
    inserted = Self.pick(graph.inserted) {
      $0.has(_ModelFlags.inserted) && !$0.has(_ModelFlags.deleted)
    }
    changed = Self.pick(graph.changed) {
      $0.has(_ModelFlags.changed) && !$0.has(_ModelFlags.deleted)
    }
    deleted = Self.pick(graph.deleted) {
      $0.has(_ModelFlags.deleted) && $0._$statePointer.pointee.rowID > 0
    }
    states = (
      inserted.map { $0._$statePointer }, changed.map { $0._$statePointer },
      deleted.map { $0._$statePointer }
    )
    temporaryRows = states.inserted.map { $0.pointee.rowID }
    stores = Self.stores(graph, [states.inserted, states.changed, states.deleted])
  }

  /// The models that pass; the array itself when all do, which is the rule.
  private static func pick(
    _ models: [any PersistentModel], _ test: (any PersistentModel) -> Bool
  ) -> [any PersistentModel] {
    models.allSatisfy(test) ? models : models.filter(test)
  }

  private static func stores(
    _ graph: ObjectGraph, _ lists: [[State]]
  ) -> [RecordStore] {
    if graph.container.stores.count == 1 { return graph.container.stores }
    var isUsed = Array(repeating: false, count: graph.traits.count)
    for state in lists.joined() { isUsed[Int(state.pointee.entity)] = true }
    for pair in graph.pairs { isUsed[pair.store] = true }
    return graph.container.stores.filter { store in
      isUsed.indices.contains { isUsed[$0] && graph.stores[$0] === store }
    }
  }

  private func isIn(_ store: RecordStore, _ model: any PersistentModel) -> Bool {
    isIn(store, model._$statePointer)
  }

  private func isIn(_ store: RecordStore, _ state: State) -> Bool {
    stores.count == 1 || graph.stores[Int(state.pointee.entity)] === store
  }

  mutating func write(to store: RecordStore, _ connection: Connection) throws {
    try delete(from: store, connection)
    try releaseUniqueValues(in: store, connection)
    try assignRows(in: store, connection)
    try insert(into: store, connection)
    try update(in: store, connection)
    try writePairs(in: store, connection)
    try writeOrders(in: store, connection)
  }

  /// Gives new objects their temporary numbers back.
  func revert() {
    for (state, row) in zip(states.inserted, temporaryRows) { state.pointee.rowID = row }
  }

  // MARK: Deletion

  private mutating func delete(from store: RecordStore, _ connection: Connection) throws {
    let traits = graph.traits
    var roots = Set<Int>()
    for state in states.deleted where isIn(store, state) {
      roots.insert(traits[Int(state.pointee.entity)].root)
    }
    for root in roots {
      let plan = graph.plans[root]
      let newest = try connection.integer("SELECT max(\"_id\") FROM \(plan.table)") ?? 0
      let isReferenced = !graph.layout.oneWay[root].isEmpty
      let isAlone = !isReferenced && !hasMoreThanRows(root)
      let statement = try connection.statement(plan.delete)
      for (place, state) in states.deleted.enumerated()
      where traits[Int(state.pointee.entity)].root == root && isIn(store, state) {
        if !isAlone {
          let model = deleted[place]
          let entity = graph.entity(of: model)
          if graph.plans[entity.index].hasExternal { noteFiles(of: model, entity, connection) }
          if !entity.joined.isEmpty { try deletePairs(of: model, entity, connection) }
          if isReferenced { try clearReferences(to: model, entity, in: store, connection) }
        }
        statement.bind(state.pointee.rowID, at: 1)
        try statement.run()
      }
      // A number is never given out twice, not even that of the newest row.
      let left = try connection.integer("SELECT max(\"_id\") FROM \(plan.table)") ?? 0
      if left < newest {
        try connection.run(
          "INSERT INTO stead_sequence VALUES (?1, ?2) "
            + "ON CONFLICT DO UPDATE SET last = max(last, excluded.last)",
          [.text(plan.tableLayout.name), .integer(newest)])
      }
    }
  }

  /// Whether objects of a hierarchy have files or rows in join tables.
  private func hasMoreThanRows(_ root: Int) -> Bool {
    graph.layout.entities.contains {
      $0.rootIndex == root && (!$0.joined.isEmpty || graph.plans[$0.index].hasExternal)
    }
  }

  private func deletePairs(
    of model: any PersistentModel, _ entity: EntityLayout, _ connection: Connection
  ) throws {
    for index in entity.joined {
      guard let join = entity.properties[index].joinTable else { continue }
      try connection.run(
        "DELETE FROM \(quoted(join.name)) WHERE \(join.owner) = ?1",
        [.integer(model._$statePointer.pointee.rowID)])
    }
  }

  /// Clears what refers to a row without the row's knowing of it.
  private func clearReferences(
    to model: any PersistentModel, _ entity: EntityLayout, in store: RecordStore,
    _ connection: Connection
  ) throws {
    let row = SQLValue.integer(model._$statePointer.pointee.rowID)
    for relationship in graph.layout.oneWay[entity.rootIndex]
    where graph.stores[relationship.entity] === store {
      let owner = graph.layout.entities[relationship.entity]
      let property = owner.properties[relationship.property]
      if let join = property.joinTable {
        try connection.run("DELETE FROM \(quoted(join.name)) WHERE \(join.target) = ?1", [row])
      } else if let column = property.column, property.relationship?.deleteRule != .noAction {
        try connection.run(
          "UPDATE \(quoted(owner.table)) SET \(quoted(column)) = NULL WHERE \(quoted(column)) = ?1",
          [row])
      }
    }
  }

  /// Notes the files of large values that a row refers to.
  private mutating func noteFiles(
    of model: any PersistentModel, _ entity: EntityLayout, _ connection: Connection,
    changes: UInt64 = .max
  ) {
    for property in entity.properties where changes & ModelExtra.bit(property.index) != 0 {
      guard case .attribute(.external) = property.kind, let column = property.column else {
        continue
      }
      let rows = try? connection.rows(
        "SELECT \(quoted(column)) FROM \(quoted(entity.table)) WHERE \"_id\" = ?1",
        [.integer(model._$statePointer.pointee.rowID)])
      if case .text(let reference)? = rows?.first?.first {
        droppedFiles.append((entity.index, reference))
      }
    }
  }

  /// Removes the files that no row refers to any more.
  func removeUnusedFiles() {
    for (index, reference) in droppedFiles {
      graph.stores[index].removeFile(reference, unlessUsedIn: graph.layout)
    }
  }

  // MARK: Rows

  private mutating func assignRows(in store: RecordStore, _ connection: Connection) throws {
    var next = [Int64](repeating: 0, count: graph.traits.count)
    var constrained: [any PersistentModel] = []
    let allTraits = graph.traits
    for (place, state) in states.inserted.enumerated() where isIn(store, state) {
      let traits = allTraits[Int(state.pointee.entity)]
      if traits.isConstrained {
        constrained.append(inserted[place])
        continue
      }
      state.pointee.rowID = try nextRow(traits.root, &next, connection)
    }
    guard !constrained.isEmpty else { return }
    var keys = UniqueKeys(graph: graph, store: store, connection: connection)
    for model in constrained {
      let entity = graph.entity(of: model)
      if let row = try keys.row(of: model, entity) {
        upserted.insert(ObjectIdentifier(model))
        model._$statePointer.pointee.rowID = row
      } else {
        let row = try nextRow(entity.rootIndex, &next, connection)
        keys.claim(row)
        model._$statePointer.pointee.rowID = row
      }
    }
  }

  /// A new row number of a hierarchy; `next` holds those to come, and 0 where the table was not asked.
  private func nextRow(
    _ root: Int, _ next: inout [Int64], _ connection: Connection
  ) throws -> Int64 {
    if next[root] > 0 {
      defer { next[root] += 1 }
      return next[root]
    }
    let plan = graph.plans[root]
    let row = (try connection.integer(plan.newest) ?? 0) + 1
    next[root] = row + 1
    return row
  }

  private mutating func insert(into store: RecordStore, _ connection: Connection) throws {
    var insertion: Insertion?
    for model in inserted where isIn(store, model) {
      let entity = Int(model._$statePointer.pointee.entity)
      if !upserted.isEmpty, upserted.contains(ObjectIdentifier(model)) {
        try overwrite(model, graph.plans[entity], connection)
        continue
      }
      if insertion?.entity != entity {
        insertion = Insertion(
          entity: entity, plan: graph.plans[entity], context: graph.rowContexts[entity],
          statement: try connection.statement(graph.plans[entity].insert))
      }
      try insertion?.run(model)
    }
    insertion?.statement.reset()
  }

  /// The statement that inserts objects of one class.
  private struct Insertion {
    let entity: Int
    let plan: EntityPlan
    let context: RowContext
    let statement: Statement

    func run(_ model: any PersistentModel) throws {
      let row = model._$statePointer.pointee.rowID
      context.row = row
      statement.reset()
      statement.bind(row, at: 1)
      if let discriminator = plan.entity.discriminator {
        statement.bind(Int64(discriminator), at: 2)
      }
      model._$bind(
        _RowWriter(
          statement: statement.pointer, parameters: plan.insertParameters,
          context: .passUnretained(context)))
      if context.error != nil { try context.throwIfRejected() }
      _ = try statement.step()
    }
  }

  /// Gives a row that is there all values of a new object.
  private mutating func overwrite(
    _ model: any PersistentModel, _ plan: EntityPlan, _ connection: Connection
  ) throws {
    noteFiles(of: model, plan.entity, connection)
    let update = plan.updateAll
    try run(update, connection.statement(update.sql), model, plan, connection)
  }

  @discardableResult
  private func run(
    _ update: EntityPlan.Update, _ statement: Statement, _ model: any PersistentModel,
    _ plan: EntityPlan, _ connection: Connection
  ) throws -> Bool {
    let context = graph.rowContexts[plan.entity.index]
    let row = model._$statePointer.pointee.rowID
    context.row = row
    statement.reset()
    model._$bind(
      _RowWriter(
        statement: statement.pointer, parameters: update.parameters,
        context: .passUnretained(context)))
    statement.bind(row, at: update.idParameter)
    if context.error != nil { try context.throwIfRejected() }
    try statement.run()
    return connection.changedRows > 0
  }

  /// Takes the unique values of changed objects out of their rows, so that they can trade places and
  /// new objects can have what old ones gave up; `update` writes the new values.
  private func releaseUniqueValues(in store: RecordStore, _ connection: Connection) throws {
    guard !changed.isEmpty, graph.traits.contains(where: \.isConstrained) else { return }
    let constrained = (changed + inserted).filter {
      isIn(store, $0) && !graph.entity(of: $0).uniqueConstraints.isEmpty
    }
    // One object alone cannot be in the way of another.
    guard constrained.count > 1 else { return }
    for model in constrained where model.has(_ModelFlags.changed) {
      let entity = graph.entity(of: model)
      let changes = model._$statePointer.pointee.changes
      let columns = Set(entity.uniqueConstraints.joined()).sorted().filter {
        changes & ModelExtra.bit($0) != 0
      }.compactMap { entity.properties[$0].column }
      guard !columns.isEmpty else { continue }
      let assignments = columns.map { "\(quoted($0)) = NULL" }.joined(separator: ", ")
      try connection.run(
        "UPDATE \(quoted(entity.table)) SET \(assignments) WHERE \"_id\" = ?1",
        [.integer(model._$statePointer.pointee.rowID)])
    }
  }

  private mutating func update(in store: RecordStore, _ connection: Connection) throws {
    var current: (plan: EntityPlan, changes: UInt64, update: EntityPlan.Update, Statement)?
    for model in changed where isIn(store, model) {
      let plan = graph.plans[Int(model._$statePointer.pointee.entity)]
      let changes = model._$statePointer.pointee.changes
      guard changes & plan.columnBits != 0 else { continue }
      if plan.hasExternal { noteFiles(of: model, plan.entity, connection, changes: changes) }
      if current?.plan !== plan || current?.changes != changes {
        let update = plan.update(changes: changes)
        current = (plan, changes, update, try connection.statement(update.sql))
      }
      guard let (_, _, update, statement) = current else { continue }
      if try !run(update, statement, model, plan, connection) { vanished.append(model) }
    }
  }

  // MARK: Relationships

  private func writePairs(in store: RecordStore, _ connection: Connection) throws {
    for pair in graph.pairs where graph.stores[pair.store] === store {
      let owner = pair.owner._$statePointer.pointee.rowID
      let target = pair.target._$statePointer.pointee.rowID
      guard owner > 0, target > 0, !pair.owner.has(_ModelFlags.deleted),
        !pair.target.has(_ModelFlags.deleted)
      else { continue }
      let (table, values) = (quoted(pair.table.name), [SQLValue.integer(owner), .integer(target)])
      let columns = "\(pair.table.owner), \(pair.table.target)"
      if pair.isAdded {
        try connection.run("INSERT OR IGNORE INTO \(table) (\(columns)) VALUES (?1, ?2)", values)
      } else {
        try connection.run(
          "DELETE FROM \(table) WHERE \(pair.table.owner) = ?1 AND \(pair.table.target) = ?2",
          values)
      }
    }
  }

  private func writeOrders(in store: RecordStore, _ connection: Connection) throws {
    for (model, index) in graph.clearedOrders where isIn(store, model) {
      guard let column = graph.entity(of: model).properties[index].column else { continue }
      let order = quoted(TableLayout.orderColumn(of: column))
      try connection.run(
        "UPDATE \(quoted(graph.entity(of: model).table)) SET \(order) = NULL "
          + "WHERE \"_id\" = ?1 AND \(order) IS NOT NULL",
        [.integer(model._$statePointer.pointee.rowID)])
    }
    for (owner, index) in graph.reordered where isIn(store, owner) {
      try writeOrder(of: owner, graph.entity(of: owner).properties[index], connection)
    }
  }

  private func writeOrder(
    of owner: any PersistentModel, _ property: PropertyLayout, _ connection: Connection
  ) throws {
    guard case .toMany(let storage, let destination) = property.kind,
      !owner.has(_ModelFlags.deleted)
    else { return }
    let target = graph.layout.entities[destination]
    let row = SQLValue.integer(owner._$statePointer.pointee.rowID)
    for (place, model) in graph.targets(of: owner, property).enumerated() {
      let values = [.integer(Int64(place)), .integer(model._$statePointer.pointee.rowID), row]
      switch storage {
      case .inverse(let toOne):
        let column = target.properties[toOne].column ?? ""
        try connection.run(
          "UPDATE \(quoted(target.table)) SET \(quoted(TableLayout.orderColumn(of: column))) = ?1 "
            + "WHERE \"_id\" = ?2 AND \(quoted(column)) = ?3", values)
      case .join(let table, let ownerColumn, let targetColumn):
        try connection.run(
          "UPDATE \(quoted(table)) SET \(ownerColumn)_order = ?1 "
            + "WHERE \(targetColumn) = ?2 AND \(ownerColumn) = ?3", values)
      }
    }
  }

  /// What was written; good for as long as the writer is.
  func summary() -> SaveSummary {
    if upserted.isEmpty {
      return SaveSummary(
        graph: graph, inserted: states.inserted, updated: states.changed, deleted: states.deleted)
    }
    func split(_ isUpserted: Bool) -> [State] {
      inserted.filter { upserted.contains(ObjectIdentifier($0)) == isUpserted }
        .map { $0._$statePointer }
    }
    return SaveSummary(
      graph: graph, inserted: split(false), updated: states.changed + split(true),
      deleted: states.deleted)
  }
}
