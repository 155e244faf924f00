import Foundation

extension PredicateExpressions.ConditionalCast: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    let term = try translation.term(input)
    if Input.Output.self == Desired.self || Input.Output.self == Desired?.self { return term }
    return try translation.casting(term, to: Desired.self, failing: .optional)
  }
}
