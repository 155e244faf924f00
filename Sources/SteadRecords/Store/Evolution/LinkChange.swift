import SteadSQLite

/// A relationship whose pairs are stored elsewhere after a migration: in a column, in the inverse's column, or in a table.
///
/// A to-one relationship `Stop.trip` that becomes to-many, without an inverse, moves from the
/// column `trip` to the table of pairs `Stop_trip`.
struct LinkChange {
  /// The new entity that has the relationship.
  let entity: Schema.Entity
  let relationship: Schema.Relationship
  /// The storage before, by the old names.
  let before: LinkStorage
  /// The storage afterwards.
  let after: LinkStorage
  /// The owners' classes, before.
  let owners: [Schema.Entity]
  /// The targets' classes, before.
  let targets: [Schema.Entity]

  /// Whether an owner may have at most one destination.
  var hasOneTarget: Bool { relationship.isToOneRelationship }
  /// Whether a destination may have at most one owner.
  var hasOneOwner: Bool {
    if case .inverse = after { return true }
    return hasOneOwnerColumn
  }
  /// Whether the inverse is to-one, too, and has its own column.
  var hasOneOwnerColumn = false

  /// The changes that a store's relationships need, each storage once: both sides of a relationship lead to the same pairs,
  /// and writing them twice would double them.
  static func all(_ match: SchemaMatch, _ names: TableNames, in tables: Set<String>) -> [LinkChange]
  {
    let (old, new) = (SchemaLinks(match.old), SchemaLinks(match.new))
    var changes: [LinkChange] = []
    var keys: Set<String> = []
    for entity in match.new.entities where tables.contains(entity.root.name) {
      for case let relationship as Schema.Relationship in entity.storedProperties {
        guard let (owner, source) = origin(of: relationship, in: entity, match) else { continue }
        let before = old.storage(of: source.relationship, in: source.entity)
        let after = new.storage(of: relationship, in: entity)
        // Both sides of a relationship have the same storage, and it is changed once. Siblings may share one of the two.
        guard !isSame(before, after, source.isInverse, names),
          !isInherited(relationship, from: before, in: entity, match, old),
          keys.insert("\(before.key) \(after.key)").inserted
        else { continue }
        let other =
          source.isInverse
          ? source.entity : match.old.entitiesByName[source.relationship.destination]
        changes.append(
          LinkChange(
            entity: entity, relationship: relationship,
            before: source.isInverse ? before.reversed : before, after: after,
            owners: owner.family, targets: other?.family ?? [],
            hasOneOwnerColumn: hasOneOwner(relationship, match.new)))
      }
    }
    return changes
  }

  /// Whether the change of the superclass already moves a subclass's links. It doesn't if the superclass had no such
  /// relationship.
  private static func isInherited(
    _ relationship: Schema.Relationship, from before: LinkStorage, in entity: Schema.Entity,
    _ match: SchemaMatch, _ old: SchemaLinks
  ) -> Bool {
    guard let parent = entity.superentity,
      parent.storedProperties.contains(where: { ($0 as? Schema.Relationship) === relationship }),
      let (_, source) = origin(of: relationship, in: parent, match)
    else { return false }
    return old.storage(of: source.relationship, in: source.entity) == before
  }

  /// The tables of pairs that a relationship has before and afterwards.
  static func keptPairTables(_ match: SchemaMatch, _ names: TableNames) -> Set<String> {
    let (old, new) = (SchemaLinks(match.old), SchemaLinks(match.new))
    var tables: Set<String> = []
    for entity in match.new.entities {
      // Declared ones alone, since the table is named after the class that declares it.
      for case let relationship as Schema.Relationship in entity.properties {
        let after = new.storage(of: relationship, in: entity)
        guard case .pairs(let table, _) = after,
          let (_, source) = origin(of: relationship, in: entity, match)
        else { continue }
        let before = old.storage(of: source.relationship, in: source.entity)
        if isSame(before, after, source.isInverse, names) { tables.insert(table) }
      }
    }
    return tables
  }

  /// Whether a relationship's inverse leads to one object.
  private static func hasOneOwner(_ relationship: Schema.Relationship, _ schema: Schema) -> Bool {
    guard let name = relationship.inverseName else { return false }
    let target = schema.entitiesByName[relationship.destination]
    return target?.relationshipsByName[name]?.isToOneRelationship ?? false
  }

