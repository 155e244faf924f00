public import Foundation

// Objects from outside, of which a predicate keeps the identifier, and values of types that are not
// Codable.
extension _PredicateNodes {
  public static func equal<L: PredicateExpression, M: PersistentModel>(
    _ left: L, value: M
  ) -> PredicateExpressions.IsModel<L> where L.Output == M {
    .init(left, [value.persistentModelID])
  }
  public static func equal<L: PredicateExpression, M: PersistentModel>(
    _ left: L, value: M?
  ) -> PredicateExpressions.IsModel<L> where L.Output == M? {
    .init(left, [value?.persistentModelID])
  }
  public static func equal<R: PredicateExpression, M: PersistentModel>(
    value: M, _ right: R
  ) -> PredicateExpressions.IsModel<R> where R.Output == M {
    .init(right, [value.persistentModelID])
  }
  public static func equal<R: PredicateExpression, M: PersistentModel>(
    value: M?, _ right: R
  ) -> PredicateExpressions.IsModel<R> where R.Output == M? {
    .init(right, [value?.persistentModelID])
  }
  public static func notEqual<L: PredicateExpression, M: PersistentModel>(
    _ left: L, value: M
  ) -> PredicateExpressions.Negation<PredicateExpressions.IsModel<L>> where L.Output == M {
    .init(equal(left, value: value))
  }
  public static func notEqual<L: PredicateExpression, M: PersistentModel>(
    _ left: L, value: M?
  ) -> PredicateExpressions.Negation<PredicateExpressions.IsModel<L>> where L.Output == M? {
    .init(equal(left, value: value))
  }
  public static func notEqual<R: PredicateExpression, M: PersistentModel>(
    value: M?, _ right: R
  ) -> PredicateExpressions.Negation<PredicateExpressions.IsModel<R>> where R.Output == M? {
    .init(equal(value: value, right))
  }

  public static func equal<L: PredicateExpression>(
    _ left: L, value: ComparisonResult
  ) -> PredicateExpressions.Equal<L, PredicateExpressions.ComparisonResultValue>
  where L.Output == ComparisonResult {
    PredicateExpressions.build_Equal(lhs: left, rhs: .init(value))
  }
  public static func notEqual<L: PredicateExpression>(
    _ left: L, value: ComparisonResult
  ) -> PredicateExpressions.NotEqual<L, PredicateExpressions.ComparisonResultValue>
  where L.Output == ComparisonResult {
    PredicateExpressions.build_NotEqual(lhs: left, rhs: .init(value))
  }

  // One side optional, as Swift promotes the other.

  public static func equal<L: PredicateExpression, R: PredicateExpression>(
    _ left: L, _ right: R
  ) -> PredicateExpressions.Equal<L, PredicateExpressions.Promotion<R>>
  where L.Output == R.Output?, R.Output: Equatable {
    PredicateExpressions.build_Equal(lhs: left, rhs: .init(right))
  }
  public static func equal<L: PredicateExpression, R: PredicateExpression>(
    _ left: L, _ right: R
  ) -> PredicateExpressions.Equal<PredicateExpressions.Promotion<L>, R>
  where R.Output == L.Output?, L.Output: Equatable {
    PredicateExpressions.build_Equal(lhs: .init(left), rhs: right)
  }
  public static func notEqual<L: PredicateExpression, R: PredicateExpression>(
    _ left: L, _ right: R
  ) -> PredicateExpressions.NotEqual<L, PredicateExpressions.Promotion<R>>
  where L.Output == R.Output?, R.Output: Equatable {
    PredicateExpressions.build_NotEqual(lhs: left, rhs: .init(right))
  }
  public static func notEqual<L: PredicateExpression, R: PredicateExpression>(
    _ left: L, _ right: R
  ) -> PredicateExpressions.NotEqual<PredicateExpressions.Promotion<L>, R>
  where R.Output == L.Output?, L.Output: Equatable {
    PredicateExpressions.build_NotEqual(lhs: .init(left), rhs: right)
  }
}
