import Foundation

extension PredicateExpressions.IntDivision: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    try translation.arithmetic(
      Output.self, translation.scalar(lhs), translation.scalar(rhs), sign: "/", function: "")
  }
}
