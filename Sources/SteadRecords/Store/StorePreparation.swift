import Foundation
import SteadSQLite

/// Creates, checks or migrates a store's tables when it is opened.
///
/// A store whose recorded digest and SQLite schema version are unchanged costs two reads. Everything else happens in one
/// transaction, so that a process which is killed, and a migration that throws, leave the store as it was.
struct StorePreparation {
  /// The version of the table layout that this code writes.
  static let formatVersion: Int64 = 1

  /// The store's writing connection, or a reading one for a store that may not be written.
  let connection: StoreConnection
  /// The container's models.
  let layout: StoreLayout
  /// The tables of the hierarchies that the store holds.
  let tables: [TableLayout]
  /// The indices of the entities that the store holds.
  let entities: Set<Int>
  /// Whether the store may be created and changed.
  let allowsSave: Bool
  /// The files of large values; nil for a store in memory.
  let blobs: BlobFiles?
  /// The store's file, whose place is compared before the commit.
  let file: StoreFile
  /// Told of the progress of a migration; throws to stop it.
  let report: MigrationReporter
  /// Whether programs other than this library should write the history, too.
  let keepsHistory: Bool
  /// Whether rows are kept as they were before each change.
  let keepsOldRows: Bool
  /// Whether the rows are copies of what a custom store has, which may break a rule or pass through states that do.
  let isMirror: Bool
  /// What has changed, if the store was made for other models.
  private(set) var migration: StoreMigration?

  init(
    _ connection: StoreConnection, _ layout: StoreLayout, tables: [TableLayout],
    entities: Set<Int>, allowsSave: Bool, blobs: BlobFiles?, file: StoreFile,
    report: MigrationReporter, keepsHistory: Bool, keepsOldRows: Bool,
    isMirror: Bool
  ) {
    self.connection = connection
    self.layout = layout
    self.tables = tables
    self.entities = entities
    self.allowsSave = allowsSave
    self.blobs = blobs
    self.file = file
    self.report = report
    self.keepsHistory = keepsHistory
    self.keepsOldRows = keepsOldRows
    self.isMirror = isMirror
  }

  /// Brings the tables up to the layout, and returns the store's identifier.
  ///
  /// The order is what makes a failure harmless: format and digest are read first, a half-done log mark is completed,
  /// the migration is checked in the write transaction before anything is dropped, its backup is made under the same
  /// lock, and the path is compared again right before the commit.
  ///
  /// Invariant: the tables change in one transaction, at whose end the recorded digest is that of the models. So a
  /// store is as it was, or complete.
  mutating func run() throws -> String {
    var isNew = try format() == 0
    let digest = TablesDigest(
      layout: layout, tables: tables, entities: entities, keepsHistory: keepsHistory,
      keepsOldRows: keepsOldRows
    ).text
    // A store that may not be written is neither created nor migrated.
    guard allowsSave else { return try prepareReading(digest) }
    try finishLogMark()
    if !isNew, let identifier = try unchanged(digest) { return identifier }
    try connection.execute("BEGIN IMMEDIATE")
    // From here on under the write lock: the schema that the migrator compares stays the newest
    // one.
    do {
      // Asked again: while this one waited for the lock, another process may have made the store, with other models.
      isNew = try format() == 0
      let migrator = isNew ? nil : try makeMigrator()
      try migrator?.check()
      if let difference = migrator?.difference, !difference.isEmpty {
        migration = StoreMigration(
          url: file.configuration.url, difference: difference,
          backup: difference.losesData ? try makeBackup() : nil)
        // May throw, to stop the migration: nothing has changed yet.
        try report(.changing)
        try connection.interruptibly({ try Task.checkCancellation() }) {
          try change(isNew: isNew, migrator, digest)
        }
      } else {
        // A new store, or the same models, of which this version makes other tables, or whose tables
        // another program has changed.
        try change(isNew: isNew, migrator, digest)
      }
      // If another file was moved to the path, SQLite would write to that file's log.
      try checkPlace()
      try connection.execute("COMMIT")
      // After the commit, since a rollback would need the files.
      if migrator?.releasesFiles ?? false { removeUnusedFiles() }
    } catch {
      if connection.isInTransaction { try? connection.execute("ROLLBACK") }
      throw error
    }
    // So that a copy of the file alone is a complete store from the start. If it fails, the tables are in the log alone.
    if !file.configuration.isStoredInMemoryOnly {
      _ = try? connection.checkpoint(.full, busyTimeout: LogMark.readerTimeout)
    }
    return try identifier() ?? ""
  }

  /// The version of the store's format; 0 for a new store.
  ///
  /// - Throws: `unknownSchema` for one that this version of the library does not know.
  private func format() throws -> Int64 {
    let version = LogMark.format(in: try connection.integer("PRAGMA user_version") ?? 0)
    guard version > Self.formatVersion else { return version }
    throw SwiftDataError(
      .unknownSchema,
      "The store was written by a newer version of this library (format \(version)). Update "
        + "the library; the file was left untouched.")
  }

