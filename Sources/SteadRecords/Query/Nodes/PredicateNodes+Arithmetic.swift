public import Foundation

// Nodes that the expansion of `#Predicate` makes: arithmetic. Each function takes a value from outside the
// predicate as it is written, so that literals get their types from the other operand.
extension _PredicateNodes {
  public static func arithmetic<L, R>(
    _ left: L, _ right: R, _ operation: PredicateExpressions.ArithmeticOperator
  ) -> PredicateExpressions.Arithmetic<L, R>
  where L: PredicateExpression, R: PredicateExpression, L.Output: Numeric, L.Output == R.Output {
    PredicateExpressions.build_Arithmetic(lhs: left, rhs: right, op: operation)
  }
  public static func arithmetic<L>(
    _ left: L, value: L.Output,
    _ operation: PredicateExpressions.ArithmeticOperator
  ) -> PredicateExpressions.Arithmetic<L, PredicateExpressions.Value<L.Output>>
  where L: PredicateExpression, L.Output: Numeric {
    PredicateExpressions.build_Arithmetic(
      lhs: left, rhs: PredicateExpressions.Value(value), op: operation)
  }
  public static func arithmetic<R>(
    value: R.Output, _ right: R,
    _ operation: PredicateExpressions.ArithmeticOperator
  ) -> PredicateExpressions.Arithmetic<PredicateExpressions.Value<R.Output>, R>
  where R: PredicateExpression, R.Output: Numeric {
    PredicateExpressions.build_Arithmetic(
      lhs: PredicateExpressions.Value(value), rhs: right, op: operation)
  }

  public static func quotient<L, R>(_ left: L, _ right: R) -> PredicateExpressions.IntDivision<L, R>
  where
    L: PredicateExpression, R: PredicateExpression, L.Output: BinaryInteger, L.Output == R.Output
  {
    PredicateExpressions.build_Division(lhs: left, rhs: right)
  }
  public static func quotient<L>(
    _ left: L, value: L.Output
  ) -> PredicateExpressions.IntDivision<L, PredicateExpressions.Value<L.Output>>
  where L: PredicateExpression, L.Output: BinaryInteger {
    PredicateExpressions.build_Division(lhs: left, rhs: PredicateExpressions.Value(value))
  }
  public static func quotient<R>(
    value: R.Output, _ right: R
  ) -> PredicateExpressions.IntDivision<PredicateExpressions.Value<R.Output>, R>
  where R: PredicateExpression, R.Output: BinaryInteger {
    PredicateExpressions.build_Division(lhs: PredicateExpressions.Value(value), rhs: right)
  }

  public static func quotient<L, R>(_ left: L, _ right: R)
    -> PredicateExpressions.FloatDivision<L, R>
  where
    L: PredicateExpression, R: PredicateExpression, L.Output: FloatingPoint, L.Output == R.Output
  {
    PredicateExpressions.build_Division(lhs: left, rhs: right)
  }
  public static func quotient<L>(
    _ left: L, value: L.Output
  ) -> PredicateExpressions.FloatDivision<L, PredicateExpressions.Value<L.Output>>
  where L: PredicateExpression, L.Output: FloatingPoint {
    PredicateExpressions.build_Division(lhs: left, rhs: PredicateExpressions.Value(value))
  }
  public static func quotient<R>(
    value: R.Output, _ right: R
  ) -> PredicateExpressions.FloatDivision<PredicateExpressions.Value<R.Output>, R>
  where R: PredicateExpression, R.Output: FloatingPoint {
    PredicateExpressions.build_Division(lhs: PredicateExpressions.Value(value), rhs: right)
  }

  public static func remainder<L, R>(_ left: L, _ right: R)
    -> PredicateExpressions.IntRemainder<L, R>
  where
    L: PredicateExpression, R: PredicateExpression, L.Output: BinaryInteger, L.Output == R.Output
  {
    PredicateExpressions.build_Remainder(lhs: left, rhs: right)
  }
  public static func remainder<L>(
    _ left: L, value: L.Output
  ) -> PredicateExpressions.IntRemainder<L, PredicateExpressions.Value<L.Output>>
  where L: PredicateExpression, L.Output: BinaryInteger {
    PredicateExpressions.build_Remainder(lhs: left, rhs: PredicateExpressions.Value(value))
  }
  public static func remainder<R>(
    value: R.Output, _ right: R
  ) -> PredicateExpressions.IntRemainder<PredicateExpressions.Value<R.Output>, R>
  where R: PredicateExpression, R.Output: BinaryInteger {
    PredicateExpressions.build_Remainder(lhs: PredicateExpressions.Value(value), rhs: right)
  }

  public static func unaryMinus<E: PredicateExpression>(
    _ operand: E
  ) -> PredicateExpressions.UnaryMinus<E> where E.Output: SignedNumeric {
    PredicateExpressions.build_UnaryMinus(operand)
  }
}
