import Foundation
import SteadSQLite

/// Migrates one store's tables from the schema that they were made for to another.
///
/// ``check()`` finds everything that prevents the migration before anything is written; ``run()`` then changes the tables,
/// in the transaction of the caller.
struct SchemaMigrator {
  /// How many rows an error names.
  static let namedRowLimit = 3

  /// It has the caller's transaction open: a writing one, or a snapshot for ``checkReading()``.
  let connection: StoreConnection
  /// The container's models.
  let layout: StoreLayout
  /// The tables that this store should have afterwards.
  let tables: [TableLayout]
  /// Which old entity and property each new one is.
  let match: SchemaMatch
  /// The changes between the schemas.
  let difference: SchemaDifference
  /// The files of large values; nil in memory.
  let blobs: BlobFiles?
  /// What the store is in a migration plan, on which checks and recorded versions depend.
  let role: MigrationRole
  /// The tables and columns before and after.
  let names: TableNames
  /// The relationships whose pairs move to another column or table.
  let links: [LinkChange]
  /// The conversions that a custom stage leaves to the library.
  let conversions: [ValueConversion]
  /// The columns of each table before the migration, with the first words of their types.
  let existing: [String: [String: String]]

  /// Compares the schemas.
  ///
  /// Costs a read of the tables' columns. For a store that an earlier version of this library
  /// wrote, it also costs a read of all values of some attributes: see ``UnrecordedTypes``.
  ///
  /// - Parameter stored: The schema that the store was opened with last. What it lacks is completed
  ///   in place.
  init(
    _ connection: StoreConnection, from stored: Schema, to layout: StoreLayout,
    tables: [TableLayout], blobs: BlobFiles?, role: MigrationRole = .none,
    converting conversions: Set<ValueConversion.Property> = []
  ) throws {
    self.connection = connection
    self.layout = layout
    self.tables = tables
    self.blobs = blobs
    self.role = role
    let catalog = try StoreCatalog(connection)
    existing = catalog.columns
    let match = SchemaMatch(from: stored, to: layout.schema)
    // Both complete the recorded schema, so they come before the comparison.
    catalog.complete(match, as: layout)
    try UnrecordedTypes(
      connection: connection, match: match, layout: layout, tables: tables,
      existing: catalog.columns
    ).recordChanges()
    let difference = SchemaDifference(match)
    self.conversions = ValueConversion.all(of: match, difference).filter {
      conversions.contains($0.property)
    }
    let isInCustomStage = role == .ofCustomStage
    self.match = isInCustomStage ? match.separating(difference.refusals) : match
    self.difference = isInCustomStage ? SchemaDifference(self.match) : difference
    names = TableNames(self.match, existing: existing)
    links = LinkChange.all(self.match, names, in: Set(tables.map(\.name)))
  }

  /// Whether a custom stage sets values that are missing.
  var isInCustomStage: Bool { role == .ofCustomStage }

  /// Whether a stage of a plan opens the store, whose models may be of an earlier version than the stored ones.
  var isInStage: Bool {
    role == .ofStage || role == .beforeCustomStage || role == .ofCustomStage
  }

  /// The version that the store has afterwards.
  ///
  /// With the same models it stays the later one: a container that names its classes has version 1.0.0, and a plan's
  /// stages between two versions with the same models would run each time.
  var version: Schema.Version {
    difference.isOfUnknownTypes && !isInStage
      ? max(match.old.version, match.new.version) : match.new.version
  }

  /// Whether rows may have referred to files of large values that no row refers to afterwards.
  var releasesFiles: Bool {
    match.old.entities.contains { old in
      old.storedProperties.contains { property in
        guard let attribute = property as? Schema.Attribute, attribute.encoding == .external else {
          return false
        }
        let now = match.newProperty(attribute.name, of: old.name) as? Schema.Attribute
        return now?.encoding != .external
      }
    }
  }

