import Foundation

extension PredicateExpressions.ForceCast: SQLTranslatable {
  /// A cast that fails throws in Swift; here it has no value, and the row matches nothing.
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    let term = try translation.term(input)
    if Input.Output.self == Desired.self { return term }
    return try translation.casting(term, to: Desired.self, failing: .undefined)
  }
}
