import Foundation

extension PredicateExpressions.Value: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    .constant(Constant(value))
  }
}
