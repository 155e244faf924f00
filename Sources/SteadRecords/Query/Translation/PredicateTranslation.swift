import Foundation
import SteadSQLite

/// The state of the translation of one predicate: what its variables stand for, which aliases are taken, and which
/// parts have no SQL.
///
/// The extensions translate one kind of operand each: properties, objects, collections, comparisons. They make terms
/// and SQL text and have no state of their own.
///
/// A class, so that nodes deep in the predicate record what they need without passing it through
/// each result. It is used for one translation, by one thread.
final class PredicateTranslation {
  /// The tables and columns of the container's models.
  let layout: StoreLayout
  /// The identifier of the store that is queried. Captured objects of another store match nothing. Nil if all are
  /// taken to be of this one.
  let store: String?
  /// The entities whose rows the SQL reads besides the query's own. If one of them has unsaved changes, the query
  /// cannot be answered by SQL alone.
  var related: Set<Int> = []
  /// What was left to memory, one reason for each part of the predicate.
  private(set) var reasons: [String] = []
  /// The variables in scope, the innermost last.
  private var variables: [(key: PredicateExpressions.VariableID, term: Term)] = []
  /// The number of the last alias. It never decreases, so that an alias is not used twice in one
  /// statement.
  private var aliasCount = 0
  private var strictCount = 0

  init(layout: StoreLayout, store: String?) {
    self.layout = layout
    self.store = store
  }

  /// Whether the SQL is the whole predicate.
  var isExact: Bool { reasons.isEmpty }

  // MARK: - Expressions

  /// The term of an expression.
  ///
  /// Recursive: each operand is translated by its own node, in the mode that the operator allows
  /// it.
  ///
  /// - Throws: ``NotTranslatable`` if the expression, or an operand that it needs, has no SQL.
  func term<E: PredicateExpression>(
    _ expression: E, _ mode: TranslationMode = .exact
  ) throws -> Term {
    // Nodes of other packages, and of a later Foundation.
    guard let expression = TranslatedNodes.translatable(expression) else {
      throw NotTranslatable("\(E.self) cannot be expressed in SQL")
    }
    return try expression.term(in: self, mode)
  }

  /// The SQL of a Boolean expression.
  func condition<E: PredicateExpression>(
    _ expression: E, _ mode: TranslationMode
  ) throws -> SQLFragment where E.Output == Bool {
    let scalar = try scalar(try term(expression, mode))
    // `column = 1` can be answered by an index, the column alone cannot.
    return scalar.isColumn && mode.nullIsFalse ? "\(scalar.sql) = 1" : scalar.sql
  }

  /// A term as a single SQL value, with a constant bound as a parameter.
  ///
  /// - Throws: ``NotTranslatable`` for a term that is not a single value.
  func scalar(_ term: Term) throws -> Scalar {
    switch term {
    case .scalar(let scalar): return scalar
    case .constant(.scalar(let value, let encoding)):
      return Scalar(sql: "\(value)", encoding: encoding)
    case .constant(.null):
      // NULL has no type: operators take the encoding of the other operand.
      return Scalar(sql: "NULL", encoding: .integer, nullability: .optional)
    default: throw NotTranslatable("a value that isn't a number, a string or a date")
    }
  }

  /// An expression as a single SQL value.
  func scalar<E: PredicateExpression>(_ expression: E) throws -> Scalar {
    try scalar(try term(expression))
  }

  /// Records that a part of the predicate is evaluated in memory, on the rows that the SQL returns.
  func leaveToMemory(_ error: NotTranslatable) { reasons.append(error.reason) }

  // MARK: - Variables

  /// The term that a variable stands for.
  func variable(_ key: PredicateExpressions.VariableID) throws -> Term {
    // The innermost binding wins.
    for variable in variables.reversed() where variable.key == key { return variable.term }
    throw NotTranslatable("a variable that is not bound")
  }

  /// Runs a body in which a variable stands for a term.
  func binding<Result>(
    _ key: PredicateExpressions.VariableID, to term: Term, _ body: () throws -> Result
  ) rethrows -> Result {
    // A stack: closures of a predicate nest, and a captured predicate may be applied twice, with
    // the same variables.
    variables.append((key, term))
    defer { variables.removeLast() }
    return try body()
  }

  /// The bit of a new variable of an optional chain; 0 if all bits are taken.
  func newStrictVariable() -> StrictVariables {
    guard strictCount < StrictVariables.bitWidth else { return 0 }
    defer { strictCount += 1 }
    return 1 << StrictVariables(strictCount)
  }

  /// An alias that no other table of the statement has. `t0` is the query's own table.
  func newAlias() -> String {
    aliasCount += 1
    return "t\(aliasCount)"
  }

  /// A related entity, whose rows the SQL will read.
  func entity(_ index: Int) -> EntityLayout {
    related.insert(index)
    return layout.entities[index]
  }
}
