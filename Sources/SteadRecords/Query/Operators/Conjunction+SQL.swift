import Foundation
import SteadSQLite

extension PredicateExpressions.Conjunction: SQLTranslatable {
  /// If more rows than match are allowed, a side without SQL is left out and evaluated in memory.
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    guard mode == .filter else {
      let (left, right) = (
        try translation.condition(lhs, mode), try translation.condition(rhs, mode)
      )
      return .boolean("(\(left) AND \(right))", .undefined)
    }
    let left = try side(lhs, translation)
    let right = try side(rhs, translation)
    switch (left, right) {
    case (let left?, let right?): return .boolean("(\(left) AND \(right))")
    case (let only?, nil), (nil, let only?): return .boolean(only)
    case (nil, nil): return .boolean(.yes)
    }
  }

  private func side<E: PredicateExpression>(
    _ expression: E, _ translation: PredicateTranslation
  ) throws -> SQLFragment? where E.Output == Bool {
    do {
      return try translation.condition(expression, .filter)
    } catch let error as NotTranslatable {
      translation.leaveToMemory(error)
      return nil
    }
  }
}
