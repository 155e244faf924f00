import Foundation

extension PredicateExpressions.SequenceAllSatisfy: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    switch try translation.collection(sequence) {
    case .rows(let rows):
      let test = try translation.binding(variable.key, to: translation.element(of: rows)) {
        try translation.condition(self.test, .condition)
      }
      return translation.allSatisfy(rows, test)
    case .list(let list):
      let test = try translation.binding(variable.key, to: translation.element(of: list)) {
        try translation.condition(self.test, .condition)
      }
      return translation.valued(
        "NOT EXISTS (SELECT 1 FROM \(translation.source(of: list, where: "(\(test)) IS NOT 1")))",
        list.value)
    default: throw NotTranslatable("allSatisfy on a value that isn't a collection")
    }
  }
}
