import Foundation

extension PredicateExpressions.Negation: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    // NULL for "no value" must stay NULL, hence the exact value even in a condition.
    let value = try translation.scalar(wrapped)
    if value.isColumn {
      return .boolean("\(value.sql) = 0", value.nullability, strict: value.strict)
    }
    return .boolean("NOT (\(value.sql))", value.nullability, strict: value.strict)
  }
}
