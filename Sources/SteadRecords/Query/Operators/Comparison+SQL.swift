import Foundation

extension PredicateExpressions.Comparison: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    try translation.checkOrder(of: LHS.Output.self)
    return try translation.order(
      translation.term(lhs), OrderOperator(op), translation.term(rhs))
  }
}
