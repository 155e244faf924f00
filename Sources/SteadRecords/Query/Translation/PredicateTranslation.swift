import Foundation
import SteadSQLite

/// The state of translating one predicate to SQL: which variables stand for what, which aliases are taken, and which
/// parts are left to memory.
final class PredicateTranslation {
  let layout: StoreLayout
  /// The identifier of the store, if captured objects must be of it.
  let store: String?
  var related: Set<Int> = []
  /// What SQL could not express, one reason for each part of the predicate.
  private(set) var reasons: [String] = []
  private var variables: [(key: PredicateExpressions.VariableID, term: Term)] = []
  private var aliasCount = 0
  private var strictCount = 0

  init(layout: StoreLayout, store: String?) {
    self.layout = layout
    self.store = store
  }

  var isExact: Bool { reasons.isEmpty }

  // MARK: - Expressions

  func term<E: PredicateExpression>(
    _ expression: E, _ mode: TranslationMode = .exact
  ) throws -> Term {
    guard let expression = TranslatedNodes.translatable(expression) else {
      throw NotTranslatable("\(E.self) cannot be expressed in SQL")
    }
    return try expression.term(in: self, mode)
  }

  /// The SQL of a Boolean expression.
  func condition<E: PredicateExpression>(
    _ expression: E, _ mode: TranslationMode
  ) throws -> SQLFragment where E.Output == Bool {
    try fragment(try scalar(try term(expression, mode)), mode)
  }

  private func fragment(_ scalar: Scalar, _ mode: TranslationMode) throws -> SQLFragment {
    // `column = 1` can be answered by an index, the column alone cannot.
    scalar.isColumn && mode.nullIsFalse ? "\(scalar.sql) = 1" : scalar.sql
  }

  func scalar(_ term: Term) throws -> Scalar {
    switch term {
    case .scalar(let scalar): return scalar
    case .constant(.scalar(let value, let encoding)):
      return Scalar(sql: "\(value)", encoding: encoding)
    case .constant(.null):
      return Scalar(sql: "NULL", encoding: .integer, nullability: .optional)
    default: throw NotTranslatable("a value that isn't a number, a string or a date")
    }
  }

  func scalar<E: PredicateExpression>(_ expression: E) throws -> Scalar {
    try scalar(try term(expression))
  }

  /// Notes that a part of the predicate is left to memory.
  func leaveToMemory(_ error: NotTranslatable) { reasons.append(error.reason) }

  // MARK: - Variables

  func variable(_ key: PredicateExpressions.VariableID) throws -> Term {
    for variable in variables.reversed() where variable.key == key { return variable.term }
    throw NotTranslatable("a variable that is not bound")
  }

  /// Runs a body in which a variable stands for a term.
  func binding<Result>(
    _ key: PredicateExpressions.VariableID, to term: Term, _ body: () throws -> Result
  ) rethrows -> Result {
    variables.append((key, term))
    defer { variables.removeLast() }
    return try body()
  }

  /// A bit for a variable of an optional chain; none when all are taken.
  func newStrictVariable() -> StrictVariables {
    guard strictCount < StrictVariables.bitWidth else { return 0 }
    defer { strictCount += 1 }
    return 1 << StrictVariables(strictCount)
  }

  func newAlias() -> String {
    aliasCount += 1
    return "t\(aliasCount)"
  }

  func entity(_ index: Int) -> EntityLayout {
    related.insert(index)
    return layout.entities[index]
  }
}