  /// The SELECT of a relationship's pairs, in the tables as they are before the migration.
  func query(_ link: LinkChange) -> String {
    let table =
      switch link.before {
      case .column(let table, _), .inverse(let table, _, _), .pairs(let table, _): table
      }
    return LinkQuery(
      link.before, columns: Set(existing[table]?.keys.map { $0 } ?? []),
      owners: rows(of: link.owners), targets: rows(of: link.targets)
    ).sql
  }

  /// The rows of some classes; nil if their table has no others.
  private func rows(of classes: [Schema.Entity]) -> LinkQuery.Rows? {
    guard let table = classes.first?.root.name, existing[table]?["_entity"] != nil else {
      return nil
    }
    return LinkQuery.Rows(table: table, classes: classes.compactMap(oldNumber))
  }

  /// What `_entity` held for an old class.
  private func oldNumber(_ entity: Schema.Entity) -> Int? {
    // The position among all entities of the schema, from 1.
    match.old.entities.firstIndex { $0 === entity }.map { $0 + 1 }
  }

  // MARK: Writing

  /// Changes the tables; within a transaction.
  ///
  /// The order of the steps is the algorithm: each finds the names that it needs.
  ///
  /// 1. What moves is copied to temporary tables, by the old names: pairs of relationships, values to convert.
  /// 2. Indexes, search tables and generated columns that change are dropped: SQLite drops no column that one of them
  ///    uses.
  /// 3. Tables and columns are dropped, then renamed.
  /// 4. Rows get the numbers of their classes, and those of dropped classes are deleted. Columns that other classes of a
  ///    hierarchy keep are cleared, so that no later version finds a value of another property there.
  /// 5. New columns and tables of pairs are added.
  /// 6. What moves is written to its new place, by the new names.
  /// 7. Values that are missing, or kept in files, are filled in.
  /// 8. The numbers of all rows and pairs that there were are retired.
  func run() throws {
    // Tables that differ for other reasons are the preparation's work.
    if difference.isEmpty { return }
    let numbers = try GivenNumbers(connection, match, existing)
    // They name columns, and would record each row that is written here. The preparation creates them again.
    try HistoryTable(connection: connection).dropTriggers()
    for (number, link) in links.enumerated() {
      // Temporary tables are in memory, as `StoreFile.open` sets it, and never in the store's file.
      try connection.execute(
        "CREATE TEMP TABLE \(Self.aside(number)) AS \(query(link))")
    }
    for (number, conversion) in conversions.enumerated() {
      try conversion.setAside(as: number, on: connection)
    }
    try removeDerived()
    try rename()
    try renumberClasses()
    // After the renumbering, since it finds the rows of a class by its new number.
    try clearLostColumns()
    // What moves was copied from them.
    try removePairTables()
    for table in tables { try extend(table) }
    // After `extend`, which adds the columns of list numbers.
    let renumbering = ListRenumbering(match: match, layout: layout)
    for entity in layout.entities where tables.contains(where: { $0.name == entity.table }) {
      try renumbering.apply(to: entity, on: connection)
    }
    // Before the links, which are written into them.
    for index in layout.entities.indices { try createPairs(of: layout.entities[index]) }
    for (number, link) in links.enumerated() {
      try LinkWriting(connection, layout, Self.aside(number)).write(link)
      try connection.execute("DROP TABLE temp.\(Self.aside(number))")
    }
    let rows = MigrationRows(connection, match, names, existing, tables)
    // Before the conversions, which leave a row without a value as it is.
    try rows.fillDefaults(layout)
    for (number, conversion) in conversions.enumerated() {
      try conversion.write(number, layout, on: connection)
    }
    try rows.completeValues(layout)
    try rows.inlineFiles(blobs)
    try numbers.retire(names, layout, on: connection)
  }

  /// The temporary table of a link's pairs.
  private static func aside(_ number: Int) -> String { "stead_link_\(number)" }

