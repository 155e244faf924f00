import Foundation

extension PredicateExpressions.StringContainsRegex: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    throw NotTranslatable("a regular expression")
  }
}
