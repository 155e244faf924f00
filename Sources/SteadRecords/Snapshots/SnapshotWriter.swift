import SteadFormats
import SteadSQLite

/// Brings the rows of a mirror up to snapshots of a custom store, and records which rows that changed.
///
/// A snapshot has its object's side of each relationship, and two snapshots may contradict each other. So each kind
/// of relationship has one side that decides:
///
/// - The destination of a to-one relationship decides who the members of its inverse are. The snapshot with the
///   to-many side decides their order, and adds members whose own side leads nowhere.
/// - Of a many-to-many relationship the snapshot that was written last decides both sides.
///
/// First every snapshot is written with ``write(_:of:)``, then ``finish()`` sets the lists, whose members' rows exist
/// by then.
struct SnapshotWriter {
  /// A row at the other end of a relationship that changed; its object has to be fetched from the custom store, too.
  typealias AffectedRow = (entity: EntityLayout, row: Int64)

  let layout: StoreLayout
  let plans: [EntityPlan.Lazy?]
  let connection: StoreConnection
  /// The rows that were written, by hierarchy.
  private(set) var written: [Int: Set<Int64>] = [:]
  /// The rows that were deleted, by hierarchy.
  private(set) var deleted: [Int: Set<Int64>] = [:]
  /// The lists to set in ``finish()``.
  private var lists: [List] = []
  private let defaults = PropertyDefaults()

  /// The members of a relationship as a snapshot has them: of a to-many one, or of one of several that share an
  /// inverse.
  ///
  /// It waits for ``finish()``, since rows of its members may be written by later snapshots.
  private struct List {
    let entity: EntityLayout
    let property: PropertyLayout
    let storage: ToManyStorage
    let owner: Int64
    let members: [Int64]
  }

  init(_ layout: StoreLayout, _ plans: [EntityPlan.Lazy?], _ connection: StoreConnection) {
    self.layout = layout
    self.plans = plans
    self.connection = connection
  }

  /// Writes an object's attributes and to-one relationships.
  ///
  /// A property that the snapshot lacks keeps what the row has; so does a default value that was made for the object
  /// when its row was written. Only columns that differ are written, so that a snapshot without changes is no commit.
  ///
  /// - Returns: The rows at the other ends of relationships that changed, before and afterwards.
  /// - Throws: ``SwiftDataError`` `.unreadableValue` if the snapshot has values that the model cannot take.
  mutating func write(_ values: SnapshotValues, of entity: EntityLayout) throws -> [AffectedRow] {
    guard let plan = plans[entity.index]?.plan else { return [] }
    let row = values.identifier.row
    // An object that belongs to no context carries the values to the row writer, which binds them as a save does.
    let model = entity.type.init(_row: .empty)
    model._$statePointer.pointee.rowID = row
    let gaps = try SlotFiller.fill(
      model, of: entity, with: values, defaults, keepsUnreadable: true
    ) { [connection] in Self.fields(of: $0, entity, row, connection) }
    // What was made for the object when its row was written stays.
    var (affected, unspecified): ([AffectedRow], Set<Int>) = ([], gaps.generated)
    for index in entity.relationships {
      let property = entity.properties[index]
      guard values.has(property.name) else {
        // The column of a to-one relationship; a to-many one has none, and stays as the other side has it.
        if !property.isToMany { unspecified.insert(index) }
        continue
      }
      // Checked before anything is written: an identifier of another store would become a wrong
      // reference.
      let targets = try targets(of: property, entity, values)
      if case .toMany(let storage, _) = property.kind {
        let list = List(
          entity: entity, property: property, storage: storage, owner: row, members: targets)
        lists.append(list)
        affected += try newMembers(of: list)
      } else {
        model.setContent(.toOne(targets.first.map { .row($0) } ?? .none), at: index)
        // For one of several relationships that share an inverse, the destination's row must record which one it is.
        if property.relationship?.list != nil, let inverse = property.relationship?.inverse {
          lists.append(
            List(
              entity: entity, property: property, storage: .inverse(toOneProperty: inverse),
              owner: row,
              members: targets))
        }
      }
    }
    // Read before the row is written: both the former and the new destination are affected by a change.
    let before = try references(of: entity, row)
    if before == nil {
      try insert(model, entity, plan, gaps.unreadable)
    } else if try !update(model, entity, plan, gaps.unreadable, excluding: unspecified) {
      return affected
    }
    markWritten(row, entity.rootIndex)
    let after = try references(of: entity, row) ?? [:]
    for (index, target) in after where before?[index] != target {
      guard let destination = entity.properties[index].destination else { continue }
      // 0 stands for no destination.
      for row in [before?[index] ?? 0, target] where row > 0 {
        markWritten(row, layout.entities[destination].rootIndex)
        affected.append((layout.entities[destination], row))
      }
    }
    return affected
  }

