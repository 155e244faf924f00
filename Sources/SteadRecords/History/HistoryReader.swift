import Foundation
import SteadSQLite

/// Finds transactions in the history of one store.
struct HistoryReader {
  let store: RecordStore
  let filter: HistoryFilter

  /// The order in which transactions are read, and how many are wanted.
  struct Order {
    var isReversed = false
    /// 0 for all.
    var limit = 0
  }

  private var identifier: String { store.identity.identifier }

  /// Throws when a transaction after a bound of the filter was deleted, or the bound is after the last transaction.
  private func checkTokens(_ connection: StoreConnection) throws {
    guard !filter.lowerBounds.isEmpty else { return }
    let deleted = try connection.lastDeletedTransaction()
    // The newest row counts the store's commits, so it is never deleted.
    let newest = try connection.integer("SELECT max(number) FROM stead_history") ?? 0
    for bound in filter.lowerBounds {
      // A token that does not name the store was made before the store's first transaction.
      let number = bound.token.number(in: identifier) ?? 0
      guard number <= newest else {
        throw SwiftDataError(
          .historyTokenExpired,
          "The token is not of this store's history: it names transaction \(number), and the store has \(newest). The "
            + "store was restored from an older copy. Fetch the objects again, and continue from the newest token."
        )
      }
      guard number < deleted else { continue }
      throw SwiftDataError(
        .historyTokenExpired,
        "The history after transaction \(number) was deleted up to \(deleted). Fetch the objects again, and "
          + "continue from the newest token.")
    }
  }

  /// Calls a body with the matching transactions of a connection's snapshot.
  ///
  /// - Parameter token: Makes the token of a transaction's row.
  func forEach(
    on connection: StoreConnection, _ order: Order, token: (HistoryRow) -> DefaultHistoryToken,
    _ body: (DefaultHistoryTransaction) throws -> Void
  ) throws {
    guard try connection.hasHistory() else { return }
    try checkTokens(connection)
    guard let numbers = filter.numbers(in: identifier) else { return }
    let statement = try connection.statement(
      "SELECT number, stamp, author, program, process, changes FROM stead_history "
        + "WHERE changes IS NOT NULL AND number BETWEEN ?1 AND ?2 "
        + "ORDER BY number\(order.isReversed ? " DESC" : "")")
    statement.reset()
    defer { statement.reset() }
    statement.bind(numbers.lowerBound, at: 1)
    statement.bind(numbers.upperBound, at: 2)
    let decoder = try ChangeDecoder(store, connection)
    let rest = filter.rest.map { PredicateMatcher($0) }
    var (author, program) = (RepeatedText(), RepeatedText())
    var count = 0
    while try statement.step() {
      let name = author.read(statement, 2)
      guard filter.accepts(author: name) else { continue }
      let row = HistoryRow(
        store: identifier, number: statement.integer(0), stamp: statement.integer(1), author: name,
        program: program.read(statement, 3),
        process: statement.isNull(4) ? nil : statement.integer(4))
      let changes = try self.changes(statement, row, decoder)
      if changes.isEmpty { continue }
      let transaction = DefaultHistoryTransaction(row, token(row), changes)
      if let rest, try !rest.matches(transaction) { continue }
      try body(transaction)
      count += 1
      if count == order.limit { return }
    }
  }

  private func changes(
    _ statement: SQLiteStatement, _ row: HistoryRow, _ decoder: ChangeDecoder
  ) throws -> [HistoryChange] {
    do {
      return try statement.withText(5) { try decoder.changes($0, of: row.number, at: row.stamp) }
    } catch is ChangeParser.Malformed {
      throw SwiftDataError(
        .unreadableStore,
        "Transaction \(row.number) of the history is damaged. Delete the history up to it, and continue from the "
          + "newest token.")
    }
  }
}

/// A column that mostly has the string of the row before.
private struct RepeatedText {
  private var last = ""
  private var bytes: [UInt8] = []

  mutating func read(_ statement: SQLiteStatement, _ column: Int32) -> String? {
    if statement.isNull(column) { return nil }
    return statement.withText(column) { text in
      if !text.isEqual(bytes) {
        bytes = Array(text)
        last = String(decoding: text, as: UTF8.self)
      }
      return last
    }
  }
}
