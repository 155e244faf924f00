import Foundation

extension PredicateExpressions.NilLiteral: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    .constant(.null)
  }
}
