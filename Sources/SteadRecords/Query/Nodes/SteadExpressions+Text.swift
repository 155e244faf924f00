public import Foundation
import SteadSQLite

extension _SteadExpressions {
  /// `lowercased()` or `uppercased()`, by Swift's rules in SQL as well: SQLite's own functions know ASCII alone.
  public struct StringCase<Base: PredicateExpression>: PredicateExpression
  where Base.Output: StringProtocol {
    public typealias Output = String
    let base: Base
    let isUpper: Bool

    init(_ base: Base, isUpper: Bool) {
      self.base = base
      self.isUpper = isUpper
    }

    public func evaluate(_ bindings: PredicateBindings) throws -> String {
      let text = try base.evaluate(bindings)
      return isUpper ? text.uppercased() : text.lowercased()
    }
  }
}

extension _SteadExpressions.StringCase: Sendable where Base: Sendable {}
extension _SteadExpressions.StringCase: Codable where Base: Codable {}
extension _SteadExpressions.StringCase: StandardPredicateExpression
where Base: StandardPredicateExpression {}

extension _SteadExpressions.StringCase: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    let text = try translation.scalar(base)
    return .scalar(
      Scalar(
        sql: "\(SQLFragment(sql: isUpper ? "stead_upper" : "stead_lower"))(\(text.sql))",
        encoding: .text, nullability: text.nullability == .never ? .never : .undefined,
        strict: text.strict))
  }

  func checkedNode() -> CheckedExpression<String>? {
    rebuilt(base) { _SteadExpressions.StringCase($0, isUpper: isUpper) }
  }
}

extension _SteadExpressions {
  /// The tests of a string with another one, each with the name of its method. The names are encoded with predicates.
  public enum StringTestKind: String, Codable, Sendable {
    /// By characters, so that canonically equivalent prefixes count.
    case hasPrefix
    /// By characters, as ``hasPrefix``.
    case hasSuffix
    /// As a user searches: without regard to case and diacritics.
    case localizedStandardContains
    /// Without regard to case alone.
    case localizedCaseInsensitiveContains
  }

  /// A test of a string with another one, such as `hasPrefix(_:)`.
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
  /// Only a prefix can use an index, see ``PredicateTranslation/prefixTest(_:_:_:_:)``.
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    if kind == .hasPrefix {
      return try translation.prefixTest(
        function, translation.term(base), translation.term(other), mode)
    }
    return try translation.textTest(
      function, translation.scalar(base), translation.scalar(other))
  }

  /// The SQL function of the test.
  private var function: String {
    switch kind {
    case .hasPrefix: "stead_has_prefix"
    case .hasSuffix: "stead_has_suffix"
    case .localizedStandardContains: "stead_standard_contains"
    case .localizedCaseInsensitiveContains: "stead_caseless_contains"
    }
  }

  func checkedNode() -> CheckedExpression<Bool>? {
    rebuilt(base, other) { _SteadExpressions.StringTest($0, $1, kind) }
  }
}

extension PredicateExpressions {
  /// The node that Foundation's own `#Predicate` makes of `localizedStandardContains(_:)`, whose function Foundation
  /// lacks off Apple's systems.
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

extension _SteadExpressions {
  /// A comparison of two strings by one of Foundation's rules, such as `localizedStandardCompare(_:)`; its value is a
  /// `ComparisonResult`.
  public struct StringComparison<LHS: PredicateExpression, RHS: PredicateExpression>:
    PredicateExpression
  where LHS.Output: StringProtocol, RHS.Output: StringProtocol {
    public typealias Output = ComparisonResult
    let lhs: LHS
    let rhs: RHS
    let method: _StringComparisonMethod

    init(_ lhs: LHS, _ rhs: RHS, _ method: _StringComparisonMethod) {
      self.lhs = lhs
      self.rhs = rhs
      self.method = method
    }

    public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
      // One function for memory and for SQL's `stead_compare`, so that both give the same result.
      method.compare(String(try lhs.evaluate(bindings)), String(try rhs.evaluate(bindings)))
    }
  }
}

extension _SteadExpressions.StringComparison: Sendable where LHS: Sendable, RHS: Sendable {}
extension _SteadExpressions.StringComparison: Codable where LHS: Codable, RHS: Codable {}
extension _SteadExpressions.StringComparison: StandardPredicateExpression
where LHS: StandardPredicateExpression, RHS: StandardPredicateExpression {}

extension _SteadExpressions.StringComparison: SQLTranslatable {
  /// An integer, as `ComparisonResult` has it: the predicate compares it with a captured result.
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    let (left, right) = (try translation.scalar(lhs), try translation.scalar(rhs))
    let method = SQLFragment(sql: String(method.rawValue))
    return .scalar(
      Scalar(
        sql: "stead_compare(\(left.sql), \(right.sql), \(method))", encoding: .integer,
        nullability: .either(left.nullability, right.nullability),
        strict: left.strict | right.strict))
  }

  func checkedNode() -> CheckedExpression<Output>? {
    rebuilt(lhs, rhs) { _SteadExpressions.StringComparison($0, $1, method) }
  }
}
