import Foundation
import SteadSQLite

extension PredicateExpressions.UnaryMinus: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    let value = try translation.scalar(wrapped)
    let minusOne: SQLFragment =
      PredicateTranslation.width(of: Output.self) == nil ? "-1.0" : "-1"
    return try translation.arithmetic(
      Output.self, value, Scalar(sql: minusOne, encoding: value.encoding), sign: "*",
      function: "stead_multiply")
  }
}