  /// Records that a row was written.
  private mutating func markWritten(_ row: Int64, _ root: Int) {
    written[root, default: []].insert(row)
  }

  /// The primary keys of a relationship's destinations.
  ///
  /// - Throws: ``SwiftDataError`` `.unreadableValue` for an identifier that is temporary, or of another store or
  ///   hierarchy.
  private func targets(
    of property: PropertyLayout, _ entity: EntityLayout, _ values: SnapshotValues
  ) throws -> [Int64] {
    guard let destination = property.destination else { return [] }
    let root = layout.entities[destination].rootIndex
    return try values.identifiers(of: property.name).map { identifier in
      guard identifier.row > 0, let found = layout.entity(named: identifier.entityName),
        found.rootIndex == root, identifier.storeIdentifier == values.identifier.storeIdentifier
      else {
        throw SwiftDataError(
          .unreadableValue,
          "\(entity.name).\(property.name) of a snapshot leads to \(identifier.entityName) in store "
            + "\(identifier.storeIdentifier ?? "(none)"), where it cannot lead. Have the store map temporary "
            + "identifiers to its own with copy(persistentIdentifier:remappedIdentifiers:).")
      }
      return identifier.row
    }
  }

  // MARK: - Rows

  /// The fields of a struct in a row; nil if the row does not exist.
  private static func fields(
    of property: PropertyLayout, _ entity: EntityLayout, _ row: Int64, _ connection: StoreConnection
  ) -> JSONValue? {
    guard let column = property.column?.sqlName else { return nil }
    // Where this fails, so does what is done with the row next.
    let rows = try? connection.rows(
      "SELECT \(column) FROM \(entity.table.sqlName) WHERE \"_id\" = ?1", [.integer(row)])
    return ValueReader.fields(of: rows?.first?.first)
  }

  /// The destinations of a row's to-one relationships by property, 0 for none; nil if the row does not exist.
  private func references(of entity: EntityLayout, _ row: Int64) throws -> [Int: Int64]? {
    let indices = entity.relationships.filter { entity.properties[$0].column != nil }
    let columns = indices.compactMap { entity.properties[$0].column?.sqlName }
    let kind = entity.discriminator == nil ? "1" : "\"_entity\""
    let found = try connection.rows(
      "SELECT \(([kind] + columns).joined(separator: ", ")) FROM \(entity.table.sqlName) "
        + "WHERE \"_id\" = ?1", [.integer(row)])
    guard let first = found.first else { return nil }
    // A mirror's row has the object's primary key, which the custom store has to assign once in a hierarchy.
    if let discriminator = entity.discriminator, first[0] != .integer(Int64(discriminator)) {
      throw SwiftDataError(
        .unreadableValue,
        "Two snapshots have the same primary key, one an object of \(entity.name) and one of another class of its hierarchy. "
          + "Give the objects of a hierarchy unique keys.")
    }
    let targets = first.dropFirst().map { if case .integer(let row) = $0 { row } else { Int64(0) } }
    return Dictionary(uniqueKeysWithValues: zip(indices, targets))
  }

  /// Inserts an object's row.
  private func insert(
    _ model: any PersistentModel, _ entity: EntityLayout, _ plan: EntityPlan,
    _ unreadable: [Int: SQLValue]
  ) throws {
    let statement = try connection.statement(plan.insert)
    defer { statement.reset() }
    let insertion = RowInsertion(
      entity: entity.index, plan: plan, context: RowContext(labels: entity.labels),
      statement: statement)
    try insertion.run(model, unreadable)
  }

  /// Updates the columns of a row that differ from the object, in one statement; returns whether any did.
  ///
  /// - Parameter unspecified: The properties whose columns stay as they are.
  private func update(
    _ model: any PersistentModel, _ entity: EntityLayout, _ plan: EntityPlan,
    _ unreadable: [Int: SQLValue], excluding unspecified: Set<Int>
  ) throws -> Bool {
    // The row writer skips a property whose parameter is 0, so the columns that stay need no value.
    let map = PropertyMap(count: entity.properties.count, empty: 0)
    let row = entity.properties.count + 1
    var (assignments, tests): ([String], [String]) = ([], [])
    for property in entity.properties where !unspecified.contains(property.index) {
      guard let column = property.column?.sqlName else { continue }
      map.places[property.index] = Int32(property.index + 1)
      assignments.append("\(column) = ?\(property.index + 1)")
      // IS NOT compares NULL as a value, which `<>` does not.
      tests.append("\(column) IS NOT ?\(property.index + 1)")
    }
    // Nothing is specified, or the class has no columns: there is no statement to run.
    guard !tests.isEmpty else { return false }
    let statement = try connection.statement(
      "UPDATE \(plan.table) SET \(assignments.joined(separator: ", ")) WHERE \"_id\" = ?\(row) "
        + "AND (\(tests.joined(separator: " OR ")))")
    statement.reset()
    defer { statement.reset() }
    let context = RowContext(labels: entity.labels)
    model._$bind(
      _RowWriter(
        statement: statement.pointer, parameters: UnsafePointer(map.places),
        context: .passUnretained(context)))
    try context.throwIfRejected()
    for (index, value) in unreadable { statement.bind(value, at: Int32(index + 1)) }
    statement.bind(model._$statePointer.pointee.rowID, at: Int32(row))
    try statement.run()
    // 0 if the row had all of these values: the condition compares each column.
    return connection.changedRows > 0
  }

