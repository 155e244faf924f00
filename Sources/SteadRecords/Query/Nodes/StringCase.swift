public import Foundation
import SteadSQLite

extension _SteadExpressions {
  /// `lowercased()` or `uppercased()`.
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
}