  /// Where a relationship's pairs come from: from itself as it was, or, where it is new, from its inverse.
  private static func origin(
    of relationship: Schema.Relationship, in entity: Schema.Entity, _ match: SchemaMatch
  ) -> (
    owner: Schema.Entity,
    source: (entity: Schema.Entity, relationship: Schema.Relationship, isInverse: Bool)
  )? {
    if let owner = match.oldEntities[entity.name],
      let old = match.oldProperty(relationship.name, of: entity.name) as? Schema.Relationship
    {
      return (owner, (owner, old, false))
    }
    guard let owner = match.oldEntities[entity.name], let name = relationship.inverseName,
      let target = match.oldEntities[relationship.destination],
      let inverse = match.oldProperty(name, of: relationship.destination) as? Schema.Relationship,
      // Only of one-to-one relationships, whose sides have a column each. Other inverses share one
      // storage.
      relationship.isToOneRelationship, hasOneOwner(relationship, match.new)
    else { return nil }
    return (owner, (target, inverse, true))
  }

  /// Whether the pairs stay where they are, compared by the names afterwards.
  private static func isSame(
    _ before: LinkStorage, _ after: LinkStorage, _ isInverse: Bool, _ names: TableNames
  ) -> Bool {
    switch (names.renamed(before), after) {
    case (.column(let table, let column), .column(let newTable, let newColumn)):
      !isInverse && table == newTable && column == newColumn
    // Without the list: `ListRenumbering` writes the new numbers.
    case (.inverse(let table, let column, _), .inverse(let newTable, let newColumn, _)):
      table == newTable && column == newColumn
    case (let before, let after): before == after
    }
  }
}

extension LinkStorage {
  /// The same pairs from the other side, as far as a query of them is concerned.
  fileprivate var reversed: LinkStorage {
    switch self {
    case .column(let table, let column): .inverse(table: table, column: column, list: nil)
    case .inverse(let table, let column, _): .column(table: table, column: column)
    case .pairs(let table, let isOwner): .pairs(table: table, isOwner: !isOwner)
    }
  }
}

// MARK: - Writing pairs

/// Writes the pairs of a relationship from a temporary table to their new storage.
struct LinkWriting {
  /// It has the transaction of the migration open.
  private let connection: StoreConnection
  /// The container's models, whose tables exist before anything is written.
  private let layout: StoreLayout
  /// The temporary table of the pairs.
  private let aside: String

  /// - Parameter aside: The temporary table, with the columns of ``LinkQuery``.
  init(_ connection: StoreConnection, _ layout: StoreLayout, _ aside: String) {
    self.connection = connection
    self.layout = layout
    self.aside = aside
  }

  /// Writes the pairs, in their order, to the column or the table that the relationship has now.
  ///
  /// Invariant: each pair whose rows exist is written once, and the members of each owner keep their order. Positions
  /// are ranks, which are no greater than the numbers of rows, so members that are added later come last.
  func write(_ link: LinkChange) throws {
    try dropDangling(link)
    switch link.after {
    case .column(let table, let column):
      // For the subqueries, which look up each owner.
      try connection.execute("CREATE INDEX temp.\(aside)_side ON \(aside) (owner)")
      try connection.execute(
        "UPDATE \(table.sqlName) SET \(column.sqlName) = "
          + "(SELECT target FROM \(aside) WHERE owner = \"_id\") "
          + "WHERE \"_id\" IN (SELECT owner FROM \(aside))")
    case .inverse(let table, let column, let list):
      try connection.execute("CREATE INDEX temp.\(aside)_side ON \(aside) (target)")
      try rank()
      let lists = HiddenColumn.list(of: column)
      let hasLists = try hasColumn(lists, table)
      let hasOrder = try hasColumn(HiddenColumn.order(of: column), table)
      var terms = ["\(column.sqlName) = (SELECT owner FROM \(aside) WHERE target = \"_id\")"]
      if hasOrder {
        // NULL where the place is the row's number anyway.
        terms.append(
          "\(HiddenColumn.order(of: column).sqlName) = (SELECT nullif(rank, \"_id\") FROM \(aside) WHERE target = \"_id\")"
        )
      }
      if hasLists { terms.append("\(lists.sqlName) = \(list ?? 0)") }
      try connection.execute(
        "UPDATE \(table.sqlName) SET \(terms.joined(separator: ", ")) "
          + "WHERE \"_id\" IN (SELECT target FROM \(aside))")
    case .pairs(let table, let isOwner):
      try rank()
      let (owner, target) = isOwner ? ("owner", "target") : ("target", "owner")
      // Pairs are in the order of their numbers, seen from the owners; from the targets they have places.
      try connection.execute(
        "INSERT OR IGNORE INTO \(table.sqlName) (\(owner), \(target), \(target)_order) "
          + "SELECT owner, target, CASE WHEN target_place IS NULL THEN NULL ELSE target_rank END "
          + "FROM \(aside) ORDER BY owner, rank")
    }
  }

