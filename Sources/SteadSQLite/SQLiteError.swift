import CSteadSQLite

/// An error that SQLite reported.
///
/// Contains the statement's SQL, and none of its parameters.
package struct SQLiteError: Error, Equatable {
  /// SQLite's extended result code; see <https://sqlite.org/rescode.html>.
  package let code: Int32
  /// SQLite's own message.
  package let message: String
  /// The statement; empty for an action without one, such as opening a file.
  package let sql: String

  package init(code: Int32, message: String, sql: String = "") {
    self.code = code
    self.message = message
    self.sql = sql
  }

  /// Damage that a file's content reveals before SQLite itself notices.
  package static func damaged(_ message: String) -> SQLiteError {
    SQLiteError(code: SQLITE_CORRUPT, message: message)
  }

  /// Whether a file, such as the log, ends before the bytes that it should have.
  package var isOfShortFile: Bool { code == SQLITE_IOERR | (2 << 8) }

  /// What a caller of SQLite can act on.
  package enum Kind: Equatable {
    case full, damaged, locked, readOnly, notOpened, disk, constraint, interrupted, view, other
  }

  /// The beginning of SQLite's message for a view that may not be read; it has no code for that.
  private static let refusedView = "access to view"

  package var kind: Kind {
    switch code & 0xff {
    case SQLITE_FULL: .full
    case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged
    case SQLITE_BUSY, SQLITE_LOCKED: .locked
    case SQLITE_READONLY: .readOnly
    case SQLITE_CANTOPEN: .notOpened
    case SQLITE_IOERR: .disk
    case SQLITE_CONSTRAINT: .constraint
    case SQLITE_INTERRUPT: .interrupted
    case SQLITE_ERROR where message.hasPrefix(Self.refusedView): .view
    default: .other
    }
  }
}

extension SQLiteError: CustomStringConvertible {
  package var description: String {
    sql.isEmpty ? "\(message) (SQLite \(code))" : "\(message) (SQLite \(code)) in: \(sql)"
  }
}
