import SteadRecords
import SteadSQLite
internal import SteadSyncProtocol

/// The tables of a zone in a database. Their names begin with `stead_sync`.
///
/// | table | rows |
/// |---|---|
/// | `stead_sync` | keys and values: `format`, `zone`, `state`, `schema`, `models`, `turn`, `history` |
/// | `base`, `staged` | records as the server has confirmed them, and those of pages that don't lead to the head yet |
/// | `unique`, `references` | the index of the base |
/// | `rows`, `links` | the row of each record, and the pair of each link |
/// | `blobs`, `fetched` | which row has which blob, and bytes that no row has yet |
/// | `outbox`, `quarantine` | pending and refused transactions |
/// | `unshown`, `conflicts` | records without rows, and overruled edits |
enum SyncTables {
  /// The version of the tables, which grows with each change of them.
  ///
  /// - 1: records in the trees of their random identifiers, with an index of types.
  /// - 2: records in the order of their arrival, each found through an index of identifiers. A page of a fetch
  ///   then touches the leaves of a smaller tree, and fewer of them: together with reading ahead, a first fetch of
  ///   100,000 records took 7.5 s instead of 33 s.
  static let format: Int64 = 2

  /// The table of base or staged records.
  private static func recordTable(_ name: String) -> String {
    "CREATE TABLE stead_sync_\(name) (id TEXT PRIMARY KEY NOT NULL, seq INTEGER NOT NULL, "
      + "live INTEGER NOT NULL, content TEXT NOT NULL);\n"
  }

  private static let baseIndex = "CREATE INDEX stead_sync_base_seq ON stead_sync_base (seq);"

  /// Creates missing tables, and brings those of an older format to the present one, in the caller's transaction.
  /// Costs one look-up if there is nothing to do.
  ///
  /// - Throws: ``SyncError/newerFormat(found:known:)``: a later version may keep in them what this one would lose.
  static func prepare(_ database: any SyncDatabase) throws {
    // Several processes may come here at once. Each is in a transaction that writes, so one of them makes the tables.
    if try isPrepared(database) {
      let found = try integer("format", database) ?? 0
      guard found <= format else { throw SyncError.newerFormat(found: found, known: format) }
      if found < format { try upgrade(database) }
      return
    }
    try database.execute(
      """
      CREATE TABLE stead_sync (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
      \(recordTable("base"))\(recordTable("staged"))
      \(baseIndex)
      CREATE TABLE stead_sync_unique (token TEXT PRIMARY KEY, id TEXT NOT NULL) WITHOUT ROWID;
      CREATE INDEX stead_sync_unique_id ON stead_sync_unique (id);
      CREATE TABLE stead_sync_references (target TEXT, source TEXT, PRIMARY KEY (target, source)) \
      WITHOUT ROWID;
      CREATE INDEX stead_sync_references_source ON stead_sync_references (source);
      CREATE TABLE stead_sync_rows (id TEXT PRIMARY KEY, root TEXT NOT NULL, number INTEGER NOT NULL, \
      UNIQUE (root, number)) WITHOUT ROWID;
      CREATE TABLE stead_sync_links (id TEXT PRIMARY KEY, type TEXT NOT NULL, owner INTEGER NOT NULL, \
      target INTEGER NOT NULL) WITHOUT ROWID;
      CREATE INDEX stead_sync_links_pair ON stead_sync_links (type, owner, target);
      CREATE TABLE stead_sync_blobs (root TEXT, number INTEGER, attribute TEXT, sha256 TEXT NOT NULL, \
      PRIMARY KEY (root, number, attribute)) WITHOUT ROWID;
      CREATE INDEX stead_sync_blobs_sha256 ON stead_sync_blobs (sha256);
      CREATE TABLE stead_sync_fetched (sha256 TEXT PRIMARY KEY, bytes BLOB NOT NULL);
      CREATE TABLE stead_sync_outbox (number INTEGER PRIMARY KEY, content TEXT NOT NULL);
      CREATE TABLE stead_sync_quarantine (place INTEGER PRIMARY KEY, content TEXT NOT NULL);
      CREATE TABLE stead_sync_unshown (id TEXT PRIMARY KEY, reason TEXT NOT NULL) WITHOUT ROWID;
      CREATE TABLE stead_sync_conflicts (number INTEGER PRIMARY KEY, content TEXT NOT NULL);
      """)
    try set("format", .integer(format), database)
  }

  /// Brings tables of format 1 to the present one. Costs two copies of the records.
  ///
  /// No table is renamed: SQLite refuses that if any view of the store is broken.
  private static func upgrade(_ database: any SyncDatabase) throws {
    // The copy is in the order of arrival, which is what format 2 is about.
    for name in ["base", "staged"] {
      try database.execute(
        """
        CREATE TEMP TABLE stead_sync_old AS \
        SELECT id, seq, live, content FROM main.stead_sync_\(name) ORDER BY seq;
        DROP TABLE main.stead_sync_\(name);
        \(recordTable(name))
        INSERT INTO stead_sync_\(name) SELECT * FROM temp.stead_sync_old ORDER BY rowid;
        DROP TABLE temp.stead_sync_old;
        """)
    }
    // The old index was dropped with its table.
    try database.execute(baseIndex)
    try set("format", .integer(format), database)
  }

