import Foundation
import SteadSQLite

private typealias Node = PredicateExpressions

/// `is`, of a model object.
extension PredicateExpressions.TypeCheck: SQLTranslatable {
  /// A test of the row's discriminator, or a constant if the classes decide it.
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    let input = try translation.term(input)
    guard case .row(let row) = input else {
      throw NotTranslatable("a type check of a value that isn't an object")
    }
    let test = try translation.scalar(.boolean(try isOfClass(row, translation)))
    // NULL counts as false, and what isn't an object is of no class.
    // `is` of what was unwrapped must not match if Swift traps on the way to it, negated or not.
    return mode.nullIsFalse ? .scalar(test) : translation.valued(test, unwrapping: input)
  }

  /// Whether a row is an object of the class, as a condition that is never NULL.
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
    rebuilt(input) { Node.TypeCheck<_, Desired>($0) }
  }
}

/// `as?`, of a model object.
extension PredicateExpressions.ConditionalCast: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    let term = try translation.term(input)
    // A cast to the value's own type, of any kind: also of values that are no objects.
    if Input.Output.self == Desired.self || Input.Output.self == Desired?.self { return term }
    return try translation.casting(term, to: Desired.self, failing: .optional)
  }

  func checkedNode() -> CheckedExpression<Output>? {
    rebuilt(input) { Node.ConditionalCast<_, Desired>($0) }
  }
}

/// `as!`, of a model object.
extension PredicateExpressions.ForceCast: SQLTranslatable {
  /// A cast that fails throws in Swift; here it has no value, and the row matches nothing.
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    let term = try translation.term(input)
    if Input.Output.self == Desired.self { return term }
    return try translation.casting(term, to: Desired.self, failing: .undefined)
  }

  func checkedNode() -> CheckedExpression<Output>? {
    rebuilt(input) { Node.ForceCast<_, Desired>($0) }
  }
}

// MARK: - Casting rows

/// When an object is of a class. Nil instead of a case means never.
private enum CastTest {
  /// The object's declared class is the class, or a subclass of it.
  case always
  /// The discriminator of the object's row is that of the class or of a subclass.
  case when(SQLFragment)
}

extension PredicateTranslation {
  /// When a row is an object of a class; nil for never.
  ///
  /// - Throws: ``NotTranslatable`` if the type is no model of the schema.
  fileprivate func cast<Desired>(_ row: RowTerm, to type: Desired.Type) throws -> CastTest? {
    guard let model = type as? any PersistentModel.Type, let target = layout.entity(for: model)
    else { throw NotTranslatable("a cast of \(row.entity.name) to \(type)") }
    // Outside a hierarchy this is the only class that a row can have.
    if target === row.entity { return .always }
    // Classes of different hierarchies share no object.
    guard target.rootIndex == row.entity.rootIndex, let own = row.entity.discriminator else {
      return nil
    }
    // An upcast: each object of the class is one of the superclass.
    if target.familyDiscriminators.contains(own) { return .always }
    let family = target.familyDiscriminators.map { SQLFragment(sql: String($0)) }
    // The row says its class. A reference has to be followed for that, by a subquery.
    let kind = column("_entity", of: row)
    return .when("\(kind) IN (\(SQLFragment.joined(family, by: ", ")))")
  }

  /// A row as an object of another class.
  ///
  /// - Parameter nullability: What a failed cast gives: nil for `as?`, no value for `as!`.
  /// - Throws: ``NotTranslatable`` for values that are not objects, and for an `as!` that always fails.
  func casting<Desired>(
    _ term: Term, to type: Desired.Type, failing nullability: Nullability
  ) throws -> Term {
    guard case .row(var row) = term, let model = type as? any PersistentModel.Type,
      let target = layout.entity(for: model)
    else { throw NotTranslatable("a cast to \(type)") }
    switch try cast(row, to: type) {
    // `as!` of an optional traps on nil, although each object would pass.
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

  /// Requires that a row exists, as `!` and `as!` do: where it does not, conditions about it have no value.
  func require(_ row: inout RowTerm) throws {
    row.nullability = .undefined
    row.premise = "NOT \(absence(of: try object(.row(row))))"
  }
}
