import Foundation

// The nodes that can trap, and how they are checked.

extension PredicateExpressions.Arithmetic {
  func checkedNode() -> CheckedExpression<Output>? {
    IntegerOperation(op)(lhs, rhs)
      ?? remade(lhs, rhs) { PredicateExpressions.build_Arithmetic(lhs: $0, rhs: $1, op: op) }
  }
}

extension PredicateExpressions.IntDivision {
  func checkedNode() -> CheckedExpression<Output>? {
    IntegerOperation.divide(lhs, rhs)
      ?? remade(lhs, rhs) { PredicateExpressions.build_Division(lhs: $0, rhs: $1) }
  }
}

extension PredicateExpressions.IntRemainder {
  func checkedNode() -> CheckedExpression<Output>? {
    IntegerOperation.remainder(lhs, rhs)
      ?? remade(lhs, rhs) { PredicateExpressions.build_Remainder(lhs: $0, rhs: $1) }
  }
}

extension PredicateExpressions.UnaryMinus {
  func checkedNode() -> CheckedExpression<Output>? {
    let zero = CheckedExpression<Output> { _ in .zero }
    return IntegerOperation.subtract(zero, wrapped)
      ?? remade(wrapped) { PredicateExpressions.build_UnaryMinus($0) }
  }
}

extension PredicateExpressions.FloatDivision {
  func checkedNode() -> CheckedExpression<Output>? {
    remade(lhs, rhs) { PredicateExpressions.build_Division(lhs: $0, rhs: $1) }
  }
}

/// An operation on two integers that throws where Swift traps.
private enum IntegerOperation {
  case add, subtract, multiply, divide, remainder

  init(_ sign: PredicateExpressions.ArithmeticOperator) {
    self =
      switch sign {
      case .add: .add
      case .subtract: .subtract
      case .multiply: .multiply
      }
  }

  func result<I: FixedWidthInteger>(_ left: I, _ right: I) throws -> I {
    let (result, overflow) =
      switch self {
      case .add: left.addingReportingOverflow(right)
      case .subtract: left.subtractingReportingOverflow(right)
      case .multiply: left.multipliedReportingOverflow(by: right)
      case .divide: left.dividedReportingOverflow(by: right)
      case .remainder: left.remainderReportingOverflow(dividingBy: right)
      }
    guard !overflow else { throw Trap() }
    return result
  }

  /// The operation on two expressions; nil if they aren't integers.
  func callAsFunction<L: PredicateExpression, R: PredicateExpression>(
    _ left: L, _ right: R
  ) -> CheckedExpression<L.Output>? where L.Output == R.Output {
    guard let type = L.Output.self as? any FixedWidthInteger.Type else { return nil }
    func open<I: FixedWidthInteger>(_ type: I.Type) -> CheckedExpression<L.Output> {
      let (left, right) = (left.checkedOrSame(), right.checkedOrSame())
      return CheckedExpression { bindings in
        guard let first = try left.evaluate(bindings) as? I,
          let second = try right.evaluate(bindings) as? I,
          let result = try result(first, second) as? L.Output
        else { throw Trap() }
        return result
      }
    }
    return open(type)
  }
}
