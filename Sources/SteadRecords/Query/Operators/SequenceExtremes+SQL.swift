import Foundation
import SteadSQLite

extension PredicateExpressions.SequenceMaximum: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    try translation.checkOrder(of: Elements.Output.Element.self)
    return try translation.extreme(of: elements, descending: true)
  }
}

extension PredicateExpressions.SequenceMinimum: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    try translation.checkOrder(of: Elements.Output.Element.self)
    return try translation.extreme(of: elements, descending: false)
  }
}

extension PredicateTranslation {
  fileprivate func extreme<E: PredicateExpression>(
    of expression: E, descending: Bool
  ) throws -> Term {
    guard case .list(let list) = try collection(expression) else {
      throw NotTranslatable("the extreme of a value that isn't a stored array")
    }
    let element = try scalar(try element(of: list))
    let direction: SQLFragment = descending ? " DESC" : ""
    let collation = collation(of: element.encoding, isPlain: false)
    return single(
      of: list, order: "\(element.sql)\(collation)\(direction)", nullability: .optional)
  }
}
