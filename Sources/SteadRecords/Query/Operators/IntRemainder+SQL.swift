import Foundation

extension PredicateExpressions.IntRemainder: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    let divisor = try translation.term(rhs)
    let (left, right) = (try translation.scalar(lhs), try translation.scalar(divisor))
    let remainder = try translation.arithmetic(
      Output.self, left, right, sign: "%", function: "")
    if case .constant(.scalar(.integer(let number), _)) = divisor, number != -1 { return remainder }
    // The least number by -1 traps in Swift, as its quotient does; SQLite's remainder is 0.
    let quotient = try translation.scalar(
      translation.arithmetic(Output.self, left, right, sign: "/", function: ""))
    var result = try translation.scalar(remainder)
    result.sql = "CASE WHEN \(quotient.sql) IS NOT NULL THEN \(result.sql) END"
    return .scalar(result)
  }
}
