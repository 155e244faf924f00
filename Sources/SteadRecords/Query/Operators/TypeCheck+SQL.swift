import Foundation
import SteadSQLite

extension PredicateExpressions.TypeCheck: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    let input = try translation.term(input)
    guard case .row(let row) = input else {
      throw NotTranslatable("a type check of a value that isn't an object")
    }
    guard let test = try translation.cast(row, to: Desired.self) else { return .boolean(.no) }
    let id = try translation.object(input)
    switch (test, id.mayBeNull) {
    case (.always, false): return .boolean(.yes)
    case (.always, true): return .boolean("NOT \(translation.absence(of: id))")
    case (.when(let condition), false): return .boolean(condition)
    case (.when(let condition), true): return .boolean("coalesce(\(condition), 0)")
    }
  }
}

/// When an object is of a class.
private enum CastTest {
  case always
  case when(SQLFragment)
}

extension PredicateTranslation {
  /// When a row is of a class; nil when never.
  fileprivate func cast<Desired>(_ row: RowTerm, to type: Desired.Type) throws -> CastTest? {
    guard let model = type as? any PersistentModel.Type, let target = layout.entity(for: model)
    else { throw NotTranslatable("a cast of \(row.entity.name) to \(type)") }
    if target === row.entity { return .always }
    guard target.rootIndex == row.entity.rootIndex, let own = row.entity.discriminator else {
      return nil
    }
    if target.familyDiscriminators.contains(own) { return .always }
    let family = target.familyDiscriminators.map { SQLFragment(sql: String($0)) }
    let kind = column("_entity", of: row)
    return .when("\(kind) IN (\(SQLFragment.joined(family, by: ", ")))")
  }

  /// A row seen as an object of another class.
  func casting<Desired>(
    _ term: Term, to type: Desired.Type, failing nullability: Nullability
  ) throws -> Term {
    guard case .row(var row) = term, let model = type as? any PersistentModel.Type,
      let target = layout.entity(for: model)
    else { throw NotTranslatable("a cast to \(type)") }
    switch try cast(row, to: type) {
    case .always: break
    case nil: return .constant(.null)
    case .when(let condition):
      row.condition = row.condition.map { "\($0) AND \(condition)" } ?? condition
      row.nullability = nullability
      if nullability == .undefined { row.isUnwrapped = true }
    }
    return .row(
      RowTerm(
        entity: target, id: row.id, alias: row.alias, condition: row.condition,
        nullability: row.nullability, strict: row.strict, isReference: row.isReference,
        isUnwrapped: row.isUnwrapped))
  }
}
