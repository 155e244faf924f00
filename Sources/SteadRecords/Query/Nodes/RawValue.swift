public import Foundation

extension PredicateExpressions {
  /// The raw value of an enum, recognised without its key path.
  public struct RawValue<Wrapped: PredicateExpression>: PredicateExpression
  where Wrapped.Output: RawRepresentable {
    public typealias Output = Wrapped.Output.RawValue
    public let wrapped: Wrapped

    public init(_ wrapped: Wrapped) { self.wrapped = wrapped }

    public func evaluate(_ bindings: PredicateBindings) throws -> Output {
      try wrapped.evaluate(bindings).rawValue
    }
  }
}

extension PredicateExpressions.RawValue: Sendable where Wrapped: Sendable {}
extension PredicateExpressions.RawValue: Codable where Wrapped: Codable {}
extension PredicateExpressions.RawValue: StandardPredicateExpression
where Wrapped: StandardPredicateExpression {}

extension PredicateExpressions.RawValue: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    // The column holds the raw value.
    .scalar(try translation.scalar(wrapped))
  }
}
