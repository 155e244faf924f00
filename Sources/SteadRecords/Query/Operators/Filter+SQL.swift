import Foundation

extension PredicateExpressions.Filter: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    switch try translation.collection(sequence) {
    case .rows(var rows):
      let test = try translation.binding(variable.key, to: translation.element(of: rows)) {
        try translation.condition(filter, .condition)
      }
      rows.condition = "\(rows.condition) AND \(test)"
      return .rows(rows)
    case .list(var list):
      let test = try translation.binding(variable.key, to: translation.element(of: list)) {
        try translation.condition(filter, .condition)
      }
      list.condition = list.condition.map { "\($0) AND \(test)" } ?? test
      return .list(list)
    default: throw NotTranslatable("filter on a value that isn't a collection")
    }
  }
}
