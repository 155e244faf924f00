public import Foundation

extension _SteadExpressions {
  /// The tests of a string with another one, each with the name of its method.
  public enum StringTestKind: String, Codable, Sendable {
    case hasPrefix
    case hasSuffix
    case localizedStandardContains
    case localizedCaseInsensitiveContains
  }

  /// A test of a string with another one.
  public struct StringTest<Base: PredicateExpression, Other: PredicateExpression>:
    PredicateExpression
  where Base.Output: StringProtocol, Other.Output: StringProtocol {
    public typealias Output = Bool

    let base: Base
    let other: Other
    let kind: StringTestKind

    init(_ base: Base, _ other: Other, _ kind: StringTestKind) {
      self.base = base
      self.other = other
      self.kind = kind
    }

    public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
      let (text, part) = (try base.evaluate(bindings), try other.evaluate(bindings))
      return switch kind {
      case .hasPrefix: text.hasPrefix(part)
      case .hasSuffix: text.hasSuffix(part)
      case .localizedStandardContains: text.localizedStandardContains(part)
      case .localizedCaseInsensitiveContains: text.localizedCaseInsensitiveContains(part)
      }
    }
  }
}

extension _SteadExpressions.StringTest: Sendable where Base: Sendable, Other: Sendable {}
extension _SteadExpressions.StringTest: Codable where Base: Codable, Other: Codable {}
extension _SteadExpressions.StringTest: StandardPredicateExpression
where Base: StandardPredicateExpression, Other: StandardPredicateExpression {}

extension _SteadExpressions.StringTest: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    if kind == .hasPrefix {
      return try translation.prefixTest(
        function, translation.term(base), translation.term(other), mode)
    }
    return try translation.textTest(
      function, translation.scalar(base), translation.scalar(other))
  }

  private var function: String {
    switch kind {
    case .hasPrefix: "stead_has_prefix"
    case .hasSuffix: "stead_has_suffix"
    case .localizedStandardContains: "stead_standard_contains"
    case .localizedCaseInsensitiveContains: "stead_caseless_contains"
    }
  }
}

extension PredicateExpressions {
  /// The node that Foundation's own `#Predicate` makes of `localizedStandardContains`.
  public static func build_localizedStandardContains<Base, Other>(
    _ base: Base, _ other: Other
  ) -> _SteadExpressions.StringTest<Base, Other>
  where
    Base: PredicateExpression, Other: PredicateExpression, Base.Output: StringProtocol,
    Other.Output: StringProtocol
  {
    .init(base, other, .localizedStandardContains)
  }
}
