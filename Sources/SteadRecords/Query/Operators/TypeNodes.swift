import Foundation
import SteadSQLite

private typealias Node = PredicateExpressions

extension PredicateExpressions.TypeCheck: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    let input = try translation.term(input)
    guard case .row(let row) = input else {
      throw NotTranslatable("a type check of a value that isn't an object")
    }
    let test = try translation.scalar(.boolean(try isOfClass(row, translation)))
    // NULL counts as false, and what isn't an object is of no class.
    return mode.nullIsFalse ? .scalar(test) : translation.valued(test, unwrapping: input)
  }

  private func isOfClass(
    _ row: RowTerm, _ translation: PredicateTranslation
  ) throws -> SQLFragment {
    guard let test = try translation.cast(row, to: Desired.self) else { return .no }
    let id = try translation.object(.row(row))
    switch (test, id.mayBeNull) {
    case (.always, false): return .yes
    case (.always, true): return "NOT \(translation.absence(of: id))"
    case (.when(let condition), false): return condition
    case (.when(let condition), true): return "coalesce(\(condition), 0)"
    }
  }

  func checkedNode() -> CheckedExpression<Bool>? {
    remade(input) { Node.TypeCheck<_, Desired>($0) }
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
    case .always: if row.nullability == .optional, nullability == .undefined { try require(&row) }
    case nil where nullability == .undefined: throw NotTranslatable("a cast that always fails")
    case nil: return .constant(.null)
    case .when(let condition):
      row.condition = row.condition.map { "\($0) AND \(condition)" } ?? condition
      row.nullability = nullability
      if nullability == .undefined { try require(&row) }
    }
    return .row(
      RowTerm(
        entity: target, id: row.id, alias: row.alias, condition: row.condition,
        nullability: row.nullability, strict: row.strict, isReference: row.isReference,
        premise: row.premise))
  }

  /// Has a row be an object, as `!` and `as!` do.
  func require(_ row: inout RowTerm) throws {
    row.nullability = .undefined
    row.premise = "NOT \(absence(of: try object(.row(row))))"
  }
}

extension PredicateExpressions.ConditionalCast: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    let term = try translation.term(input)
    if Input.Output.self == Desired.self || Input.Output.self == Desired?.self { return term }
    return try translation.casting(term, to: Desired.self, failing: .optional)
  }

  func checkedNode() -> CheckedExpression<Output>? {
    remade(input) { Node.ConditionalCast<_, Desired>($0) }
  }
}

extension PredicateExpressions.ForceCast: SQLTranslatable {
  /// A cast that fails throws in Swift; here it has no value, and the row matches nothing.
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    let term = try translation.term(input)
    if Input.Output.self == Desired.self { return term }
    return try translation.casting(term, to: Desired.self, failing: .undefined)
  }

  func checkedNode() -> CheckedExpression<Output>? {
    remade(input) { Node.ForceCast<_, Desired>($0) }
  }
}
