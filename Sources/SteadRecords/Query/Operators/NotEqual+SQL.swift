import Foundation

extension PredicateExpressions.NotEqual: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    try translation.equality(
      translation.term(lhs), translation.term(rhs), isNegated: true, mode)
  }
}
