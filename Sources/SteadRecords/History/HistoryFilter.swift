import Foundation

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
