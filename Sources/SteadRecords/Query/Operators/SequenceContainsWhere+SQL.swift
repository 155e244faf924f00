import Foundation
import SteadSQLite

extension PredicateExpressions.SequenceContainsWhere: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    switch try translation.collection(sequence) {
    case .rows(let rows):
      let inner: TranslationMode = mode == .filter && rows.presence == nil ? .filter : .condition
      let test = try translation.binding(variable.key, to: translation.element(of: rows)) {
        try translation.condition(self.test, inner)
      }
      return translation.exists(rows, where: test)
    case .list(let list):
      let test = try translation.binding(variable.key, to: translation.element(of: list)) {
        try translation.condition(self.test, .condition)
      }
      let exists: SQLFragment =
        "EXISTS (SELECT 1 FROM \(translation.source(of: list, where: test)))"
      return mode.nullIsFalse ? .boolean(exists) : translation.valued(exists, list.value)
    default: throw NotTranslatable("contains(where:) on a value that isn't a collection")
    }
  }
}

extension PredicateTranslation {
  /// The term of a collection, a captured one as an array of parameters.
  func collection<E: PredicateExpression>(_ expression: E) throws -> Term {
    let term = try term(expression)
    guard case .constant(.other(let value)) = term, value is any Collection else { return term }
    return .list(try ListParameter(value, in: self).list(alias: newAlias()))
  }
}
