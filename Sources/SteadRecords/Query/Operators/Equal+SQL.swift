import Foundation

extension PredicateExpressions.Equal: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    let right = try translation.term(rhs)
    // `chain?.contains(x) == true` is the chain itself wherever nil counts as false.
    if mode.nullIsFalse, case .constant(.scalar(.integer(1), .boolean)) = right {
      return try translation.term(lhs, mode)
    }
    return try translation.equality(translation.term(lhs), right, isNegated: false, mode)
  }
}