  /// Removes pairs of rows that no longer exist.
  private func dropDangling(_ link: LinkChange) throws {
    // From a relationship with the rule `noAction`, or by another program.
    let owners = link.entity.root.name.sqlName
    guard let target = layout.entity(named: link.relationship.destination)?.table.sqlName else {
      return
    }
    try connection.execute(
      "DELETE FROM \(aside) WHERE owner NOT IN (SELECT \"_id\" FROM \(owners)) "
        + "OR target NOT IN (SELECT \"_id\" FROM \(target))")
  }

  /// Numbers the pairs of each owner, and of each target, in order from 1: no number is greater than that of the newest
  /// row, so later additions come after it.
  private func rank() throws {
    try connection.execute(
      """
      CREATE TEMP TABLE \(aside)_ranked AS SELECT owner, target, owner_place, target_place,
        row_number() OVER (PARTITION BY owner ORDER BY owner_place, target) AS rank,
        row_number() OVER (PARTITION BY target ORDER BY target_place, owner) AS target_rank FROM \(aside);
      DROP TABLE temp.\(aside);
      ALTER TABLE temp.\(aside)_ranked RENAME TO \(aside);
      CREATE INDEX temp.\(aside)_target ON \(aside) (target);
      """)
  }

  /// Whether a table has a column. Asked of the file, since other programs may have changed it.
  private func hasColumn(_ column: String, _ table: String) throws -> Bool {
    try connection.integer(
      "SELECT count(*) FROM pragma_table_xinfo(?1) WHERE name = ?2", [.text(table), .text(column)])
      != 0
  }
}

// MARK: - Numbers of lists

/// Renumbers the lists of to-many relationships that share a to-one as their inverse: the column has their number in the
/// order of declaration, which a new version of the models may change.
struct ListRenumbering {
  /// Which old property each new one is.
  let match: SchemaMatch
  /// The container's models.
  let layout: StoreLayout

  /// Renumbers the lists of an entity's to-one properties.
  func apply(to entity: EntityLayout, on connection: StoreConnection) throws {
    for property in entity.properties {
      guard let column = property.listColumn, let destination = property.destination,
        let cases = cases(property, entity, layout.entities[destination])
      else { continue }
      let list = column.sqlName
      try connection.execute(
        "UPDATE \(entity.table.sqlName) SET \(list) = CASE ifnull(\(list), 0) \(cases) END "
          + "WHERE \(property.name.sqlName) IS NOT NULL"
          + (entity.discriminator.map { " AND \"_entity\" = \($0)" } ?? ""))
    }
  }

  /// The new number of each old one, in SQL; nil when all stay.
  private func cases(
    _ toOne: PropertyLayout, _ entity: EntityLayout, _ owner: EntityLayout
  ) -> String? {
    let old = storedLists(toOne, entity, owner)
    let new = toOne.relationship?.lists ?? []
    let numbers = old.map { name in
      new.first { list in
        match.oldProperty(owner.properties[list.property].name, of: owner.name)?.name == name
      }?.number
    }
    guard !old.isEmpty, numbers != Array(numbers.indices) else { return nil }
    // A single list had no column of numbers, or one that was no longer maintained.
    if numbers.count == 1 { return "WHEN 0 THEN \(numbers[0] ?? 0) ELSE \(numbers[0] ?? 0)" }
    // Rows of a list that is gone go to the first.
    return numbers.enumerated().map { "WHEN \($0) THEN \($1 ?? 0)" }.joined(separator: " ")
      + " ELSE 0"
  }

  /// The names of the to-one's lists in the stored schema, in the order of their declaration.
  private func storedLists(
    _ toOne: PropertyLayout, _ entity: EntityLayout, _ owner: EntityLayout
  ) -> [String] {
    guard let before = match.oldProperty(toOne.name, of: entity.name),
      let member = match.oldEntities[entity.name], let owner = match.oldEntities[owner.name]
    else { return [] }
    let lineage = Set(
      sequence(first: member) { $0.superentity }.map(\.name))
    return owner.storedProperties.compactMap { $0 as? Schema.Relationship }.filter {
      lineage.contains($0.destination) && $0.inverseName == before.name
    }.map(\.name)
  }
}
