import Foundation
import SteadSQLite

/// The tables of a cache's file; Documentation/DiskCacheFile.md draws them.
enum CacheSchema {
  /// Another number for each form of the tables or of the files of values.
  static let version: Int64 = 1
  /// "SdDC", where SQLite keeps the number of the application that a file belongs to.
  static let application: Int64 = 0x5364_4443

  /// The tables before the indexes; `VACUUM` recreates them in this order.
  private static let tables = [
    // One row: what all entries have in common.
    """
    CREATE TABLE state(one INTEGER PRIMARY KEY, size INTEGER NOT NULL, count INTEGER NOT NULL, \
    sequence INTEGER NOT NULL, generation INTEGER NOT NULL, salt BLOB NOT NULL, boot TEXT NOT NULL)
    """,
    // Small rows in the order of use, from which entries are removed.
    """
    CREATE TABLE entries(used INTEGER PRIMARY KEY, id INTEGER NOT NULL, hash INTEGER NOT NULL, \
    size INTEGER NOT NULL, stored INTEGER NOT NULL, expires INTEGER NOT NULL, form INTEGER NOT NULL)
    """,
    // What a get needs, in one row.
    """
    CREATE TABLE contents(id INTEGER PRIMARY KEY, stored INTEGER NOT NULL, expires INTEGER NOT NULL, \
    form INTEGER NOT NULL, length INTEGER NOT NULL, head INTEGER NOT NULL, body INTEGER NOT NULL, \
    key BLOB NOT NULL, tags BLOB NOT NULL, metadata BLOB NOT NULL, value BLOB)
    """,
    "CREATE TABLE tags(tag BLOB NOT NULL, id INTEGER NOT NULL, PRIMARY KEY(tag, id)) WITHOUT ROWID",
    "CREATE INDEX entries_by_hash ON entries(hash, id)",
    "CREATE INDEX entries_by_expiry ON entries(expires) WHERE expires < 9223372036854775807",
    "CREATE INDEX tags_by_id ON tags(id)",
  ]

  /// Creates the tables in a file without any, or throws if the file has others.
  static func prepare(_ connection: SQLiteConnection, boot: String) throws {
    if try connection.integer("PRAGMA page_count") == 0 {
      // A map of what points to each page would be written with every set. Without effect once a page exists.
      try connection.execute("PRAGMA auto_vacuum = NONE")
    }
    _ = try connection.useLog()
    if try connection.integer("SELECT count(*) FROM sqlite_schema") == 0 {
      try make(on: connection, boot: boot)
    }
    guard try connection.integer("PRAGMA application_id") == application,
      try connection.integer("PRAGMA user_version") == version,
      try connection.rows("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")
        == tables.map({ [.text($0)] })
    else { throw CacheFailure.unknownFile }
  }

  private static func make(on connection: SQLiteConnection, boot: String) throws {
    try connection.run("BEGIN IMMEDIATE")
    do {
      for table in tables { try connection.execute(table) }
      let salt = Data((0..<16).map { _ in UInt8.random(in: 0...255) })
      try connection.run(
        "INSERT INTO state VALUES (1, 0, 0, 0, ?, ?, ?)",
        [.integer(Int64.random(in: 1 ... .max)), .blob(salt), .text(boot)])
      try connection.execute("PRAGMA application_id = \(application)")
      try connection.execute("PRAGMA user_version = \(version)")
      try connection.run("COMMIT")
    } catch {
      try? connection.run("ROLLBACK")
      throw error
    }
  }
}
