public import Foundation

extension _SteadExpressions {
  /// Another predicate, applied to values of this one.
  public struct PredicateEvaluate<Condition: PredicateExpression, each Input: PredicateExpression>:
    PredicateExpression
  where Condition.Output == Foundation.Predicate<repeat (each Input).Output> {
    public typealias Output = Bool
    let predicate: Condition
    let input: (repeat each Input)

    init(_ predicate: Condition, _ input: repeat each Input) {
      self.predicate = predicate
      self.input = (repeat each input)
    }

    public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
      try predicate.evaluate(bindings).evaluate(repeat (each input).evaluate(bindings))
    }
  }
}

extension _SteadExpressions.PredicateEvaluate: Sendable
where Condition: Sendable, repeat each Input: Sendable {}

extension _SteadExpressions.PredicateEvaluate: Encodable
where Condition: Encodable, repeat each Input: Encodable {
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    try container.encode(predicate)
    repeat try container.encode(each input)
  }
}

extension _SteadExpressions.PredicateEvaluate: Decodable
where Condition: Decodable, repeat each Input: Decodable {
  public init(from decoder: any Decoder) throws {
    var container = try decoder.unkeyedContainer()
    predicate = try container.decode(Condition.self)
    input = (repeat try container.decode((each Input).self))
  }
}

extension _SteadExpressions.PredicateEvaluate: StandardPredicateExpression
where Condition: StandardPredicateExpression, repeat each Input: StandardPredicateExpression {}

extension _SteadExpressions.PredicateEvaluate: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    guard case .constant(.other(let value)) = try translation.term(predicate),
      let inner = value as? Condition.Output
    else { throw NotTranslatable("a predicate that is not known before the query runs") }
    var terms: [Term] = []
    for input in repeat each input { terms.append(try translation.term(input)) }
    var keys: [PredicateExpressions.VariableID] = []
    for variable in repeat each inner.variable { keys.append(variable.key) }
    return try translation.binding(keys, to: terms) {
      .scalar(try translation.scalar(try translation.term(inner.expression, mode)))
    }
  }
}
