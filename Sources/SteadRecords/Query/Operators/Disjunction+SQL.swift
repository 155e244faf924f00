import Foundation

extension PredicateExpressions.Disjunction: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    let (left, right) = (
      try translation.condition(lhs, mode), try translation.condition(rhs, mode)
    )
    return .boolean("(\(left) OR \(right))", .undefined)
  }
}
