import Foundation
import SteadSQLite

/// Makes or extends a store's tables when it is opened.
struct StorePreparation {
  /// The version of the table layout that this code writes.
  static let formatVersion: Int64 = 1

  let connection: StoreConnection
  let layout: StoreLayout
  let tables: [TableLayout]
  let entities: Set<Int>
  let allowsSave: Bool
  /// Whether programs other than this library are to write the history, too.
  let keepsHistory: Bool

  /// Brings the tables up to the layout, and returns the store's identifier.
  func run() throws -> String {
    let version = try connection.integer("PRAGMA user_version") ?? 0
    if version > Self.formatVersion {
      throw SwiftDataError(
        .unknownSchema,
        "The store was written by a newer version of this library (format \(version)). Update "
          + "the library; the file was left untouched.")
    }
    guard allowsSave else { return try identifier() ?? "read-only" }
    let isNew = version == 0
    let digest = TablesDigest(
      layout: layout, tables: tables, entities: entities, keepsHistory: keepsHistory
    ).text
    if !isNew, let identifier = try unchanged(digest) { return identifier }
    try connection.execute("BEGIN IMMEDIATE")
    do {
      if isNew { try createMetadata() }
      for table in tables { try prepare(table) }
      for index in entities.sorted() { try prepareRelated(layout.entities[index]) }
      if let stored = try storedSchema() {
        let renumbering = ListRenumbering(stored: stored, layout: layout)
        for index in entities.sorted() {
          try renumbering.apply(to: layout.entities[index], on: connection)
        }
      }
      try prepareHistory()
      try recordSchema()
      try recordTables(digest)
      try connection.execute("COMMIT")
    } catch {
      if connection.isInTransaction { try? connection.execute("ROLLBACK") }
      throw error
    }
    return try identifier() ?? ""
  }

  /// The store's identifier, when its tables are as these models left them, and nothing has changed a
  /// table since.
  private func unchanged(_ digest: String) throws -> String? {
    let rows = try connection.rows(
      "SELECT (SELECT value FROM stead_metadata WHERE key = 'tables'), "
        + "(SELECT value FROM stead_metadata WHERE key = 'identifier')")
    guard case .text(let recorded)? = rows.first?.first,
      case .text(let identifier)? = rows.first?.last,
      recorded == "\(try connection.integer("PRAGMA schema_version") ?? 0) \(digest)"
    else { return nil }
    return identifier
  }

  private func recordTables(_ digest: String) throws {
    let version = try connection.integer("PRAGMA schema_version") ?? 0
    try connection.run(
      "INSERT OR REPLACE INTO stead_metadata VALUES ('tables', ?1)",
      [.text("\(version) \(digest)")])
  }

  private func identifier() throws -> String? {
    let rows = try connection.rows("SELECT value FROM stead_metadata WHERE key = 'identifier'")
    guard case .text(let text)? = rows.first?.first else { return nil }
    return text
  }

  private func createMetadata() throws {
    try connection.execute("PRAGMA application_id = \(StoreFile.applicationID)")
    try connection.execute("PRAGMA user_version = \(Self.formatVersion)")
    try connection.execute(
      "CREATE TABLE IF NOT EXISTS stead_metadata (key TEXT PRIMARY KEY, value) WITHOUT ROWID")
    try connection.execute(
      "CREATE TABLE IF NOT EXISTS stead_sequence "
        + "(name TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID")
    try connection.run(
      "INSERT OR IGNORE INTO stead_metadata VALUES ('identifier', ?1)",
      [.text(UUID().uuidString)])
  }

  /// Stores of earlier versions lack the tables.
  private func prepareHistory() throws {
    let triggers =
      keepsHistory ? HistoryTrigger.all(tables: tables, layout: layout, entities: entities) : []
    try HistoryTable(connection: connection).prepare(triggers)
    let changes = connection.changes
    if changes.isEmpty { return }
    connection.changes = ChangeList()
    let last = try connection.lastCommit()
    let commit = CommitLog.Point(
      number: last.number + 1, stamp: max(EditClock.now, last.stamp + 1))
    try connection.write(commit, changes.text(at: commit.stamp), by: nil)
  }

  /// The schema that the store was opened with last.
  private func storedSchema() throws -> Schema? {
    let rows = try connection.rows("SELECT value FROM stead_metadata WHERE key = 'schema'")
    guard case .text(let text)? = rows.first?.first else { return nil }
    return try? JSONDecoder().decode(Schema.self, from: Data(text.utf8))
  }

