import Foundation

extension PredicateExpressions.ClosedRange: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    try translation.checkOrder(of: LHS.Output.self)
    return .range(
      lower: try translation.term(lower), upper: try translation.term(upper), isClosed: true)
  }
}
