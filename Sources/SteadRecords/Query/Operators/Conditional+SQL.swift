import Foundation
import SteadSQLite

extension PredicateExpressions.Conditional: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    // A test without a value gives no value, so the test is exact and has a branch for NULL.
    let test = try translation.scalar(test)
    let first = try translation.term(trueBranch, mode)
    let second = try translation.term(falseBranch, mode)
    if case .row(let one) = first, case .row(let other) = second, one.entity === other.entity {
      let id = choice(
        test, translation.existing(try translation.object(first)),
        translation.existing(try translation.object(second)))
      if one.nullability == .optional || other.nullability == .optional {
        return .row(RowTerm(entity: one.entity, id: id, nullability: .optional))
      }
      var row = RowTerm(
        entity: one.entity, id: id, nullability: .either(one.nullability, other.nullability))
      let canTrap = test.nullability != .never || one.premise != nil || other.premise != nil
      if canTrap { try translation.require(&row) }
      return .row(row)
    }
    let (left, right) = (try translation.scalar(first), try translation.scalar(second))
    let isOptional = left.nullability == .optional || right.nullability == .optional
    let encoding = if case .constant(.null) = first { right.encoding } else { left.encoding }
    return .scalar(
      Scalar(
        sql: choice(test, left.sql, right.sql), encoding: encoding,
        nullability: isOptional
          ? .optional
          : .either(test.nullability, .either(left.nullability, right.nullability))))
  }

  private func choice(
    _ test: Scalar, _ first: SQLFragment, _ second: SQLFragment
  ) -> SQLFragment {
    test.nullability == .never
      ? "CASE WHEN \(test.sql) THEN \(first) ELSE \(second) END"
      : "CASE \(test.sql) WHEN 1 THEN \(first) WHEN 0 THEN \(second) END"
  }
}