  /// Deletes rows of a hierarchy, with the pairs of their many-to-many relationships.
  mutating func delete(_ rows: [Int64], of root: EntityLayout) throws {
    guard !rows.isEmpty, let plan = plans[root.index]?.plan else { return }
    for entity in layout.entities where entity.rootIndex == root.index {
      for join in entity.joined.compactMap({ entity.properties[$0].joinTable }) {
        for row in rows { try connection.deletePairs(join, owner: row) }
      }
    }
    // The lists that the rows were in are read again.
    for row in rows {
      guard let entity = try connection.entity(of: row, in: root, layout) else { continue }
      for (index, target) in try references(of: entity, row) ?? [:] where target > 0 {
        guard let destination = entity.properties[index].destination else { continue }
        markWritten(target, layout.entities[destination].rootIndex)
      }
    }
    // After the references were read: the rows that they lead to are in them alone.
    try connection.delete(rows, of: plan)
    written[root.index, default: []].formUnion(rows)
    deleted[root.index, default: []].formUnion(rows)
  }

  // MARK: - Lists

  /// The present members of a list, in order.
  private func members(of list: List) throws -> [Int64] {
    guard let destination = list.property.destination, let plan = plans[destination]?.plan else {
      return []
    }
    let query = ToManyQuery(list.storage, list.property.relationship?.list, plan, isSingle: true)
    let statement = try connection.statement(query.sql)
    statement.reset()
    defer { statement.reset() }
    statement.bind(list.owner, at: 1)
    var found: [(row: Int64, position: Int64)] = []
    while try statement.step() {
      found.append((statement.integer(0), query.ownership(in: statement).position))
    }
    return found.sorted { $0.position < $1.position }.map(\.row)
  }

  /// The destinations that a snapshot adds to a list or removes from it; empty if the list is as the snapshot has it.
  private mutating func newMembers(of list: List) throws -> [AffectedRow] {
    let current = try members(of: list)
    guard current != list.members, let destination = list.property.destination else { return [] }
    markWritten(list.owner, list.entity.rootIndex)
    return Set(current).symmetricDifference(list.members).map { (layout.entities[destination], $0) }
  }

  /// Sets all lists as the snapshots have them. Call it once all rows exist: `claim` updates the members' rows, and
  /// would miss one that a later snapshot of the same answer inserts.
  ///
  /// Members first, positions afterwards: ``ToManyQuery`` only returns members, so that a position of one that was not
  /// claimed yet would be lost.
  mutating func finish() throws {
    for list in lists {
      guard let destination = list.property.destination, let plan = plans[destination]?.plan else {
        continue
      }
      switch list.storage {
      case .inverse(let toOne): try claim(list, plan, plan.entity.properties[toOne])
      case .join(let table, let owner, let target):
        try setPairs(list, JoinTable(name: table, owner: owner, target: target), plan.entity)
      }
      if list.property.isToMany { try order(list, plan) }
    }
    lists = []
  }

  /// Adds members to a list whose own to-one relationship leads nowhere, or to the same owner by another list. Those
  /// that lead to another owner stay there: their side decides.
  private mutating func claim(_ list: List, _ plan: EntityPlan, _ toOne: PropertyLayout) throws {
    guard let column = toOne.column?.sqlName else { return }
    var assignments = "\(column) = ?1"
    var test = "\(column) IS NULL"
    if let listColumn = toOne.listColumn?.sqlName, let number = list.property.relationship?.list {
      assignments += ", \(listColumn) = \(number)"
      test += " OR (\(column) = ?1 AND ifnull(\(listColumn), 0) <> \(number))"
    }
    for member in list.members {
      try connection.run(
        "UPDATE \(plan.table) SET \(assignments) WHERE \"_id\" = ?2 AND (\(test))",
        [.integer(list.owner), .integer(member)])
      if connection.changedRows > 0 {
        markWritten(member, plan.entity.rootIndex)
        markWritten(list.owner, list.entity.rootIndex)
      }
    }
  }

