import Foundation

extension PredicateExpressions.DictionaryKeySubscript: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    throw NotTranslatable("a value of a dictionary")
  }
}

extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    throw NotTranslatable("a value of a dictionary")
  }
}
