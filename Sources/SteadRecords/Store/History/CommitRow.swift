import Foundation
import SteadSQLite

/// The row that each transaction which writes objects adds to `stead_history`, in the same transaction; by its number a
/// reader knows which commits its snapshot has.
///
/// It has the table's columns and the statements that a save runs on it. Documentation/RecordStore.md describes the columns.
enum CommitRow {
  // A further column comes last, without NOT NULL: the statements name theirs, so those of a program that does not know it
  // still insert.
  /// The columns as they are declared.
  static let columns =
    "number INTEGER PRIMARY KEY, stamp INTEGER NOT NULL, author TEXT, program TEXT, process INTEGER, changes TEXT"
  // By the primary key, so it reads one path of the B-tree, however long the history is.
  /// The newest row.
  static let selection = "SELECT number, stamp FROM stead_history ORDER BY number DESC LIMIT 1"
  /// A transaction with changes.
  static let insertion =
    "INSERT INTO stead_history (number, stamp, author, program, process, changes) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
  /// A transaction without changes, after one that has some.
  static let counting = "INSERT INTO stead_history (number, stamp) VALUES (?1, ?2)"
  // Only the row directly before: an older one belongs to the history between.
  /// A transaction without changes, after one that has none either.
  static let renumbering =
    "UPDATE stead_history SET number = ?1, stamp = ?2 WHERE number = ?1 - 1 AND changes IS NULL"
  /// The rows of the triggers in the open transaction, which begin with a number.
  static let triggered =
    "SELECT changes, stamp FROM stead_history WHERE number >= ?1 ORDER BY number"
  /// Removes these rows.
  static let triggeredRemoval = "DELETE FROM stead_history WHERE number >= ?1"
}

extension StoreConnection {
  /// Writes the row of the commit that is about to be made.
  ///
  /// A row without changes only counts the commit. It replaces the row before it if that does no more, so that a
  /// store without a history has one row, not one for each commit.
  ///
  /// - Parameter changes: What the history has of it; nil to count the commit.
  func write(_ commit: CommitLog.Point, _ changes: String?, by author: String?) throws {
    guard let changes else {
      // Replaces the row before it, if that only counts commits, too. One with changes stays, and
      // then a row is inserted.
      try run(CommitRow.renumbering, [.integer(commit.number), .integer(commit.stamp)])
      if changedRows > 0 { return }
      return try run(CommitRow.counting, [.integer(commit.number), .integer(commit.stamp)])
    }
    // A statement that could not be prepared is prepared again, for its error.
    let statement = try rowInsertion ?? prepare(CommitRow.insertion)
    statement.bind(commit.number, at: 1)
    statement.bind(commit.stamp, at: 2)
    statement.bind(author.map { .text($0) } ?? .null, at: 3)
    statement.bind(.text(ProgramName.current), at: 4)
    statement.bind(Int64(getpid()), at: 5)
    statement.bind(.text(changes), at: 6)
    try statement.run()
  }
}

/// The name of this program in a history.
enum ProgramName {
  /// The bundle's identifier, or the executable's name where there is no bundle.
  static let current = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
}
