public import Foundation
import SteadSQLite

extension _SteadExpressions {
  /// A comparison of two strings by one of Foundation's rules.
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
      method.compare(String(try lhs.evaluate(bindings)), String(try rhs.evaluate(bindings)))
    }
  }
}

extension _SteadExpressions.StringComparison: Sendable where LHS: Sendable, RHS: Sendable {}
extension _SteadExpressions.StringComparison: Codable where LHS: Codable, RHS: Codable {}
extension _SteadExpressions.StringComparison: StandardPredicateExpression
where LHS: StandardPredicateExpression, RHS: StandardPredicateExpression {}

extension _SteadExpressions.StringComparison: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    let (left, right) = (try translation.scalar(lhs), try translation.scalar(rhs))
    let method = SQLFragment(sql: String(method.rawValue))
    return .scalar(
      Scalar(
        sql: "stead_compare(\(left.sql), \(right.sql), \(method))", encoding: .integer,
        nullability: .either(left.nullability, right.nullability),
        strict: left.strict | right.strict))
  }
}
