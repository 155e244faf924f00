public import Foundation

extension _SteadExpressions {
  /// A value wrapped in an optional, as Swift does if the other operand is optional.
  public struct Promotion<Inner: PredicateExpression>: PredicateExpression {
    public typealias Output = Inner.Output?
    let inner: Inner

    init(_ inner: Inner) { self.inner = inner }

    public func evaluate(_ bindings: PredicateBindings) throws -> Inner.Output? {
      try inner.evaluate(bindings)
    }
  }
}

extension _SteadExpressions.Promotion: Sendable where Inner: Sendable {}
extension _SteadExpressions.Promotion: Codable where Inner: Codable {}
extension _SteadExpressions.Promotion: StandardPredicateExpression
where Inner: StandardPredicateExpression {}

extension _SteadExpressions.Promotion: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    try translation.term(inner)
  }
}