  private func recordSchema() throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let text = String(decoding: try encoder.encode(layout.schema), as: UTF8.self)
    try connection.run(
      "INSERT INTO stead_metadata VALUES ('schema', ?1) "
        + "ON CONFLICT DO UPDATE SET value = excluded.value WHERE value IS NOT excluded.value",
      [.text(text)])
  }

  private func existingColumns(of table: String) throws -> [String: String] {
    // A type's second word only says what a column does not convert.
    let rows = try connection.rows(
      "SELECT name, substr(type, 1, instr(type || ' ', ' ') - 1) FROM pragma_table_xinfo(?1)",
      [.text(table)])
    var result: [String: String] = [:]
    for row in rows {
      if case .text(let name) = row[0], case .text(let type) = row[1] { result[name] = type }
    }
    return result
  }

  private func prepare(_ table: TableLayout) throws {
    let existing = try existingColumns(of: table.name)
    if existing.isEmpty {
      try connection.execute(table.creation)
    } else {
      // SQLite would say that a view has no indexes.
      let views = try connection.integer(
        "SELECT count(*) FROM sqlite_schema WHERE type = 'view' AND name = ?1 COLLATE NOCASE",
        [.text(table.name)])
      if views != 0 { throw StoreErrors.view("the view is \(table.name)") }
      try extend(table, existing)
    }
    for column in table.columns where column.declaration.contains("REFERENCES") {
      try connection.execute(
        "CREATE INDEX IF NOT EXISTS \("\(table.name)_\(column.name)".sqlName) "
          + "ON \(table.name.sqlName) (\(column.name.sqlName))")
    }
  }

  /// Adds what the models have gained; refuses what needs a migration.
  private func extend(_ table: TableLayout, _ stored: [String: String]) throws {
    var existing = stored
    if table.isHierarchy, existing["_entity"] == nil {
      throw refusal("\(table.name) has become part of a class hierarchy.")
    }
    let properties = Dictionary(
      layout.entities.filter { $0.table == table.name }.flatMap(\.properties).compactMap {
        property in property.column.map { ($0, property) }
      }
    ) { first, _ in first }
    for column in table.columns + table.orders + table.generated {
      if let type = existing[column.name] {
        let wanted = column.declaration.split(separator: " ").first.map(String.init) ?? ""
        if type != wanted, !type.isEmpty {
          throw refusal(
            "The type of \(table.name).\(column.name) changed from \(type) to \(wanted).")
        }
      } else if let property = properties[column.name], existing[property.originalName] != nil,
        property.originalName != property.name
      {
        let names = HiddenColumn.renamings(from: property.originalName, to: column.name)
        for (old, new) in names where existing[new] == nil {
          guard let type = existing.removeValue(forKey: old) else { continue }
          try connection.execute(
            "ALTER TABLE \(table.name.sqlName) RENAME COLUMN \(old.sqlName) TO \(new.sqlName)")
          existing[new] = type
        }
      } else {
        try connection.execute(
          "ALTER TABLE \(table.name.sqlName) ADD COLUMN \(column.name.sqlName) "
            + column.declaration)
        if let property = properties[column.name] { try fill(property, of: table) }
      }
    }
  }

  /// Gives the rows that are there the default value of a new property.
  private func fill(_ property: PropertyLayout, of table: TableLayout) throws {
    guard !property.isOptional, case .attribute(let encoding) = property.kind,
      let rows = try connection.integer("SELECT count(*) FROM \(table.name.sqlName)"), rows > 0
    else { return }
    guard let value = property.defaultValue,
      let stored = DefaultValueEncoder.encode(value, as: encoding)
    else {
      throw refusal(
        "\(table.name).\(property.name) is new, required and has no default value.")
    }
    try connection.run(
      "UPDATE \(table.name.sqlName) SET \(property.name.sqlName) = ?1", [stored])
    // No trigger knows the column yet.
    if keepsHistory { try noteUpdates(of: property.name, in: table) }
  }

  private func noteUpdates(of name: String, in table: TableLayout) throws {
    for entity in layout.entities where entity.table == table.name {
      guard let property = entity.property(named: name), !property.isEphemeral else { continue }
      let test = entity.discriminator.map { " WHERE \"_entity\" = \($0)" } ?? ""
      let rows = try connection.rows("SELECT \"_id\" FROM \(table.name.sqlName)\(test)")
      for case .integer(let row) in rows.map({ $0[0] }) {
        connection.changes.note(
          .update, entity, row: row, properties: PropertySet([property.index]))
      }
    }
  }

  private func refusal(_ reason: String) -> SwiftDataError {
    SwiftDataError(
      .loadIssueModelContainer,
      "\(reason) This needs a migration; the store was left as it is. Make the property optional, "
        + "give it a default value, or open the store with the models that wrote it.")
  }

  private func prepareRelated(_ entity: EntityLayout) throws {
    let table = entity.table.sqlName
    for (constraint, isUnique) in entity.uniqueConstraints.map({ ($0, true) })
      + entity.indices.map({ ($0, false) })
    {
      let columns = constraint.compactMap { entity.properties[$0].column }
      guard columns.count == constraint.count else {
        throw SwiftDataError(
          .loadIssueModelContainer,
          "A to-many relationship of \(entity.name) cannot be unique or indexed.")
      }
      let name =
        "\(entity.table)_\(columns.joined(separator: "_"))\(isUnique ? "_unique" : "_index")"
      try connection.execute(
        "CREATE \(isUnique ? "UNIQUE " : "")INDEX IF NOT EXISTS \(name.sqlName) ON \(table) "
          + "(\(columns.map(\.sqlName).joined(separator: ", ")))")
    }
    for index in entity.joined {
      guard let join = entity.properties[index].joinTable else { continue }
      try prepare(join)
    }
    if !entity.searchable.isEmpty {
      try SearchTable(entity: entity).prepare(on: connection)
    }
  }

  private func prepare(_ join: JoinTable) throws {
    let name = join.name.sqlName
    try connection.execute(
      "CREATE TABLE IF NOT EXISTS \(name) (\"_id\" INTEGER PRIMARY KEY, "
        + "owner INTEGER NOT NULL, target INTEGER NOT NULL, owner_order INTEGER, "
        + "target_order INTEGER, UNIQUE (owner, target))")
    try connection.execute(
      "CREATE INDEX IF NOT EXISTS \((join.name + "_target").sqlName) ON \(name) (target)")
  }
}
