import Foundation
import SteadSQLite
import Synchronization

/// Removes the transactions of a store's history that exceed its limits.
struct HistoryTrimming {
  /// How many commits happen between two removals after a save.
  static let interval: Int64 = 256
  /// The prefix of the readers' keys in `stead_metadata`.
  static let readerPrefix = "reader:"

  /// It has a transaction open; a writing one to change something.
  let connection: StoreConnection
  /// What stays. Unused by the calls that concern readers.
  let limits: ModelConfiguration.HistoryLimits

  /// Removes what exceeds the limits, in the open transaction. Costs reading the lists that stay if
  /// their size is limited.
  func run() throws {
    guard try connection.hasHistory(), let last = try lastToRemove() else { return }
    try HistoryRemoval(connection: connection).remove(upTo: last)
  }

  /// The number of the last transaction to remove; nil for none.
  ///
  /// The limits only raise it, and the slowest reader lowers it again, by no more than `unreadTransactions` allows, so
  /// that a reader which never comes back does not keep everything. That limit alone removes nothing.
  private func lastToRemove() throws -> Int64? {
    let newest = try connection.lastCommit().number
    var last: Int64 = 0
    if let age = limits.age {
      // Both in the form of stamps.
      let cutoff = EditClock.now - Self.stampLength(ofSeconds: age)
      let kept = try connection.integer(
        "SELECT number FROM stead_history WHERE stamp >= ?1 ORDER BY number LIMIT 1",
        [.integer(cutoff)])
      // Everything before the first one that is young enough; everything, if none is.
      last = max(last, kept.map { max($0, 1) - 1 } ?? newest)
    }
    // A negative limit keeps as little as zero does.
    if let count = limits.transactions { last = max(last, newest - Int64(max(count, 0))) }
    if let bytes = limits.bytes { last = max(last, try lastBeyond(bytes)) }
    if let reader = try readers().values.min() {
      let spared = limits.unreadTransactions.map { newest - Int64(max($0, 0)) } ?? 0
      last = min(last, max(reader, spared))
    }
    return last > 0 ? last : nil
  }

  /// A length of time in the form of stamps; at most the whole time since the stamps' zero, however long it is.
  private static func stampLength(ofSeconds age: Double) -> Int64 {
    let limit = EditClock.now
    let milliseconds = (age * 1000).rounded(.down)
    guard milliseconds < Double(limit >> EditClock.counterBits) else { return limit }
    return milliseconds > 0 ? Int64(milliseconds) << EditClock.counterBits : 0
  }

  /// The newest transaction with which the history exceeds a number of bytes; 0 if it has fewer.
  private func lastBeyond(_ bytes: Int) throws -> Int64 {
    // length() counts the characters of text, but the bytes of a blob.
    let statement = try connection.statement(
      "SELECT number, length(CAST(changes AS BLOB)) FROM stead_history "
        + "WHERE changes IS NOT NULL ORDER BY number DESC")
    statement.reset()
    defer { statement.reset() }
    // From the newest on: what is beyond the budget is the oldest.
    var left = Int64(max(bytes, 0))
    while try statement.step() {
      left -= statement.integer(1)
      if left < 0 { return statement.integer(0) }
    }
    return 0
  }

  // MARK: Readers

  /// The last transaction that each reader has handled.
  func readers() throws -> [String: Int64] {
    let rows = try connection.rows(
      "SELECT key, value FROM stead_metadata WHERE substr(key, 1, ?1) = ?2",
      [.integer(Int64(Self.readerPrefix.utf8.count)), .text(Self.readerPrefix)])
    var readers: [String: Int64] = [:]
    for row in rows {
      guard case .text(let key) = row[0], case .integer(let number) = row[1] else { continue }
      readers[String(key.dropFirst(Self.readerPrefix.count))] = number
    }
    return readers
  }

  /// Records the last transaction that a reader has handled.
  func setReader(_ name: String, to number: Int64) throws {
    try connection.run(
      "INSERT OR REPLACE INTO stead_metadata VALUES (?1, ?2)",
      [.text(Self.readerPrefix + name), .integer(number)])
  }

  /// Forgets a reader, for which nothing is kept from now on.
  func removeReader(_ name: String) throws {
    try connection.run(
      "DELETE FROM stead_metadata WHERE key = ?1", [.text(Self.readerPrefix + name)])
  }
}

