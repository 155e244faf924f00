import Foundation
import SteadSQLite

private typealias Node = PredicateExpressions

// MARK: - Equality and order

/// `==`.
extension PredicateExpressions.Equal: SQLTranslatable {
  /// `chain == true` is translated as the chain itself where NULL counts as false, which keeps it a plain condition.
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    let right = try translation.term(rhs)
    // `chain?.contains(x) == true` is the chain itself wherever nil counts as false.
    if mode.nullIsFalse, case .constant(.scalar(.integer(1), .boolean)) = right {
      return try translation.term(lhs, mode)
    }
    return try translation.equality(translation.term(lhs), right, isNegated: false, mode)
  }

  func checkedNode() -> CheckedExpression<Bool>? {
    rebuilt(lhs, rhs) { Node.build_Equal(lhs: $0, rhs: $1) }
  }
}

/// `!=`: true also if one side alone is nil.
extension PredicateExpressions.NotEqual: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    try translation.equality(
      translation.term(lhs), translation.term(rhs), isNegated: true, mode)
  }

  func checkedNode() -> CheckedExpression<Bool>? {
    rebuilt(lhs, rhs) { Node.build_NotEqual(lhs: $0, rhs: $1) }
  }
}

/// `<`, `<=`, `>` and `>=`.
extension PredicateExpressions.Comparison: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    try translation.checkOrder(of: LHS.Output.self)
    return try translation.order(
      translation.term(lhs), OrderOperator(op), translation.term(rhs))
  }

  func checkedNode() -> CheckedExpression<Bool>? {
    rebuilt(lhs, rhs) { Node.build_Comparison(lhs: $0, rhs: $1, op: op) }
  }
}

// MARK: - Ranges

/// `a..<b` with a bound that is read from the model.
extension PredicateExpressions.Range: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    try translation.checkOrder(of: LHS.Output.self)
    return .range(
      lower: try translation.term(lower), upper: try translation.term(upper), isClosed: false)
  }

  func checkedNode() -> CheckedExpression<Output>? {
    rebuilt(lower, upper) { Node.build_Range(lower: $0, upper: $1) }
  }
}

/// `a...b` with a bound that is read from the model.
extension PredicateExpressions.ClosedRange: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    try translation.checkOrder(of: LHS.Output.self)
    return .range(
      lower: try translation.term(lower), upper: try translation.term(upper), isClosed: true)
  }

  /// Foundation's node traps on bounds in the wrong order here, while its half-open range throws.
  func checkedNode() -> CheckedExpression<Output>? {
    let (lower, upper) = (lower.checkedOrSame(), upper.checkedOrSame())
    return CheckedExpression { bindings in
      let (first, last) = (try lower.evaluate(bindings), try upper.evaluate(bindings))
      // Before the range is made: its initializer has this as a precondition, which would end the
      // process.
      guard first <= last else { throw Trap() }
      return first...last
    }
  }
}

/// `range.contains(value)`.
extension PredicateExpressions.RangeExpressionContains: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    try translation.checkOrder(of: Element.Output.self)
    return try translation.rangeContains(
      translation.term(range), translation.term(element), mode)
  }

  func checkedNode() -> CheckedExpression<Bool>? {
    rebuilt(range, element) { Node.build_contains($0, $1) }
  }
}

extension PredicateTranslation {
  /// The SQL of `range.contains(value)`: a comparison with each bound that the range has.
  ///
  /// Bounds in the wrong order trap in Swift. A condition needs no test for that, since no value is between them; the
  /// exact value does, because its negation must not match.
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
    // Of a captured range Swift has checked the bounds when it was made.
    if case .range(let low, let high, _) = range, !mode.nullIsFalse {
      let isOrdered = try scalar(order(low, .lessOrEqual, high)).sql
      return .boolean("CASE WHEN \(isOrdered) THEN \(sql) END", .undefined)
    }
    let nullability = tests.map(\.nullability).reduce(.never, Nullability.either)
    return .boolean(sql, nullability, strict: tests.map(\.strict).reduce(0, |))
  }
}
