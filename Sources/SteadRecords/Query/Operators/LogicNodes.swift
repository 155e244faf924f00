import Foundation
import SteadSQLite

private typealias Node = PredicateExpressions

// MARK: - Logic

/// `&&`, the one operator whose operands can be left to memory one by one.
extension PredicateExpressions.Conjunction: SQLTranslatable {
  /// In a filter an operand without SQL is left out, since fewer conditions accept more rows, and evaluated in
  /// memory. Everywhere else both operands must have SQL.
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
    // All rows: both operands are in the list of what memory decides.
    case (nil, nil): return .boolean(.yes)
    }
  }

  /// One operand of a filter; nil if it is left to memory.
  private func side<E: PredicateExpression>(
    _ expression: E, _ translation: PredicateTranslation
  ) throws -> SQLFragment? where E.Output == Bool {
    do {
      return try translation.condition(expression, .filter)
    } catch let error as NotTranslatable {
      // The SQL accepts more rows than the predicate. The record makes the fetch test each object
      // with the whole of it.
      translation.leaveToMemory(error)
      return nil
    }
  }

  func checkedNode() -> CheckedExpression<Bool>? {
    rebuilt(lhs, rhs) { Node.build_Conjunction(lhs: $0, rhs: $1) }
  }
}

/// `||`. An operand cannot be left to memory: rows that match it alone would be missing.
extension PredicateExpressions.Disjunction: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    let (left, right) = (
      try translation.condition(lhs, mode), try translation.condition(rhs, mode)
    )
    return .boolean("(\(left) OR \(right))", .undefined)
  }

  func checkedNode() -> CheckedExpression<Bool>? {
    rebuilt(lhs, rhs) { Node.build_Disjunction(lhs: $0, rhs: $1) }
  }
}

/// `!`.
extension PredicateExpressions.Negation: SQLTranslatable {
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    // NULL for "no value" must stay NULL, hence the exact value even in a condition.
    let value = try translation.scalar(wrapped)
    // `column = 0` can use an index, and stays NULL where the column is.
    if value.isColumn {
      return .boolean("\(value.sql) = 0", value.nullability, strict: value.strict)
    }
    return .boolean("NOT (\(value.sql))", value.nullability, strict: value.strict)
  }

  func checkedNode() -> CheckedExpression<Bool>? { rebuilt(wrapped) { Node.build_Negation($0) } }
}

/// `? :`, and `if` with `else`: of two objects of one entity an object, of anything else a value.
extension PredicateExpressions.Conditional: SQLTranslatable {
  /// A CASE over the branches, whose nullability is that of the test and of both.
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
      // Which branch's premise counts depends on the row, so the choice itself has to be an object.
      let canTrap = test.nullability != .never || one.premise != nil || other.premise != nil
      if canTrap { try translation.require(&row) }
      return .row(row)
    }
    let (left, right) = (try translation.scalar(first), try translation.scalar(second))
    // A choice that may be nil is optional, even if a branch may also trap: NULL cannot say which it is.
    let isOptional = left.nullability == .optional || right.nullability == .optional
    let encoding = if case .constant(.null) = first { right.encoding } else { left.encoding }
    return .scalar(
      Scalar(
        sql: choice(test, left.sql, right.sql), encoding: encoding,
        nullability: isOptional
          ? .optional
          : .either(test.nullability, .either(left.nullability, right.nullability))))
  }

  /// The CASE of a choice. A test that may be NULL needs both of its values named: ELSE would take NULL for false.
  ///
  /// ```sql
  /// CASE WHEN test THEN first ELSE second END
  /// CASE test WHEN 1 THEN first WHEN 0 THEN second END
  /// ```
  private func choice(
    _ test: Scalar, _ first: SQLFragment, _ second: SQLFragment
  ) -> SQLFragment {
    test.nullability == .never
      ? "CASE WHEN \(test.sql) THEN \(first) ELSE \(second) END"
      : "CASE \(test.sql) WHEN 1 THEN \(first) WHEN 0 THEN \(second) END"
  }

  func checkedNode() -> CheckedExpression<Output>? {
    rebuilt(test, trueBranch, falseBranch) { Node.build_Conditional($0, $1, $2) }
  }
}

// MARK: - Captured expressions

/// `expression.evaluate(…)` of a captured `#Expression`, translated in place: its variables stand for the arguments.
extension PredicateExpressions.ExpressionEvaluate: SQLTranslatable {
  /// Translates the body of the captured expression with its variables bound to the arguments.
  func term(in translation: PredicateTranslation, _ mode: TranslationMode) throws -> Term {
    guard case .constant(.other(let value)) = try translation.term(expression),
      let inner = value as? Expression<repeat (each Input).Output, Output>
    else { throw NotTranslatable("an expression that is not known before the query runs") }
    var terms: [Term] = []
    for input in repeat each input { terms.append(try translation.term(input)) }
    // Parameter packs have no map; the closure's variables are bound in the order of the arguments.
    var keys: [PredicateExpressions.VariableID] = []
    for variable in repeat each inner.variable { keys.append(variable.key) }
    return try translation.binding(keys, to: terms) {
      try translation.term(inner.expression, mode)
    }
  }

  /// The captured expression is rebuilt as well if it, or an argument, can trap.
  func checkedNode() -> CheckedExpression<Output>? {
    let inputs = (repeat (each input).checked())
    var canTrap = false
    for input in repeat each inputs { canTrap = canTrap || input != nil }
    // What is evaluated is captured, so it depends on no variable.
    guard let inner = try? expression.evaluate(PredicateBindings()),
      let body = inner.expression.checked(orSame: canTrap)
    else { return nil }
    let values = (repeat (each input).checkedOrSame())
    return CheckedExpression { bindings in
      try body.evaluate(
        PredicateBindings(repeat (each inner.variable, try (each values).evaluate(bindings))))
    }
  }
}

extension PredicateTranslation {
  /// Runs a body in which several variables stand for terms.
  func binding<Result>(
    _ keys: [PredicateExpressions.VariableID], to terms: [Term], _ body: () throws -> Result
  ) throws -> Result {
    guard let key = keys.first, let term = terms.first else { return try body() }
    return try binding(key, to: term) {
      try binding(Array(keys.dropFirst()), to: Array(terms.dropFirst()), body)
    }
  }
}