  /// Drops indexes, search tables and generated columns, except those that are the same afterwards; what is missing
  /// is created later.
  ///
  /// Invariant: afterwards no index, search table or generated column uses a column that is about to be dropped, or
  /// would use another one by the name that it has then. SQLite refuses to drop a column that one of them uses.
  private func removeDerived() throws {
    let wanted = DerivedNames(layout, tables)
    let old = DerivedNames(match.old)
    // An equal name is not enough: two columns may have swapped their names.
    func stays(_ columns: DerivedNames.Columns, as wanted: DerivedNames.Columns?) -> Bool {
      wanted.map { names.renamed(columns) == $0 } ?? false
    }
    let present = try connection.rows("SELECT name, type FROM sqlite_schema")
    for row in present {
      guard case .text(let name) = row[0], case .text(let type) = row[1] else { continue }
      switch type {
      case "index":
        // An index that no old model has made is a user's, and stays.
        guard let columns = old.indices[name], !stays(columns, as: wanted.indices[name]) else {
          continue
        }
        try connection.execute("DROP INDEX \(name.sqlName)")
      case "table":
        // Its definition has the columns' names, so it is made again even if they were only
        // renamed.
        guard let columns = old.searches[name],
          columns != wanted.searches[name] || !stays(columns, as: wanted.searches[name])
        else { continue }
        // They are triggers of the model's table, so they would outlive the search table.
        for trigger in SearchTable.triggerNames(of: name) {
          try connection.execute("DROP TRIGGER IF EXISTS \(trigger.sqlName)")
        }
        try connection.execute("DROP TABLE \(name.sqlName)")
      default: break
      }
    }
    let generated = try changedFields(old.generated)
    for (table, columns) in generated.columns where existing[table] != nil {
      let kept = names.tables[table].flatMap { wanted.generated[$0] } ?? [:]
      for (column, base) in columns where existing[table]?[column] != nil {
        let stays =
          names.columns[table]?[base] == base && kept[column] == base
          && !generated.changed.contains("\(table).\(base)")
        if !stays {
          try connection.execute(
            "ALTER TABLE \(table.sqlName) DROP COLUMN \(column.sqlName)")
        }
      }
    }
  }

  /// The computed columns of each table, with those of structs that have changed: their types may differ, and the
  /// program may no longer know what they were.
  private func changedFields(
    _ known: [String: [String: String]]
  ) throws -> (columns: [String: [String: String]], changed: Set<String>) {
    var columns = known
    var changed: Set<String> = []
    for entity in match.new.entities {
      guard let table = match.oldEntities[entity.name]?.root.name, existing[table] != nil else {
        continue
      }
      for case let new as Schema.Attribute in entity.storedProperties
      where new.encoding == .composite {
        guard let old = match.oldProperty(new.name, of: entity.name) as? Schema.Attribute,
          old.structure != new.structure
        else { continue }
        changed.insert("\(table).\(old.name)")
        for column in try connection.generatedColumns(of: table)
        where column.hasPrefix("\(old.name)_") {
          columns[table, default: [:]][column] = old.name
        }
      }
    }
    return (columns, changed)
  }

  /// Drops tables and columns, then renames the others: dropped first, so that their names are free.
  ///
  /// Invariant: no table or column gets a name that another one still has.
  private func rename() throws {
    for table in names.droppedTables.sorted() {
      try connection.execute("DROP TABLE \(table.sqlName)")
    }
    // Two names may be swapped.
    for step in RenamingSteps(names.tables).steps {
      try connection.execute("ALTER TABLE \(step.from.sqlName) RENAME TO \(step.to.sqlName)")
    }
    for (old, new) in names.tables.sorted(by: { $0.key < $1.key }) {
      for column in (names.dropped[old] ?? []).sorted() { try drop(column, of: new) }
      for step in RenamingSteps(names.columns[old] ?? [:]).steps {
        try connection.execute(
          "ALTER TABLE \(new.sqlName) RENAME COLUMN \(step.from.sqlName) TO \(step.to.sqlName)")
      }
    }
  }

  /// Drops a column. SQLite rewrites the table's rows for it.
  private func drop(_ column: String, of table: String) throws {
    try connection.execute("ALTER TABLE \(table.sqlName) DROP COLUMN \(column.sqlName)")
  }

