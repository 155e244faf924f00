public import Foundation

extension PredicateExpressions {
  /// Whether an optional is nil; its values need not be comparable.
  public struct IsNil<Inner: PredicateExpression, Wrapped>: PredicateExpression
  where Inner.Output == Wrapped? {
    public typealias Output = Bool
    public let inner: Inner

    public init(_ inner: Inner) { self.inner = inner }

    public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
      try inner.evaluate(bindings) == nil
    }
  }
}

extension PredicateExpressions.IsNil: Sendable where Inner: Sendable {}
extension PredicateExpressions.IsNil: Codable where Inner: Codable {}
extension PredicateExpressions.IsNil: StandardPredicateExpression
where Inner: StandardPredicateExpression {}

extension PredicateExpressions.IsNil: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    try translation.nilTest(translation.term(inner), isNegated: false)
  }
}
