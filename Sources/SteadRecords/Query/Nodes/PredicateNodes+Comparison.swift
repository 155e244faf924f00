public import Foundation

// Nodes that the expansion of `#Predicate` makes: equality and order. Each function takes a value from outside the
// predicate as it is written, so that literals get their types from the other operand.
extension _PredicateNodes {
  public static func equal<L, R>(_ left: L, _ right: R) -> PredicateExpressions.Equal<L, R>
  where L: PredicateExpression, R: PredicateExpression, L.Output: Equatable, L.Output == R.Output {
    PredicateExpressions.build_Equal(lhs: left, rhs: right)
  }
  public static func equal<L>(
    _ left: L, value: L.Output
  ) -> PredicateExpressions.Equal<L, PredicateExpressions.Value<L.Output>>
  where L: PredicateExpression, L.Output: Equatable {
    PredicateExpressions.build_Equal(lhs: left, rhs: PredicateExpressions.Value(value))
  }
  public static func equal<R>(
    value: R.Output, _ right: R
  ) -> PredicateExpressions.Equal<PredicateExpressions.Value<R.Output>, R>
  where R: PredicateExpression, R.Output: Equatable {
    PredicateExpressions.build_Equal(lhs: PredicateExpressions.Value(value), rhs: right)
  }

  public static func notEqual<L, R>(_ left: L, _ right: R) -> PredicateExpressions.NotEqual<L, R>
  where L: PredicateExpression, R: PredicateExpression, L.Output: Equatable, L.Output == R.Output {
    PredicateExpressions.build_NotEqual(lhs: left, rhs: right)
  }
  public static func notEqual<L>(
    _ left: L, value: L.Output
  ) -> PredicateExpressions.NotEqual<L, PredicateExpressions.Value<L.Output>>
  where L: PredicateExpression, L.Output: Equatable {
    PredicateExpressions.build_NotEqual(lhs: left, rhs: PredicateExpressions.Value(value))
  }
  public static func notEqual<R>(
    value: R.Output, _ right: R
  ) -> PredicateExpressions.NotEqual<PredicateExpressions.Value<R.Output>, R>
  where R: PredicateExpression, R.Output: Equatable {
    PredicateExpressions.build_NotEqual(lhs: PredicateExpressions.Value(value), rhs: right)
  }

  public static func comparison<L, R>(
    _ left: L, _ right: R, _ operation: PredicateExpressions.ComparisonOperator
  ) -> PredicateExpressions.Comparison<L, R>
  where L: PredicateExpression, R: PredicateExpression, L.Output: Comparable, L.Output == R.Output {
    PredicateExpressions.build_Comparison(lhs: left, rhs: right, op: operation)
  }
  public static func comparison<L>(
    _ left: L, value: L.Output,
    _ operation: PredicateExpressions.ComparisonOperator
  ) -> PredicateExpressions.Comparison<L, PredicateExpressions.Value<L.Output>>
  where L: PredicateExpression, L.Output: Comparable {
    PredicateExpressions.build_Comparison(
      lhs: left, rhs: PredicateExpressions.Value(value), op: operation)
  }
  public static func comparison<R>(
    value: R.Output, _ right: R,
    _ operation: PredicateExpressions.ComparisonOperator
  ) -> PredicateExpressions.Comparison<PredicateExpressions.Value<R.Output>, R>
  where R: PredicateExpression, R.Output: Comparable {
    PredicateExpressions.build_Comparison(
      lhs: PredicateExpressions.Value(value), rhs: right, op: operation)
  }
}
