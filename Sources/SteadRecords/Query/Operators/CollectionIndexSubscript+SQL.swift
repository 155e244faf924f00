import Foundation
import SteadSQLite

extension PredicateExpressions.CollectionIndexSubscript: SQLTranslatable {
  /// An index past the end traps in Swift; here it has no value, and the row matches nothing.
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    guard case .list(let list) = try translation.collection(wrapped), list.condition == nil else {
      throw NotTranslatable("a subscript of a value that isn't a stored array")
    }
    let index = try translation.scalar(index)
    return translation.single(
      of: list, where: "\(SQLName(list.alias, "key")) = \(index.sql)",
      order: "\(SQLName(list.alias, "id"))",
      nullability: list.elementIsOptional ? .optional : .undefined)
  }
}
