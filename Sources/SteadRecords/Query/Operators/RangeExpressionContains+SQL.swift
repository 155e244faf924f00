import Foundation
import SteadSQLite

extension PredicateExpressions.RangeExpressionContains: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    try translation.checkOrder(of: Element.Output.self)
    return try translation.rangeContains(
      translation.term(range), translation.term(element), mode)
  }
}

extension PredicateTranslation {
  /// The SQL of `range.contains(value)`.
  ///
  /// Bounds in the wrong order trap in Swift. As a condition that needs no test: no value is between them.
  func rangeContains(_ range: Term, _ value: Term, _ mode: TranslationMode) throws -> Term {
    var lower: Term?
    var upper: Term?
    var isClosed = true
    switch range {
    case .range(let low, let high, let closed): (lower, upper, isClosed) = (low, high, closed)
    case .constant(.other(let range as any BoundedRange)):
      (lower, upper) = (range.lower.map(Term.constant), range.upper.map(Term.constant))
      isClosed = range.isClosed
    default: throw NotTranslatable("a range of an unknown type")
    }
    let tests = [
      try lower.map { try scalar(order(value, .greaterOrEqual, $0)) },
      try upper.map { try scalar(order(value, isClosed ? .lessOrEqual : .less, $0)) },
    ].compactMap { $0 }
    let sql: SQLFragment = "(\(SQLFragment.joined(tests.map(\.sql), by: " AND ")))"
    if case .range(let low, let high, _) = range, !mode.nullIsFalse {
      let isOrdered = try scalar(order(low, .lessOrEqual, high)).sql
      return .boolean("CASE WHEN \(isOrdered) THEN \(sql) END", .undefined)
    }
    let nullability = tests.map(\.nullability).reduce(.never, Nullability.either)
    return .boolean(sql, nullability, strict: tests.map(\.strict).reduce(0, |))
  }
}
