public import Foundation

extension PredicateExpressions {
  /// A value as an optional, as Swift makes one where the other operand is optional.
  public struct Promotion<Inner: PredicateExpression>: PredicateExpression {
    public typealias Output = Inner.Output?
    public let inner: Inner

    public init(_ inner: Inner) { self.inner = inner }

    public func evaluate(_ bindings: PredicateBindings) throws -> Inner.Output? {
      try inner.evaluate(bindings)
    }
  }
}

extension PredicateExpressions.Promotion: Sendable where Inner: Sendable {}
extension PredicateExpressions.Promotion: Codable where Inner: Codable {}
extension PredicateExpressions.Promotion: StandardPredicateExpression
where Inner: StandardPredicateExpression {}

extension PredicateExpressions.Promotion: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    try translation.term(inner)
  }
}