/// Says when a store's history is to be trimmed: after the save with which ``HistoryTrimming/interval`` commits have been
/// made since the last time.
final class TrimmingSchedule: Sendable {
  private let limits: ModelConfiguration.HistoryLimits
  /// The last commit after which it was due. Set under the store's write lock.
  private let last = Atomic<Int64>(0)
  /// Whether it is due. Set under the store's write lock, and asked without it.
  private let isDue = Atomic<Bool>(false)

  init(_ limits: ModelConfiguration.HistoryLimits) { self.limits = limits }

  /// Begins to count from a commit.
  func didOpen(at number: Int64) { last.store(number, ordering: .relaxed) }

  /// Records a commit.
  func didCommit(_ number: Int64) {
    guard limits != .none else { return }
    // By quotients: other processes' commits have numbers, too, so a multiple may never be seen here.
    let interval = HistoryTrimming.interval
    guard number / interval != last.load(ordering: .relaxed) / interval else { return }
    last.store(number, ordering: .relaxed)
    isDue.store(true, ordering: .releasing)
  }

  /// Whether it is due, for the one caller that then does it.
  func take() -> Bool { isDue.exchange(false, ordering: .acquiringAndReleasing) }
}

// MARK: - Removal

/// Deletes transactions, and records the last deleted number, so that tokens before it are refused as expired.
///
/// Invariant: the newest row stays, emptied if it was deleted, since its number is the store's commit counter.
struct HistoryRemoval {
  /// It has a write transaction open.
  let connection: StoreConnection

  /// Deletes the transactions whose numbers a body returns; nil for all.
  func run(_ numbers: () throws -> [Int64]?) throws {
    guard let numbers = try numbers() else { return try removeAll() }
    guard let last = numbers.max() else { return }
    // The newest row counts the store's commits, so it stays, without changes.
    let newest = try connection.lastCommit().number
    for number in numbers where number != newest {
      try connection.run("DELETE FROM stead_history WHERE number = ?1", [.integer(number)])
    }
    if last == newest { try empty(newest) }
    try record(last)
    try removeOldRows(newest)
  }

  /// Removes the row versions of the transactions before the first one that is left.
  private func removeOldRows(_ newest: Int64) throws {
    // Versions reach back as far as transactions do.
    let first = try connection.integer(
      "SELECT min(number) FROM stead_history WHERE changes IS NOT NULL")
    try RowVersions(connection: connection).remove(upTo: first.map { max($0, 1) - 1 } ?? newest)
  }

  /// Deletes the transactions up to one.
  func remove(upTo last: Int64) throws {
    let count = try connection.integer(
      "SELECT 1 FROM stead_history WHERE number <= ?1 AND changes IS NOT NULL LIMIT 1",
      [.integer(last)])
    // Nothing is written without need.
    guard count != nil else { return }
    let newest = try connection.lastCommit().number
    try connection.run(
      "DELETE FROM stead_history WHERE number <= ?1 AND number <> ?2",
      [.integer(last), .integer(newest)])
    if last >= newest { try empty(newest) }
    try record(min(last, newest))
    try removeOldRows(newest)
  }

  /// Deletes all transactions.
  func removeAll() throws {
    let newest = try connection.lastCommit().number
    let last = try connection.integer(
      "SELECT max(number) FROM stead_history WHERE changes IS NOT NULL")
    // Nothing is recorded, so no token has to expire.
    guard let last else { return }
    try connection.run("DELETE FROM stead_history WHERE number < ?1", [.integer(newest)])
    try empty(newest)
    try record(last)
    try removeOldRows(newest)
  }

  /// Clears the changes of a transaction, whose number and stamp stay.
  private func empty(_ number: Int64) throws {
    try connection.run(
      "UPDATE stead_history SET author = NULL, program = NULL, process = NULL, changes = NULL "
        + "WHERE number = ?1", [.integer(number)])
  }

  /// Makes the tokens of a transaction and of those before it expire.
  func record(_ last: Int64) throws {
    // max(): an earlier removal may have gone further.
    try connection.run(
      "INSERT INTO stead_metadata VALUES (?1, ?2) "
        + "ON CONFLICT DO UPDATE SET value = max(value, excluded.value)",
      [.text(HistoryTable.deletedKey), .integer(last)])
  }
}
