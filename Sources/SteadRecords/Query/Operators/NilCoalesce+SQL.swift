import Foundation

extension PredicateExpressions.NilCoalesce: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    let right = try translation.term(rhs)
    // A chain that ends in `?? false` is the chain itself wherever nil counts as false.
    if mode.nullIsFalse, case .constant(.scalar(.integer(0), .boolean)) = right {
      return try translation.term(lhs, mode)
    }
    let left = try translation.term(lhs)
    switch (left, right) {
    case (.constant(.null), _): return right
    case (.constant, _): return left
    case (.rows(var rows), .constant(.other(let value))) where Self.isEmpty(value):
      if let presence = rows.presence {
        rows.condition = "\(presence) AND \(rows.condition)"
        rows.presence = nil
      }
      return .rows(rows)
    case (.rows(let rows), _) where rows.presence == nil: return left
    case (.list(var list), .constant(.other(let value))) where Self.isEmpty(value):
      list.json = "coalesce(\(list.json), '[]')"
      list.nullability = .never
      list.strict = 0
      return .list(list)
    case (.row(let one), .row(let other)) where one.entity === other.entity:
      let (first, second) = (try translation.object(left), try translation.object(right))
      var row = RowTerm(
        entity: one.entity,
        id: "coalesce(\(translation.existing(first)), \(translation.existing(second)))",
        nullability: second.mayBeNull ? .optional : .never, premise: one.premise)
      // The object on the right counts where there is none on the left.
      if other.premise != nil, other.nullability == .undefined { try translation.require(&row) }
      return .row(row)
    default:
      let (first, second) = (try translation.scalar(left), try translation.scalar(right))
      // NULL is nil only where the term may be that.
      guard first.nullability == .optional else { return left }
      return .scalar(
        Scalar(
          sql: "coalesce(\(first.sql), \(second.sql))", encoding: first.encoding,
          nullability: second.nullability, strict: first.strict & second.strict))
    }
  }

  private static func isEmpty(_ value: Any) -> Bool {
    (value as? any Collection)?.isEmpty ?? false
  }
}