  /// Sets `_entity` to the classes' numbers in the new schema, and deletes the rows of dropped classes.
  ///
  /// A number is an index in the list of all entities by name, so adding a model anywhere shifts others. All are
  /// replaced by one UPDATE, since two classes may swap numbers.
  ///
  /// Invariant: afterwards each row has the number of its class in the new schema, and nothing leads to a row that
  /// was deleted.
  private func renumberClasses() throws {
    for (old, new) in names.tables.sorted(by: { $0.key < $1.key }) {
      let classes = match.old.entities.filter { $0.root.name == old }
      let wasHierarchy = existing[old]?["_entity"] != nil
      guard let table = tables.first(where: { $0.name == new }) else { continue }
      let numbers = classes.map { entity -> (old: Int, new: Int?) in
        let now = match.newEntities[entity.name].flatMap { layout.entity(named: $0.name)?.index }
        return (oldNumber(entity) ?? 0, now.map { $0 + 1 })
      }
      if wasHierarchy {
        let gone = numbers.filter { $0.new == nil }.map { "\($0.old)" }
        // Deleted while the old numbers still tell the classes apart.
        if !gone.isEmpty {
          try connection.execute(
            "DELETE FROM \(new.sqlName) WHERE \"_entity\" IN (\(gone.joined(separator: ", ")))")
          try clearReferences(to: new)
        }
        if !table.isHierarchy {
          // One class is left, and its rows need no number.
          try drop("_entity", of: new)
        } else if numbers.contains(where: { $0.new != nil && $0.new != $0.old }) {
          // A number of no class stays, for a check of the store to report.
          let cases = numbers.compactMap { pair in pair.new.map { "WHEN \(pair.old) THEN \($0)" } }
          try connection.execute(
            "UPDATE \(new.sqlName) SET \"_entity\" = CASE \"_entity\" \(cases.joined(separator: " ")) "
              + "ELSE \"_entity\" END")
        }
      } else if table.isHierarchy, let number = numbers.first?.new {
        try connection.execute(
          // SQLite adds a NOT NULL column only with a DEFAULT, which is the class of all rows that
          // exist.
          "ALTER TABLE \(new.sqlName) ADD COLUMN \"_entity\" INTEGER NOT NULL DEFAULT \(number)")
      }
    }
  }

  /// Clears columns that stay for other classes of a hierarchy in the rows of classes that have no property there, or
  /// have a new one: no later version may find what was in them.
  private func clearLostColumns() throws {
    for entity in layout.entities where entity.discriminator != nil {
      guard let now = match.new.entitiesByName[entity.name],
        let old = match.oldEntities[entity.name],
        let columns = names.columns[old.root.name]
      else { continue }
      var kept: Set<String> = []
      for property in now.storedProperties where TableNames.isColumn(property) {
        guard let before = match.oldProperty(property.name, of: now.name),
          TableNames.isColumn(before)
        else { continue }
        // With the hidden columns of its order and its list.
        kept.formUnion(HiddenColumn.renamings(from: before.name, to: property.name).map(\.old))
      }
      let lost = columns.filter { !kept.contains($0.key) }.map(\.value.sqlName).sorted()
      guard !lost.isEmpty else { continue }
      // Only in rows that have something there, so that the others are not written.
      try connection.execute(
        "UPDATE \(entity.table.sqlName) SET \(lost.map { "\($0) = NULL" }.joined(separator: ", ")) "
          + "WHERE 1\(entity.ownClass) AND (\(lost.map { "\($0) IS NOT NULL" }.joined(separator: " OR ")))"
      )
    }
  }

