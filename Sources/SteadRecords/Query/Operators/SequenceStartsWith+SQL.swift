import Foundation

extension PredicateExpressions.SequenceStartsWith: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    try translation.textTest(
      "stead_starts", translation.scalar(base), translation.scalar(prefix))
  }
}
