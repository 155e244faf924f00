public import Foundation

extension _SteadExpressions {
  /// Whether an optional is nil; its values need not be comparable.
  public struct IsNil<Inner: PredicateExpression, Wrapped>: PredicateExpression
  where Inner.Output == Wrapped? {
    public typealias Output = Bool
    let inner: Inner

    init(_ inner: Inner) { self.inner = inner }

    public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
      try inner.evaluate(bindings) == nil
    }
  }
}

extension _SteadExpressions.IsNil: Sendable where Inner: Sendable {}
extension _SteadExpressions.IsNil: Codable where Inner: Codable {}
extension _SteadExpressions.IsNil: StandardPredicateExpression
where Inner: StandardPredicateExpression {}

extension _SteadExpressions.IsNil: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    try translation.nilTest(translation.term(inner), isNegated: false)
  }
}
