import Foundation

extension PredicateExpressions.CollectionRangeSubscript: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    throw NotTranslatable("a slice of a collection")
  }
}
