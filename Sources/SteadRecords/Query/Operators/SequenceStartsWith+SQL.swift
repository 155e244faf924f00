import Foundation

extension PredicateExpressions.SequenceStartsWith: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    try translation.prefixTest(
      "stead_starts", translation.term(base), translation.term(prefix), mode)
  }
}
