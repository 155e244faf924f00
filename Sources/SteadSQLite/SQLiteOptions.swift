/// How a connection is opened.
package struct SQLiteOptions: Sendable {
  /// Where a database is stored.
  package enum Location: Sendable {
    /// A file, by its path.
    case file(String)
    /// Memory that only this connection sees, and that ends with it.
    case memory
  }

  package var location: Location
  /// Whether the connection may write.
  package var isWritable = true
  /// Whether a connection that may write creates a missing file.
  package var makesFile = true
  /// Whether only the file itself is read as it is, without its log, its locks, and any file next to it; for
  /// one that nobody writes to meanwhile. The connection does not write then.
  package var isImmutable = false
  /// How long a statement waits for the locks of other connections, in milliseconds.
  package var lockPatience: Int32 = 0
  /// The page cache, in KiB; nil keeps SQLite's default, which is 2,000.
  package var cacheSize: Int?
  /// Whether views can be read. Off, since a file with views where tables are expected was made by somebody else.
  package var readsViews = false
  /// Whether the file's schema may call functions of SQLite that aren't marked harmless. SQLite before 3.42
  /// doesn't mark JSON functions and FTS5. Our functions are out of its reach anyway.
  package var trustsSchema = false
  /// Functions and collations that SQLite lacks.
  package var functions: [SQLFunction] = []
  package var collations: [SQLCollation] = []
  /// What the connection throws instead of a ``SQLiteError``.
  package var failure: @Sendable (SQLiteError) -> any Error = { $0 }

  package init(_ location: Location) { self.location = location }
}

/// Limits that keep a crafted file, or a statement built from a huge value, from taking all memory.
package enum SQLiteLimit {
  /// The longest statement, in bytes. Values are parameters and do not count.
  package static let statementLength: Int32 = 1_000_000
  /// The maximum depth of an expression.
  package static let expressionDepth: Int32 = 1_000
  /// How many triggers may activate one another.
  package static let triggerDepth: Int32 = 20
  /// How many databases a statement may attach: `VACUUM` needs one.
  package static let attachedDatabases: Int32 = 1
}