  /// Clears columns that lead to rows of a table that are gone, and removes pairs that do.
  private func clearReferences(to table: String) throws {
    for entity in match.new.entities {
      // A new table has no references yet, and neither has a new column.
      guard let owner = oldColumns(of: entity) else { continue }
      for case let relationship as Schema.Relationship in entity.storedProperties
      where relationship.isToOneRelationship {
        guard layout.entity(named: relationship.destination)?.table == table,
          owner.contains(relationship.name)
        else { continue }
        let (own, column) = (entity.root.name.sqlName, relationship.name.sqlName)
        try connection.execute(
          "UPDATE \(own) SET \(column) = NULL WHERE \(column) IS NOT NULL AND \(column) NOT IN "
            + "(SELECT \"_id\" FROM \(table.sqlName))")
      }
    }
    // Tables of pairs have their old names until `removePairTables`.
    for pairs in SchemaLinks(match.old).pairTables where existing[pairs] != nil {
      guard let sides = pairSides(pairs) else { continue }
      for (side, destination) in sides where names.tables[destination] == table {
        try connection.execute(
          "DELETE FROM \(pairs.sqlName) WHERE \(side) NOT IN (SELECT \"_id\" FROM \(table.sqlName))"
        )
      }
    }
  }

  /// The columns that an entity's table has at this point.
  private func oldColumns(of entity: Schema.Entity) -> Set<String>? {
    guard let old = names.oldTable(entity.root.name) else { return nil }
    return Set((names.columns[old] ?? [:]).values)
  }

  /// The old tables that the columns of a table of pairs lead to.
  private func pairSides(_ table: String) -> [(side: String, destination: String)]? {
    let links = SchemaLinks(match.old)
    for entity in match.old.entities {
      for case let relationship as Schema.Relationship in entity.storedProperties {
        guard case .pairs(table, let isOwner) = links.storage(of: relationship, in: entity),
          let target = match.old.entitiesByName[relationship.destination]
        else { continue }
        let (own, other) = isOwner ? ("owner", "target") : ("target", "owner")
        return [(own, entity.root.name), (other, target.root.name)]
      }
    }
    return nil
  }

  /// Drops the tables of pairs that are not kept; their pairs were copied if they move.
  private func removePairTables() throws {
    let kept = LinkChange.keptPairTables(match, names)
    for table in SchemaLinks(match.old).pairTables.sorted()
    where existing[table] != nil && !kept.contains(table) {
      try connection.execute("DROP TABLE \(table.sqlName)")
    }
  }

  /// Creates the tables of pairs of an entity of this store, where missing.
  private func createPairs(of entity: EntityLayout) throws {
    guard tables.contains(where: { $0.name == entity.table }) else { return }
    for index in entity.joined {
      if let join = entity.properties[index].joinTable { try connection.create(join) }
    }
  }

  /// The value that all rows get with a new column; nil if there is none, or each row gets its own.
  private func literal(_ column: (entity: EntityLayout, property: PropertyLayout))
    -> DefaultLiteral?
  {
    RowDefaults(column.property, of: column.entity.type) == nil
      ? DefaultLiteral(column.property) : nil
  }

  /// Adds the columns that the models have gained.
  private func extend(_ table: TableLayout) throws {
    // No old table becomes it: it is new.
    guard names.oldTable(table.name) != nil else {
      try connection.execute(table.creation)
      return
    }
    // Read again, since tables and columns have their new names by now.
    let present = try StoreCatalog(connection).columns[table.name] ?? [:]
    let properties = Dictionary(
      layout.entities.filter { $0.table == table.name }.flatMap { entity in
        entity.properties.compactMap { property in
          property.column.map { ($0, (entity: entity, property: property)) }
        }
      }
    ) { first, _ in first }
    for column in table.columns + table.orders + table.generated where present[column.name] == nil {
      // In a hierarchy the column is one of some classes, and a DEFAULT would fill it in the rows of all.
      let value =
        table.isHierarchy
        ? nil : try properties[column.name].flatMap(literal)?.checked(connection)
      try connection.execute(
        "ALTER TABLE \(table.name.sqlName) ADD COLUMN \(column.name.sqlName) \(column.declaration)"
          + (value.map { " DEFAULT \($0)" } ?? ""))
    }
  }
}
