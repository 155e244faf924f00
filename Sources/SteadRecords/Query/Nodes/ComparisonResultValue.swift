public import Foundation

extension PredicateExpressions {
  /// A comparison result from outside the predicate; Foundation's type is not Codable.
  public struct ComparisonResultValue: StandardPredicateExpression {
    public typealias Output = ComparisonResult
    let rawValue: Int

    public init(_ value: ComparisonResult) { rawValue = value.rawValue }

    public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
      ComparisonResult(rawValue: rawValue) ?? .orderedSame
    }
  }
}

extension PredicateExpressions.ComparisonResultValue: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    .constant(.scalar(.integer(Int64(rawValue)), .integer))
  }
}