  /// Whether the tables exist.
  static func isPrepared(_ database: any SyncDatabase) throws -> Bool {
    try database.integer(
      "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'stead_sync'") != nil
  }

  /// Whether the tables exist in the present format.
  static func isPresent(_ database: any SyncDatabase) throws -> Bool {
    try isPrepared(database) && integer("format", database) == format
  }

  /// The identities of all records of the base.
  static func baseIDs(_ database: any SyncDatabase) throws -> [RecordID] {
    try database.texts("SELECT id FROM stead_sync_base").compactMap { RecordID($0) }
  }

  /// The number of rows of a table. Reads the whole table, or its index.
  static func count(_ table: String, _ database: any SyncDatabase) throws -> Int {
    Int(try database.integer("SELECT count(*) FROM stead_sync_\(table)") ?? 0)
  }

  /// Removes all records of the base, with their index.
  static func clearBase(_ database: any SyncDatabase) throws {
    for table in ["base", "unique", "references"] {
      try database.run("DELETE FROM stead_sync_\(table)")
    }
  }

  /// Deletes all data of the zone; rows of models stay.
  static func clear(_ database: any SyncDatabase) throws {
    try clearBase(database)
    for table in [
      "staged", "rows", "links", "blobs", "fetched", "outbox", "quarantine", "unshown", "conflicts",
    ] {
      try database.run("DELETE FROM stead_sync_\(table)")
    }
    // The format is that of the tables, which stay.
    try database.run("DELETE FROM stead_sync WHERE key <> 'format'")
  }

  /// Sets a value of the table `stead_sync`.
  static func set(_ key: String, _ value: SQLValue, _ database: any SyncDatabase) throws {
    try database.run(
      "INSERT INTO stead_sync VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = excluded.value",
      [.text(key), value])
  }

  /// A value of the table `stead_sync` as a string; nil if it isn't set.
  static func text(_ key: String, _ database: any SyncDatabase) throws -> String? {
    try database.text("SELECT value FROM stead_sync WHERE key = ?1", [.text(key)])
  }

  /// A value of the table `stead_sync` as a number; nil if it isn't set.
  static func integer(_ key: String, _ database: any SyncDatabase) throws -> Int64? {
    try database.integer("SELECT value FROM stead_sync WHERE key = ?1", [.text(key)])
  }
}

// MARK: - The database

/// The database with a zone's tables, within an open transaction: that of a store of records, or a file of their own.
///
/// Used by one thread at a time. Statements are shared by their SQL, so a body that reads rows of one must not run it
/// again.
protocol SyncDatabase: AnyObject {
  /// A prepared statement, reset and without values; the same one for equal SQL.
  func statement(_ sql: String) throws -> SQLiteStatement
  /// Runs statements without values. They aren't kept prepared.
  func execute(_ sql: String) throws
  /// The number of rows that the last statement changed.
  var changedRows: Int { get }
}

extension RowTransaction: SyncDatabase {}

extension SyncDatabase {
  /// Runs a statement for its effect. Costs no preparation if equal SQL ran before.
  func run(_ sql: String, _ values: [SQLValue] = []) throws {
    let statement = try statement(sql)
    statement.bind(values)
    try statement.run()
  }

  /// Calls a body with each row of a statement. The body must not run the same statement.
  func forEach(
    _ sql: String, _ values: [SQLValue] = [], _ body: (SQLiteStatement) throws -> Void
  ) throws {
    let statement = try statement(sql)
    // The statement is shared: the next caller must find it reset, also after an error.
    defer { statement.reset() }
    statement.bind(values)
    while try statement.step() { try body(statement) }
  }

  /// The first column of the first row as a string; nil for NULL, and if there are no rows.
  func text(_ sql: String, _ values: [SQLValue] = []) throws -> String? {
    let statement = try statement(sql)
    defer { statement.reset() }
    statement.bind(values)
    return try statement.step() && !statement.isNull(0) ? statement.text(0) : nil
  }

  /// The first column of the first row as a number; nil for NULL, and if there are no rows.
  func integer(_ sql: String, _ values: [SQLValue] = []) throws -> Int64? {
    let statement = try statement(sql)
    defer { statement.reset() }
    statement.bind(values)
    return try statement.step() && !statement.isNull(0) ? statement.integer(0) : nil
  }

  /// The first column of all rows as strings.
  func texts(_ sql: String, _ values: [SQLValue] = []) throws -> [String] {
    var texts: [String] = []
    try forEach(sql, values) { texts.append($0.text(0)) }
    return texts
  }
}
