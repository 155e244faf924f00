import Foundation
import SteadSQLite

private typealias Node = PredicateExpressions

/// `!`.
extension PredicateExpressions.ForcedUnwrap: SQLTranslatable {
  /// Unwrapping nil throws in Swift. In SQL the term loses its nil: NULL now means no value, so the row matches
  /// nothing.
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    switch try translation.term(inner) {
    case .scalar(var scalar):
      if scalar.nullability == .optional { scalar.nullability = .undefined }
      return .scalar(scalar)
    case .row(var row):
      // NULL alone would not do for an object: a reference to a deleted row is not NULL, and is nil
      // as well.
      if row.nullability == .optional { try translation.require(&row) }
      return .row(row)
    case .list(var list):
      if list.nullability == .optional { list.nullability = .undefined }
      return .list(list)
    case .composite(var composite):
      if composite.nullability == .optional { composite.nullability = .undefined }
      return .composite(composite)
    // Always a trap, which memory turns into no match.
    case .constant(.null): throw NotTranslatable("unwrapping nil")
    case let other: return other
    }
  }

  func checkedNode() -> CheckedExpression<Output>? {
    rebuilt(inner) { Node.build_ForcedUnwrap($0) }
  }
}

/// `??`.
extension PredicateExpressions.NilCoalesce: SQLTranslatable {
  /// `coalesce`, in the form that the operands' kinds need. Only a term whose NULL is nil takes the right side: a
  /// trap on the left stays a trap.
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    let right = try translation.term(rhs)
    // A chain that ends in `?? false` is the chain itself wherever nil counts as false.
    if mode.nullIsFalse, case .constant(.scalar(.integer(0), .boolean)) = right {
      return try translation.term(lhs, mode)
    }
    let left = try translation.term(lhs)
    switch (left, right) {
    // The left side is known: no SQL is needed for the choice.
    case (.constant(.null), _): return right
    case (.constant, _): return left
    // `toMany ?? []`: without an owner the relationship has no members, instead of no value.
    case (.rows(var rows), .constant(.other(let value))) where Self.isEmpty(value):
      if let presence = rows.presence {
        // As a filter of the members, so that the tests of an absent owner's list are those of an
        // empty one.
        rows.condition = "\(presence) AND \(rows.condition)"
        rows.presence = nil
      }
      return .rows(rows)
    case (.rows(let rows), _) where rows.presence == nil: return left
    // `array ?? []`: NULL becomes an empty JSON array, so the list is strict in nothing any more.
    case (.list(var list), .constant(.other(let value))) where Self.isEmpty(value):
      list.json = "coalesce(\(list.json), '[]')"
      list.nullability = .never
      list.strict = 0
      return .list(list)
    case (.row(let one), .row(let other)) where one.entity === other.entity:
      // A reference to a deleted row is nil, so the right side has to step in for it as well.
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
      // `undefined` is a trap: the right side must not take its place.
      guard first.nullability == .optional else { return left }
      return .scalar(
        Scalar(
          sql: "coalesce(\(first.sql), \(second.sql))", encoding: first.encoding,
          nullability: second.nullability, strict: first.strict & second.strict))
    }
  }

  /// Whether a captured value is an empty collection, as in `?? []`.
  private static func isEmpty(_ value: Any) -> Bool {
    (value as? any Collection)?.isEmpty ?? false
  }

  func checkedNode() -> CheckedExpression<Output>? {
    rebuilt(lhs, rhs) { Node.build_NilCoalesce(lhs: $0, rhs: $1) }
  }
}

// MARK: - Optional chains

/// An optional chain, `map`, or `flatMap` of an optional.
extension PredicateExpressions.OptionalFlatMap: SQLTranslatable {
  /// The closure is translated with its variable bound to the unwrapped optional. If the result is strict in the
  /// variable, see ``StrictVariables``, it is NULL by itself where the optional is nil; else a CASE makes it so.
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    let value = try translation.term(wrapped)
    // A chain on nil is nil, whatever follows.
    if case .constant(.null) = value { return value }
    let bit = translation.newStrictVariable()
    let result = try translation.binding(variable.key, to: value.unwrapped(bit)) {
      try translation.term(transform, mode.withoutExcess)
    }
    return try translation.chain(value, result, bit)
  }

  /// Foundation's node cannot be made of a closure over a checked operand, so this evaluates the chain itself.
  func checkedNode() -> CheckedExpression<Output>? {
    rebuilt(wrapped, transform) { [variable] wrapped, transform in
      CheckedExpression { bindings in
        guard let value = try wrapped.evaluate(bindings) else { return nil }
        let result = try transform.evaluate(bindings.binding(variable, to: value))
        // A closure's result may be optional itself, or not.
        return RHS.Output.self == Result.self ? result as? Result : result as? Result? ?? nil
      }
    }
  }
}

