import Foundation

extension PredicateExpressions.IntRemainder: SQLTranslatable {
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
}
