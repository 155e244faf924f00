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

// MARK: - What a predicate asks of tokens and authors

/// The conditions of a predicate on tokens and authors: the part of it that can be evaluated without making a
/// transaction.
struct HistoryFilter {
  /// Transactions after a token.
  var lowerBounds: [(token: DefaultHistoryToken, includesEqual: Bool)] = []
  /// Transactions before a token.
  var upperBounds: [(token: DefaultHistoryToken, includesEqual: Bool)] = []
  var authors: [(name: String?, isWanted: Bool)] = []
  /// The conditions that the other parts do not cover.
  var rest: Predicate<DefaultHistoryTransaction>?

  init(_ predicate: Predicate<DefaultHistoryTransaction>?) {
    guard let predicate else { return }
    if (predicate.expression as? any HistoryCondition)?.narrow(&self) != true { rest = predicate }
  }

  /// The numbers of a store's transactions that may match.
  func numbers(in store: String) -> ClosedRange<Int64>? {
    var (first, last) = (Int64.min, Int64.max)
    for bound in lowerBounds {
      let number = bound.token.number(in: store) ?? 0
      // No transaction comes after the greatest number, which a token may have that another program has made.
      guard bound.includesEqual || number < .max else { return nil }
      first = max(first, bound.includesEqual ? number : number + 1)
    }
    for bound in upperBounds {
      let number = bound.token.number(in: store) ?? 0
      guard bound.includesEqual || number > .min else { return nil }
      last = min(last, bound.includesEqual ? number : number - 1)
    }
    return first <= last ? first...last : nil
  }

  func accepts(author: String?) -> Bool {
    authors.allSatisfy { ($0.name == author) == $0.isWanted }
  }
}

/// A part of a predicate that a filter may take over.
private protocol HistoryCondition {
  /// Narrows a filter by a condition; returns whether that covers the whole condition.
  func narrow(_ filter: inout HistoryFilter) -> Bool
}

/// One side of a comparison.
private protocol HistoryOperand {
  /// The property of a transaction that it reads.
  var property: AnyKeyPath? { get }
  /// The value that it is.
  var constant: Any?? { get }
}

extension PredicateExpressions.KeyPath: HistoryOperand {
  fileprivate var property: AnyKeyPath? {
    root is PredicateExpressions.Variable<DefaultHistoryTransaction> ? keyPath : nil
  }
  fileprivate var constant: Any?? { nil }
}

extension PredicateExpressions.Value: HistoryOperand {
  fileprivate var property: AnyKeyPath? { nil }
  fileprivate var constant: Any?? { .some(value) }
}

extension PredicateExpressions.NilLiteral: HistoryOperand {
  fileprivate var property: AnyKeyPath? { nil }
  fileprivate var constant: Any?? { .some(.none) }
}

extension PredicateExpressions.Conjunction: HistoryCondition {
  fileprivate func narrow(_ filter: inout HistoryFilter) -> Bool {
    let isFirst = (lhs as? any HistoryCondition)?.narrow(&filter) ?? false
    let isSecond = (rhs as? any HistoryCondition)?.narrow(&filter) ?? false
    return isFirst && isSecond
  }
}

extension PredicateExpressions.Comparison: HistoryCondition {
  fileprivate func narrow(_ filter: inout HistoryFilter) -> Bool {
    guard let left = lhs as? any HistoryOperand, let right = rhs as? any HistoryOperand else {
      return false
    }
    let isForward = left.property == \DefaultHistoryTransaction.token
    let isBackward = right.property == \DefaultHistoryTransaction.token
    guard isForward != isBackward,
      let token = (isForward ? right : left).constant as? DefaultHistoryToken
    else { return false }
    switch (op, isForward) {
    case (.greaterThan, true), (.lessThan, false): filter.lowerBounds.append((token, false))
    case (.greaterThanOrEqual, true), (.lessThanOrEqual, false):
      filter.lowerBounds.append((token, true))
    case (.lessThan, true), (.greaterThan, false): filter.upperBounds.append((token, false))
    case (.lessThanOrEqual, true), (.greaterThanOrEqual, false):
      filter.upperBounds.append((token, true))
    @unknown default: return false
    }
    return true
  }
}

extension PredicateExpressions.Equal: HistoryCondition {
  fileprivate func narrow(_ filter: inout HistoryFilter) -> Bool {
    filter.compareAuthor(lhs, rhs, isWanted: true)
  }
}

extension PredicateExpressions.NotEqual: HistoryCondition {
  fileprivate func narrow(_ filter: inout HistoryFilter) -> Bool {
    filter.compareAuthor(lhs, rhs, isWanted: false)
  }
}

extension HistoryFilter {
  fileprivate mutating func compareAuthor(_ lhs: Any, _ rhs: Any, isWanted: Bool) -> Bool {
    guard let left = lhs as? any HistoryOperand, let right = rhs as? any HistoryOperand else {
      return false
    }
    let isForward = left.property == \DefaultHistoryTransaction.author
    let isBackward = right.property == \DefaultHistoryTransaction.author
    guard isForward != isBackward, let constant = (isForward ? right : left).constant else {
      return false
    }
    if let name = constant as? String? {
      authors.append((name, isWanted))
      return true
    }
    return false
  }
}
