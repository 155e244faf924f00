import Foundation

extension PredicateExpressions.ForcedUnwrap: SQLTranslatable {
  /// Unwrapping nil throws in Swift; here it has no value, and the row matches nothing.
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    switch try translation.term(inner) {
    case .scalar(var scalar):
      if scalar.nullability == .optional { scalar.nullability = .undefined }
      return .scalar(scalar)
    case .row(var row):
      if row.nullability == .optional { try translation.require(&row) }
      return .row(row)
    case .list(var list):
      if list.nullability == .optional { list.nullability = .undefined }
      return .list(list)
    case .composite(var composite):
      if composite.nullability == .optional { composite.nullability = .undefined }
      return .composite(composite)
    case .constant(.null): throw NotTranslatable("unwrapping nil")
    case let other: return other
    }
  }
}