extension PredicateTranslation {
  /// The result of an optional chain: nil where the value before the question mark is nil.
  ///
  /// Invariant: afterwards the result is strict in what the value was strict in, and no longer in the chain's own
  /// variable, whose scope ends here.
  ///
  /// - Parameter bit: The variable of the chain; 0 if all bits were taken, which makes no result strict in it.
  fileprivate func chain(
    _ value: Term, _ result: Term, _ bit: StrictVariables
  ) throws -> Term {
    let presence = try presence(of: value)
    switch result {
    case .scalar(var scalar):
      // Without the CASE the result would have a value although the optional is nil.
      if scalar.strict & bit == 0, let presence {
        scalar.sql = "CASE WHEN \(presence) THEN \(scalar.sql) END"
        // A CASE is no column: no index serves it.
        scalar.isColumn = false
        scalar.strict = 0
      }
      // Where the value before the question mark is NULL by an outer chain, this result is NULL,
      // too.
      scalar.strict = scalar.strict & ~bit | value.strict
      if presence != nil { scalar.nullability = .optional }
      return .scalar(scalar)
    case .constant(.scalar(let constant, let encoding)):
      guard let presence else { return result }
      return .scalar(
        Scalar(
          sql: "CASE WHEN \(presence) THEN \(constant) END", encoding: encoding,
          nullability: .optional, strict: value.strict))
    case .row(var row):
      if row.strict & bit == 0, let presence {
        row.condition = row.condition.map { "\(presence) AND \($0)" } ?? presence
      }
      row.strict = row.strict & ~bit | value.strict
      // A trap within the chain has become nil of the whole chain; see the exceptions in Documentation/Predicates.md.
      (row.nullability, row.premise) = (.optional, nil)
      return .row(row)
    case .rows(var rows):
      // Members are no value that could be NULL. The condition waits until a test of them is made.
      if let presence { rows.presence = rows.presence.map { "\(presence) AND \($0)" } ?? presence }
      return .rows(rows)
    case .list(var list) where presence == nil || list.strict & bit != 0:
      list.strict = list.strict & ~bit | value.strict
      list.nullability = .optional
      return .list(list)
    case .composite(var composite) where presence == nil || composite.strict & bit != 0:
      composite.strict = composite.strict & ~bit | value.strict
      composite.nullability = .optional
      return .composite(composite)
    // nil whether the optional has a value or not.
    case .constant(.null): return result
    default: throw NotTranslatable("an optional chain to a value that SQL cannot represent")
    }
  }

  /// A condition that is true if a term is not nil; nil if it never is nil.
  func presence(of term: Term) throws -> SQLFragment? {
    switch term {
    case .scalar(let scalar):
      return scalar.nullability.mayBeNull ? "\(scalar.operand) IS NOT NULL" : nil
    case .row(let row):
      let reference = try object(.row(row))
      return reference.mayBeNull ? "NOT \(absence(of: reference))" : nil
    case .rows(let rows): return rows.presence
    case .list(let list): return list.nullability.mayBeNull ? "\(list.json) IS NOT NULL" : nil
    case .composite(let composite):
      return composite.nullability.mayBeNull ? "\(composite.json) IS NOT NULL" : nil
    case .constant, .range: return nil
    }
  }
}

extension Term {
  /// The variables in which the term is strict.
  var strict: StrictVariables {
    switch self {
    case .scalar(let scalar): scalar.strict
    case .row(let row): row.strict
    case .list(let list): list.strict
    case .composite(let composite): composite.strict
    case .constant, .rows, .range: 0
    }
  }

  /// The term as the variable of an optional chain sees it: not nil, and strict in the variable.
  func unwrapped(_ bit: StrictVariables) -> Term {
    switch self {
    case .scalar(var scalar):
      scalar.nullability = .never
      scalar.strict |= bit
      return .scalar(scalar)
    case .row(var row):
      row.nullability = .never
      row.strict |= bit
      return .row(row)
    case .rows(var rows):
      rows.presence = nil
      return .rows(rows)
    case .list(var list):
      list.nullability = .never
      list.strict |= bit
      return .list(list)
    case .composite(var composite):
      composite.nullability = .never
      composite.strict |= bit
      return .composite(composite)
    case .constant, .range: return self
    }
  }
}
