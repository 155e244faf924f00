import Foundation
import SteadSQLite

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
}

extension PredicateTranslation {
  /// The SQL of an operation on two numbers.
  ///
  /// An overflow and a division by zero trap in Swift; here they have no value, and the row matches nothing.
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
    let canFail = encoding == .integer
    return .scalar(
      Scalar(
        sql: sql, encoding: encoding,
        nullability: canFail ? .undefined : .either(left.nullability, right.nullability),
        strict: left.strict | right.strict))
  }

  /// The size in bits of an integer type that SQLite's integers can hold, negative if it is unsigned.
  static func width<Number>(of type: Number.Type) -> SQLFragment? {
    guard let integer = type as? any FixedWidthInteger.Type else { return nil }
    let (bits, isSigned) = (integer.bitWidth, integer.isSigned)
    guard bits < 64 || isSigned else { return nil }
    return SQLFragment(sql: String(isSigned ? bits : -bits))
  }
}
