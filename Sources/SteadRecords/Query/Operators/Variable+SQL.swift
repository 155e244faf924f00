import Foundation

extension PredicateExpressions.Variable: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    try translation.variable(key)
  }
}
