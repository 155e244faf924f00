import Foundation
import SteadSQLite

/// `+`, `-` and `*`.
extension PredicateExpressions.Arithmetic: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    let (left, right) = (try translation.scalar(lhs), try translation.scalar(rhs))
    let names =
      switch op {
      case .add: (sign: "+", function: "stead_add")
      case .subtract: (sign: "-", function: "stead_subtract")
      case .multiply: (sign: "*", function: "stead_multiply")
      }
    return try translation.arithmetic(
      Output.self, left, right, sign: names.sign, function: names.function)
  }

  func checkedNode() -> CheckedExpression<Output>? {
    IntegerOperation(op)(lhs, rhs)
      ?? rebuilt(lhs, rhs) { PredicateExpressions.build_Arithmetic(lhs: $0, rhs: $1, op: op) }
  }
}

/// The negation of a number, as a multiplication by -1: that has the overflow check of the other operators.
extension PredicateExpressions.UnaryMinus: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    let value = try translation.scalar(wrapped)
    let minusOne: SQLFragment =
      PredicateTranslation.width(of: Output.self) == nil ? "-1.0" : "-1"
    return try translation.arithmetic(
      Output.self, value, Scalar(sql: minusOne, encoding: value.encoding), sign: "*",
      function: "stead_multiply")
  }

  func checkedNode() -> CheckedExpression<Output>? {
    // `0 - x` overflows exactly where `-x` does.
    let zero = CheckedExpression<Output> { _ in .zero }
    return IntegerOperation.subtract(zero, wrapped)
      ?? rebuilt(wrapped) { PredicateExpressions.build_UnaryMinus($0) }
  }
}

/// `/` of integers.
extension PredicateExpressions.IntDivision: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    try translation.arithmetic(
      Output.self, translation.scalar(lhs), translation.scalar(rhs), sign: "/", function: "")
  }

  func checkedNode() -> CheckedExpression<Output>? {
    IntegerOperation.divide(lhs, rhs)
      ?? rebuilt(lhs, rhs) { PredicateExpressions.build_Division(lhs: $0, rhs: $1) }
  }
}

/// `%`.
extension PredicateExpressions.IntRemainder: SQLTranslatable {
  /// SQLite's own `%` is used if the divisor is a constant other than -1: the least integer modulo -1 overflows in
  /// Swift and is 0 in SQLite.
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    let divisor = try translation.term(rhs)
    let (left, right) = (try translation.scalar(lhs), try translation.scalar(divisor))
    if case .constant(.scalar(.integer(let number), _)) = divisor, number != -1 {
      return try translation.arithmetic(Output.self, left, right, sign: "%", function: "")
    }
    guard let width = PredicateTranslation.width(of: Output.self) else {
      throw NotTranslatable("arithmetic with \(Output.self)")
    }
    return .scalar(
      Scalar(
        sql: "stead_remainder(\(left.sql), \(right.sql), \(width))", encoding: .integer,
        nullability: .undefined, strict: left.strict | right.strict))
  }

  func checkedNode() -> CheckedExpression<Output>? {
    IntegerOperation.remainder(lhs, rhs)
      ?? rebuilt(lhs, rhs) { PredicateExpressions.build_Remainder(lhs: $0, rhs: $1) }
  }
}

/// `/` of floating-point numbers.
extension PredicateExpressions.FloatDivision: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    try translation.arithmetic(
      Output.self, translation.scalar(lhs), translation.scalar(rhs), sign: "/",
      function: "stead_divide")
  }

  func checkedNode() -> CheckedExpression<Output>? {
    rebuilt(lhs, rhs) { PredicateExpressions.build_Division(lhs: $0, rhs: $1) }
  }
}

// MARK: - The SQL of an operation

extension PredicateTranslation {
  /// The SQL of an operation on two numbers, by a function of this library that checks the result against the type's
  /// range.
  ///
  /// An overflow and a division by zero trap in Swift; here they give NULL, and the row matches nothing. SQLite's own
  /// operators would turn an overflowing integer into a floating-point number.
  ///
  /// - Throws: ``NotTranslatable`` for decimals, and for unsigned 64-bit integers.
  func arithmetic<Number>(
    _ type: Number.Type, _ left: Scalar, _ right: Scalar, sign: String, function: String
  ) throws -> Term {
    let sql: SQLFragment
    let encoding: ColumnEncoding
    if let width = Self.width(of: type) {
      sql = "stead_integer(\(left.sql) \(SQLFragment(sql: sign)) \(right.sql), \(width))"
      encoding = .integer
    } else if type == Double.self || type == CGFloat.self {
      sql = "\(SQLFragment(sql: function))(\(left.sql), \(right.sql))"
      encoding = .real
    } else if type == Float.self {
      sql = "stead_float(\(SQLFragment(sql: function))(\(left.sql), \(right.sql)))"
      encoding = .real
    } else {
      throw NotTranslatable("arithmetic with \(type)")
    }
    // A floating-point operation has infinity and NaN as results, and always a value.
    let canFail = encoding == .integer
    return .scalar(
      Scalar(
        sql: sql, encoding: encoding,
        nullability: canFail ? .undefined : .either(left.nullability, right.nullability),
        strict: left.strict | right.strict))
  }

  /// The bits of an integer type that SQLite's integers can hold, negative for an unsigned type, as the SQL functions
  /// take them. Nil for all other types.
  static func width<Number>(of type: Number.Type) -> SQLFragment? {
    guard let integer = type as? any FixedWidthInteger.Type else { return nil }
    let (bits, isSigned) = (integer.bitWidth, integer.isSigned)
    // The upper half of an unsigned 64-bit integer's values is text in the store, which SQL cannot
    // add.
    guard bits < 64 || isSigned else { return nil }
    return SQLFragment(sql: String(isSigned ? bits : -bits))
  }
}

// MARK: - Overflow

/// An operation on two integers that throws where Swift's operator traps.
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

  /// The result of the operation.
  ///
  /// - Throws: ``Trap`` if it overflows, or divides by zero.
  func result<I: FixedWidthInteger>(_ left: I, _ right: I) throws -> I {
    let (result, overflow) =
      switch self {
      case .add: left.addingReportingOverflow(right)
      case .subtract: left.subtractingReportingOverflow(right)
      case .multiply: left.multipliedReportingOverflow(by: right)
      case .divide: left.dividedReportingOverflow(by: right)
      case .remainder: left.remainderReportingOverflow(dividingBy: right)
      }
    // Division by zero is reported as an overflow as well.
    guard !overflow else { throw Trap() }
    return result
  }

  /// The operation on two expressions; nil if they are not integers, and so cannot trap.
  func callAsFunction<L: PredicateExpression, R: PredicateExpression>(
    _ left: L, _ right: R
  ) -> CheckedExpression<L.Output>? where L.Output == R.Output {
    // Floating-point numbers and decimals have NaN instead of traps.
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
