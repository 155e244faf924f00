public import Foundation

extension _SteadExpressions {
  /// Whether an object, or nil, is among some captured objects.
  ///
  /// Objects cannot be part of a predicate, which is Sendable; their identifiers can. A query never finds an object
  /// that was not saved when the predicate was made.
  public struct IsModel<Input: PredicateExpression>: PredicateExpression {
    public typealias Output = Bool
    let input: Input
    let identifiers: [PersistentIdentifier?]

    init(_ input: Input, _ identifiers: [PersistentIdentifier?]) {
      self.input = input
      self.identifiers = identifiers
    }

    public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
      let model = try input.evaluate(bindings) as? any PersistentModel
      return identifiers.contains(model?.persistentModelID)
    }
  }

  /// Whether a relationship contains a captured object.
  public struct ContainsModel<Models: PredicateExpression, Model: PersistentModel>:
    PredicateExpression
  where Models.Output: Sequence<Model> {
    public typealias Output = Bool
    let models: Models
    let identifier: PersistentIdentifier

    init(_ models: Models, _ identifier: PersistentIdentifier) {
      self.models = models
      self.identifier = identifier
    }

    public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
      try models.evaluate(bindings).contains { $0.persistentModelID == identifier }
    }
  }
}

extension _SteadExpressions.IsModel: Sendable where Input: Sendable {}
extension _SteadExpressions.IsModel: Codable where Input: Codable {}
extension _SteadExpressions.IsModel: StandardPredicateExpression
where Input: StandardPredicateExpression {}

extension _SteadExpressions.ContainsModel: Sendable where Models: Sendable {}
extension _SteadExpressions.ContainsModel: Codable where Models: Codable {}
extension _SteadExpressions.ContainsModel: StandardPredicateExpression
where Models: StandardPredicateExpression {}

extension _SteadExpressions.IsModel: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    let model = try translation.term(input)
    guard identifiers.count == 1, let only = identifiers.first else {
      return try translation.contains(.constant(.other(identifiers)), model, mode)
    }
    return try translation.equality(
      model, .constant(only.map(Constant.identifier) ?? .null), isNegated: false, mode)
  }
}

extension _SteadExpressions.ContainsModel: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    try translation.contains(
      translation.term(models), .constant(.identifier(identifier)), mode)
  }
}