  /// Sets the pairs of a many-to-many relationship.
  private mutating func setPairs(
    _ list: List, _ join: JoinTable, _ destination: EntityLayout
  ) throws {
    let current = Set(
      try connection.rows(
        "SELECT \(join.target) FROM \(join.name.sqlName) WHERE \(join.owner) = ?1",
        [.integer(list.owner)]
      ).compactMap { if case .integer(let row)? = $0.first { row } else { Int64?.none } })
    let wanted = Set(list.members)
    // Compared as sets: the order is written by `order`, which changes positions and no pairs.
    guard current != wanted else { return }
    markWritten(list.owner, list.entity.rootIndex)
    // Pairs that stay keep their numbers, and with them their positions in the other side's list.
    for member in current.subtracting(wanted) {
      try connection.deletePair(join, list.owner, member)
      markWritten(member, destination.rootIndex)
    }
    for member in list.members where !current.contains(member) {
      try connection.insertPair(join, KeyNumber.next(), list.owner, member)
      markWritten(member, destination.rootIndex)
    }
  }

  /// Gives the members of a list their positions in the snapshot. Members that the snapshot lacks come last, in their
  /// present order.
  private mutating func order(_ list: List, _ plan: EntityPlan) throws {
    let current = try members(of: list)
    let present = Set(current)
    let known = Set(list.members)
    let wanted =
      list.members.filter { present.contains($0) } + current.filter { !known.contains($0) }
    // A list that is in order needs no write, so a snapshot without changes stays no commit.
    guard wanted != current else { return }
    for (index, member) in wanted.enumerated() {
      try connection.setPlace(
        Int64(index + 1), list.storage, plan, owner: list.owner, member: member)
    }
    markWritten(list.owner, list.entity.rootIndex)
  }

  // MARK: - Summary

  /// The rows that changed, for the log of commits.
  var rows: CommitLog.Rows {
    var rows = CommitLog.Rows()
    for (root, written) in written {
      rows.add(
        .init(
          name: layout.entities[root].table, written: written.sorted(),
          deleted: (deleted[root] ?? []).sorted()))
    }
    return rows
  }
}

// MARK: - Renumbering

/// Gives rows of a mirror the primary keys that a custom store has assigned, wherever they are referred to.
struct Renumbering {
  let layout: StoreLayout
  let connection: StoreConnection

  /// Renumbers rows of a hierarchy.
  ///
  /// A row that has a new number already is that of the same object, which the store has reported as existing; it is
  /// deleted.
  ///
  /// - Parameter numbers: The new numbers by the old ones.
  func run(_ root: Int, _ numbers: [Int64: Int64]) throws {
    let statements = try self.statements(root).map { try connection.statement($0) }
    let table = layout.entities[root].table.sqlName
    for (old, new) in numbers.sorted(by: { $0.key < $1.key }) where old != new {
      // The store reports that the new object already existed.
      try connection.run("DELETE FROM \(table) WHERE \"_id\" = ?1", [.integer(new)])
      for statement in statements {
        statement.reset()
        statement.bind(old, at: 1)
        statement.bind(new, at: 2)
        try statement.run()
      }
    }
  }

  /// The statements that replace ?1 by ?2 in the hierarchy's table, in foreign keys to it, and in pairs.
  private func statements(_ root: Int) -> [String] {
    let entities = layout.entities
    // A member without a position has that of its number, which it keeps.
    let orders = TableLayout(root: entities[root], layout: layout).orders.map {
      ", \($0.name.sqlName) = ifnull(\($0.name.sqlName), ?1)"
    }
    var result = [
      "UPDATE \(entities[root].table.sqlName) SET \"_id\" = ?2\(orders.joined()) WHERE \"_id\" = ?1"
    ]
    for entity in entities {
      for index in entity.relationships {
        let property = entity.properties[index]
        let leadsHere = property.destination.map { entities[$0].rootIndex } == root
        if let column = property.column?.sqlName, leadsHere {
          result.append("UPDATE \(entity.table.sqlName) SET \(column) = ?2 WHERE \(column) = ?1")
        }
        guard let join = property.joinTable else { continue }
        let sides =
          (entity.rootIndex == root ? [join.owner] : []) + (leadsHere ? [join.target] : [])
        for side in sides {
          result.append("UPDATE \(join.name.sqlName) SET \(side) = ?2 WHERE \(side) = ?1")
        }
      }
    }
    var seen: Set<String> = []
    // Classes of a hierarchy inherit relationships, which give the same statement for the same
    // table.
    return result.filter { seen.insert($0).inserted }
  }
}