  /// Throws if another file is at the store's path.
  private func checkPlace() throws { if connection.hasMoved { throw file.displacement } }

  /// Completes a log mark of a process that was killed, under the commit log's lock: another container of this process may
  /// be about to make the same commit.
  private func finishLogMark() throws {
    try connection.finishLogMark {
      // Without an identifier, no container has the store open.
      guard let identifier = try identifier() else { return try connection.commit() }
      let log = try CommitLog.of(
        CommitLog.name(RecordStore.Identity(identifier: identifier), file.configuration))
      log.transactionBegins()
      defer { log.transactionEnds() }
      try log.commitQuietly(connection, connection.commit)
    }
  }

  /// Checks whether the models read the values of a store that may not be written, and returns its identifier.
  private func prepareReading(_ digest: String) throws -> String {
    guard let identifier = try identifier() else { return "read-only" }
    // Without a schema that can be read, what the store lacks shows when it is used.
    guard try unchanged(digest) == nil, let stored = try? connection.storedSchema() else {
      return identifier
    }
    // One snapshot for all checks.
    try connection.begin()
    defer { try? connection.execute("ROLLBACK") }
    try makeMigrator(from: stored).checkReading()
    return identifier
  }

  /// Removes the files of large values that no row refers to after a migration.
  ///
  /// Only reported if it fails: the migration is committed, and the files take up space alone.
  private func removeUnusedFiles() {
    guard let blobs else { return }
    do {
      // Files are written before their rows, under the same lock.
      try connection.execute("BEGIN IMMEDIATE")
      defer { try? connection.execute("ROLLBACK") }
      let references = ExternalReferences(layout, entities: entities)
      let used = try references.readAll(connection)
      // The directory at the path is another store's if this one was moved after its commit.
      if connection.hasMoved { return }
      try blobs.sweep(keeping: used, keepsHeld: true)
    } catch {
      Report.problem(
        .externalFileFailed, subject: file.configuration.url.lastPathComponent,
        message:
          "Files that no row needs after the migration were not removed. They only take up space; compact() removes them.",
        cause: error)
    }
  }

  /// Creates or changes everything, within the open transaction, and records the digest, by which the next opening knows.
  private func change(isNew: Bool, _ migrator: SchemaMigrator?, _ digest: String) throws {
    // In this order: the migrator renames what there is, then missing tables are made, then the
    // indexes of their columns.
    if isNew { try createMetadata() }
    try migrator?.run()
    // Of models that the store had, each has its table.
    let lacksNone = migrator?.difference.isEmpty == true && !isMirror
    for table in tables { try prepare(table, reportsMissing: lacksNone) }
    for index in entities.sorted() { try prepareRelated(layout.entities[index]) }
    try prepareHistory()
    try recordSchema(
      version: migrator?.version ?? file.configuration.newVersion ?? layout.schema.version)
    // After all changes of tables, each of which raises the schema version that it records.
    try recordTables(digest)
    // A copy that a migration works on keeps the store's names.
    if !file.configuration.isStoredInMemoryOnly, file.configuration.migration == .none {
      try connection.nameChangedTables()
    }
  }

  /// The store's identifier, if its tables are as these models left them, and nothing has changed a table since.
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

  /// Records the digest with SQLite's schema version, which changes with every CREATE, ALTER or DROP of any program.
  private func recordTables(_ digest: String) throws {
    let version = try connection.integer("PRAGMA schema_version") ?? 0
    try connection.run(
      "INSERT OR REPLACE INTO stead_metadata VALUES ('tables', ?1)",
      [.text("\(version) \(digest)")])
  }

  /// The store's identifier; nil if it has none yet.
  private func identifier() throws -> String? {
    let rows = try connection.rows("SELECT value FROM stead_metadata WHERE key = 'identifier'")
    guard case .text(let text)? = rows.first?.first else { return nil }
    return text
  }

