import Foundation
import SteadSQLite

/// Reads the transactions of one store that pass a filter.
struct HistoryReader {
  let store: RecordStore
  /// What was found out about the predicate without a transaction.
  let filter: HistoryFilter

  /// In which order transactions are read, and how many.
  struct Order {
    var isReversed = false
    /// The maximum number; 0 for all.
    var limit = 0
  }

  private var identifier: String { store.identity.identifier }

  /// Checks that the history since each lower bound of the filter is complete.
  ///
  /// - Throws: ``SwiftDataError`` `.historyTokenExpired` if a transaction after a bound was deleted, or the bound is
  ///   after the last transaction, since the store was restored from an older copy.
  private func checkTokens(_ connection: StoreConnection) throws {
    // Without a bound the caller asks for what there is, and misses nothing.
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

  /// Calls a body with each matching transaction of a connection's snapshot.
  ///
  /// Bounds of tokens are part of the SQL. Authors are compared before changes are decoded, which costs most; the
  /// rest of the predicate is evaluated on whole transactions.
  ///
  /// - Parameter token: Makes the token of a transaction.
  func forEach(
    on connection: StoreConnection, _ order: Order, token: (HistoryRow) -> DefaultHistoryToken,
    _ body: (DefaultHistoryTransaction) throws -> Void
  ) throws {
    // A store of an earlier version, opened for reading alone, has no table.
    guard try connection.hasHistory() else { return }
    // In the same snapshot as the rows: history could otherwise be deleted between the check and
    // the read.
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
    // One for all transactions, since it remembers names.
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
      // All of its changes are of entities that the container does not have.
      if changes.isEmpty { continue }
      let transaction = DefaultHistoryTransaction(row, token(row), changes)
      if let rest, try !rest.matches(transaction) { continue }
      try body(transaction)
      count += 1
      // Never equal for a limit of 0.
      if count == order.limit { return }
    }
  }

  /// Decodes the changes of the current row.
  ///
  /// - Throws: ``SwiftDataError`` `.unreadableStore` if the row is damaged.
  private func changes(
    _ statement: SQLiteStatement, _ row: HistoryRow, _ decoder: ChangeDecoder
  ) throws -> [HistoryChange] {
    do {
      return try statement.withText(5) { try decoder.changes($0, of: row.number, at: row.stamp) }
    } catch is HistoryFormat.Malformed {
      throw SwiftDataError(
        .unreadableStore,
        "Transaction \(row.number) of the history is damaged, or has more than \(HistoryFormat.changeLimit) changes. "
          + "Delete the history up to it, and continue from the newest token.")
    }
  }
}

/// Reads a column that mostly has the same string as in the row before, without making the string again.
private struct RepeatedText {
  private var last = ""
  private var bytes: [UInt8] = []

  /// The column's string in the current row; nil for NULL.
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

/// The conditions of a predicate on tokens and authors, which can be checked without making a transaction.
///
/// Taken from the operands of its conjunctions. A condition that the filter covers completely is not evaluated again.
struct HistoryFilter {
  /// Tokens after which, or at which, transactions match.
  var lowerBounds: [(token: DefaultHistoryToken, includesEqual: Bool)] = []
  /// Tokens before which, or at which, transactions match.
  var upperBounds: [(token: DefaultHistoryToken, includesEqual: Bool)] = []
  /// Authors that are wanted, or not wanted.
  var authors: [(name: String?, isWanted: Bool)] = []
  /// The whole predicate, if the filter does not cover all of it.
  var rest: Predicate<DefaultHistoryTransaction>?

  /// Takes over what it can of a predicate.
  init(_ predicate: Predicate<DefaultHistoryTransaction>?) {
    guard let predicate else { return }
    // The whole predicate, and not what is left of it: the conditions that the filter has taken
    // over hold anyway.
    if (predicate.expression as? any HistoryCondition)?.narrow(&self) != true { rest = predicate }
  }

  /// The numbers of a store's transactions between the bounds; nil for none.
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

  /// Whether transactions of an author match.
  func accepts(author: String?) -> Bool {
    authors.allSatisfy { ($0.name == author) == $0.isWanted }
  }
}

/// A node that a filter may take over.
private protocol HistoryCondition {
  /// Narrows the filter by what it can express of the condition; returns whether that is all of it.
  func narrow(_ filter: inout HistoryFilter) -> Bool
}

/// An operand of a comparison with a property of a transaction.
private protocol HistoryOperand {
  /// The property that it reads; nil for anything else.
  var property: AnyKeyPath? { get }
  /// The value that it is; nil for anything else. The value may itself be nil.
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
    // Both sides, even if one is not covered: what one narrows holds for the whole conjunction.
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
    // `token > t` and `t < token` are the same condition.
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
  /// Takes over a comparison of the author with a constant; returns whether it is one.
  fileprivate mutating func compareAuthor(_ lhs: Any, _ rhs: Any, isWanted: Bool) -> Bool {
    guard let left = lhs as? any HistoryOperand, let right = rhs as? any HistoryOperand else {
      return false
    }
    let isForward = left.property == \DefaultHistoryTransaction.author
    let isBackward = right.property == \DefaultHistoryTransaction.author
    guard isForward != isBackward, let constant = (isForward ? right : left).constant else {
      return false
    }
    // nil is an author's name, too: the transactions without one.
    if let name = constant as? String? {
      authors.append((name, isWanted))
      return true
    }
    return false
  }
}
