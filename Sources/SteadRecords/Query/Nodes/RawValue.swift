public import Foundation

extension _SteadExpressions {
  /// The raw value of an enum, recognised without its key path.
  public struct RawValue<Wrapped: PredicateExpression>: PredicateExpression
  where Wrapped.Output: RawRepresentable {
    public typealias Output = Wrapped.Output.RawValue
    let wrapped: Wrapped

    init(_ wrapped: Wrapped) { self.wrapped = wrapped }

    public func evaluate(_ bindings: PredicateBindings) throws -> Output {
      try wrapped.evaluate(bindings).rawValue
    }
  }
}

extension _SteadExpressions.RawValue: Sendable where Wrapped: Sendable {}
extension _SteadExpressions.RawValue: Codable where Wrapped: Codable {}
extension _SteadExpressions.RawValue: StandardPredicateExpression
where Wrapped: StandardPredicateExpression {}

extension _SteadExpressions.RawValue: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    // The column holds the raw value.
    .scalar(try translation.scalar(wrapped))
  }
}