  /// Makes the tables of the library, and marks the file as a store.
  private func createMetadata() throws {
    // In the transaction of the tables: others see a complete store, or an empty file.
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

  /// Makes the tables and triggers of the history, which stores of earlier versions lack.
  private func prepareHistory() throws {
    let old =
      keepsOldRows ? RowVersionTable.all(tables: tables, layout: layout, entities: entities) : []
    let triggers =
      keepsHistory
      ? HistoryTrigger.all(tables: tables, layout: layout, entities: entities, old: old) : []
    try HistoryTable(connection: connection).prepare(triggers)
    try recordMigration()
    let rows = RowVersions(connection: connection)
    // Old rows of other models cannot be restored with these.
    if migration != nil { try rows.prepare([]) }
    try rows.prepare(old)
  }

  /// Writes the rows that a migration has changed as a transaction of the history.
  private func recordMigration() throws {
    let changes = connection.changes
    if changes.isEmpty { return }
    // Taken out, so that the first save does not record them again.
    connection.changes = ChangeList()
    let commit = try connection.lastCommit().next()
    try connection.write(commit, changes.text(at: commit.stamp), by: nil)
  }

  /// Backs the store up, if it is a program's own: a working copy needs none.
  private func makeBackup() throws -> URL? {
    guard file.configuration.migration == .none else { return nil }
    return try StoreBackup(file: file).make(check: checkPlace) {
      try report(.copying, $0, of: $1)
    }
  }

  /// The migrator from the schema that the store was last opened with.
  private func makeMigrator() throws -> SchemaMigrator {
    let rows = try connection.rows("SELECT value FROM stead_metadata WHERE key = 'schema'")
    guard case .text(let text)? = rows.first?.first,
      let stored = try? JSONDecoder().decode(Schema.self, from: Data(text.utf8))
    else {
      throw SwiftDataError(
        .unreadableStore,
        "The store does not record which models it was made for: its row `schema` in stead_metadata is missing, or isn't a "
          + "schema. The store was left as it was; open a backup.")
    }
    return try makeMigrator(from: stored)
  }

  /// The migrator from a schema to the container's models.
  private func makeMigrator(from stored: Schema) throws -> SchemaMigrator {
    try SchemaMigrator(
      connection, from: stored, to: layout, tables: tables, blobs: blobs,
      role: file.configuration.migration, converting: file.configuration.conversions)
  }

  /// Records the schema as JSON, from which a later version migrates. Unchanged JSON is not written.
  private func recordSchema(version: Schema.Version) throws {
    let schema = Schema(entities: layout.schema.entities, version: version)
    let encoder = JSONEncoder()
    // The same models have the same JSON, which then is not written again.
    encoder.outputFormatting = .sortedKeys
    let text = String(decoding: try encoder.encode(schema), as: UTF8.self)
    try connection.run(
      "INSERT INTO stead_metadata VALUES ('schema', ?1) "
        + "ON CONFLICT DO UPDATE SET value = excluded.value WHERE value IS NOT excluded.value",
      [.text(text)])
  }

  /// Makes a table and the indexes of its references, where they are missing. Columns are added by the migrator.
  private func prepare(_ table: TableLayout, reportsMissing: Bool) throws {
    // Views count as well, and names in any case: CREATE TABLE would fail for both.
    let exists = try connection.integer(
      "SELECT count(*) FROM sqlite_schema WHERE type IN ('table', 'view') AND name = ?1 COLLATE NOCASE",
      [.text(table.name)])
    if exists == 0 {
      try connection.execute(table.creation)
      if reportsMissing {
        Report.problem(
          .recordsFailed, subject: table.name,
          message:
            "The store \(file.configuration.url.lastPathComponent) lacked the table, which another program "
            + "must have removed with all of its rows, and has an empty one now. Open a backup if the objects are "
            + "needed.")
      }
    }
    for index in table.references { try connection.execute(index.creation) }
  }

  /// The error of a unique index that cannot be made, since rows share a value.
  private func duplicates(
    _ index: TableIndex, _ properties: [Int], of entity: EntityLayout
  ) throws -> SwiftDataError {
    let names = properties.map { "\(entity.name).\(entity.properties[$0].name)" }
    let rows = try index.sharingRows(on: connection)
    return SwiftDataError(
      .loadIssueModelContainer,
      "\(names.joined(separator: " and ")) is unique, but these share a value: \(rows) of the table \(index.table). So the index "
        + "\(index.name), which another program may have removed, cannot be made. The store was left as it was. Change or delete "
        + "all but one of each with an SQLite tool, and open the store again; or open a backup.")
  }

  /// Makes the indexes, the tables of pairs and the search table of an entity.
  private func prepareRelated(_ entity: EntityLayout) throws {
    // A mirror may hold two rows of one value for a moment, so none of its indexes is unique.
    for (constraint, isUnique) in entity.uniqueConstraints.map({ ($0, !isMirror) })
      + entity.indices.map({ ($0, false) })
    {
      guard let index = TableIndex(constraint, of: entity, isUnique: isUnique) else {
        throw SwiftDataError(
          .loadIssueModelContainer,
          "A to-many relationship of \(entity.name) cannot be unique or indexed. Take it out of #Unique and #Index."
        )
      }
      do {
        try connection.execute(index.creation)
      } catch let error as SwiftDataError where error.code == .modelValidationFailure {
        // The only constraint that making an index can break.
        throw try duplicates(index, constraint, of: entity)
      }
    }
    for index in entity.joined {
      if let join = entity.properties[index].joinTable { try connection.create(join) }
    }
    if !entity.searchable.isEmpty {
      try SearchTable(entity: entity).prepare(on: connection)
    }
  }
}
