import Foundation

extension PredicateExpressions.CollectionContainsCollection: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    try translation.textTest(
      "stead_contains", translation.scalar(base), translation.scalar(other))
  }
}
