import Foundation

extension PredicateExpressions.ExpressionEvaluate: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    guard case .constant(.other(let value)) = try translation.term(expression),
      let inner = value as? Expression<repeat (each Input).Output, Output>
    else { throw NotTranslatable("an expression that is not known before the query runs") }
    var terms: [Term] = []
    for input in repeat each input { terms.append(try translation.term(input)) }
    var keys: [PredicateExpressions.VariableID] = []
    for variable in repeat each inner.variable { keys.append(variable.key) }
    return try translation.binding(keys, to: terms) {
      try translation.term(inner.expression, mode)
    }
  }
}

extension PredicateTranslation {
  /// Runs a body in which several variables stand for terms.
  func binding<Result>(
    _ keys: [PredicateExpressions.VariableID], to terms: [Term], _ body: () throws -> Result
  ) throws -> Result {
    guard let key = keys.first, let term = terms.first else { return try body() }
    return try binding(key, to: term) {
      try binding(Array(keys.dropFirst()), to: Array(terms.dropFirst()), body)
    }
  }
}
