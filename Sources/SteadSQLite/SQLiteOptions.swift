/// How a connection is opened.
package struct SQLiteOptions: Sendable {
  /// Where a database lies.
  package enum Location: Sendable {
    /// A file, by its path.
    case file(String)
    /// Memory that this connection alone sees, and that ends with it.
    case memory
  }

  package var location: Location
  /// Whether the connection may write.
  package var isWritable = true
  /// Whether a file that does not exist is made by a connection that may write.
  package var makesFile = true
  /// Whether the file alone is read as it is, without its log, its locks, and without a file beside it; for one that
  /// nobody writes to meanwhile. The connection does not write then.
  package var isImmutable = false
  /// How long a statement waits for the locks of other connections, in milliseconds.
  package var lockPatience: Int32 = 0
  /// The page cache, in KiB; nil leaves it as SQLite has it, which is 2,000.
  package var cacheSize: Int?
  /// Whether views can be read. Off, since a file with views where tables should be was made by somebody
  /// else.
  package var readsViews = false
  /// Whether the file's schema may call functions of SQLite's that have no mark of being harmless. SQLite
  /// before 3.42 has none on JSON functions and on FTS5. Functions of ours are out of its reach anyway.
  package var trustsSchema = false
  /// Functions and collations that SQLite lacks.
  package var functions: [SQLFunction] = []
  package var collations: [SQLCollation] = []
  /// What the connection throws in place of a ``SQLiteError``.
  package var failure: @Sendable (SQLiteError) -> any Error = { $0 }

  package init(_ location: Location) { self.location = location }
}

/// Limits that keep a crafted file, or a statement made from a runaway value, from taking all memory.
package enum SQLiteLimit {
  /// The longest statement, in bytes. Values are parameters and do not count.
  package static let statementLength: Int32 = 1_000_000
  /// How deep an expression may be.
  package static let expressionDepth: Int32 = 1_000
  /// How many triggers may set off one another.
  package static let triggerDepth: Int32 = 20
  /// How many databases a statement may attach: `VACUUM` needs one.
  package static let attachedDatabases: Int32 = 1
}
