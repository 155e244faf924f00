import Foundation
import SteadSQLite

extension PredicateExpressions.RangeExpressionContains: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    try translation.checkOrder(of: Element.Output.self)
    return try translation.rangeContains(
      translation.term(range), translation.term(element))
  }
}

extension PredicateTranslation {
  func rangeContains(_ range: Term, _ value: Term) throws -> Term {
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
    let nullability = tests.map(\.nullability).reduce(.never, Nullability.either)
    return .boolean(
      "(\(SQLFragment.joined(tests.map(\.sql), by: " AND ")))", nullability,
      strict: tests.map(\.strict).reduce(0, |))
  }
}
