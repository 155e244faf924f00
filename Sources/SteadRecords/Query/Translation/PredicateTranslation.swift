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

// MARK: - Objects

extension PredicateTranslation {
  /// A reference to an object as SQL sees it: the primary key of the row.
  struct ObjectReference {
    /// The SQL of the primary key.
    var number: SQLFragment
    /// Whether the SQL may be NULL.
    var mayBeNull = false
    /// The entity that the key belongs to; nil if the schema has none of that name.
    var entity: EntityLayout?
    /// Whether the key may be that of a deleted row, since it comes from a foreign key or from an identifier.
    ///
    /// In memory a reference to such a row reads as nil, and an identifier of it equals no object's.
    var mayBeGone = false
    /// Whether the object is known before the query runs.
    var isConstant = false
    /// The discriminator that the row must have besides the key. An identifier names an object of one class, while
    /// all classes of a hierarchy share one table.
    var discriminator: Int?
  }

  /// A primary key that no row has.
  ///
  /// Temporary objects have negative numbers as well, but these are in no table.
  static let noRow: Int64 = -1

  /// Whether a comparison with the term compares objects.
  func isObject(_ term: Term) -> Bool {
    switch term {
    case .row, .constant(.identifier): true
    default: false
    }
  }

  /// A term as a reference to an object.
  ///
  /// - Throws: ``NotTranslatable`` for a term that is not an object.
  func object(_ term: Term) throws -> ObjectReference {
    switch term {
    case .row(let row):
      let id: SQLFragment =
        // A row that is not present, such as one of another class after `as?`, is nil: its key
        // becomes NULL.
        row.condition.map { "CASE WHEN \($0) THEN \(row.id) END" } ?? row.id
      return ObjectReference(
        number: id, mayBeNull: row.nullability.mayBeNull || row.condition != nil,
        entity: row.entity, mayBeGone: row.isReference)
    case .constant(.identifier(let identifier)):
      let entity = layout.entity(named: identifier.entityName)
      // A number of another entity could be that of a row here, and would match the wrong object.
      let number = entity == nil ? Self.noRow : rowNumber(identifier)
      return ObjectReference(
        number: "\(SQLValue.integer(number))", entity: entity, mayBeGone: true,
        isConstant: true, discriminator: entity?.discriminator)
    default: throw NotTranslatable("a comparison of an object with something else")
    }
  }

  /// The primary key of an identifier in the queried store; ``noRow`` if the identifier is temporary, or is of
  /// another store.
  func rowNumber(_ identifier: PersistentIdentifier) -> Int64 {
    // An object that was not saved has no row that SQL could find. Its context matches it in
    // memory.
    if identifier.isTemporary { return Self.noRow }
    if let store, identifier.storeIdentifier != store { return Self.noRow }
    return identifier.row
  }

  /// The primary key of an object; NULL if the row is gone, or is of another class than its identifier says.
  func existing(_ object: ObjectReference) -> SQLFragment {
    guard object.mayBeGone, let entity = object.entity else { return object.number }
    let test: SQLFragment =
      object.discriminator.map { " AND r.\"_entity\" = \(form: $0)" } ?? ""
    return
      "(SELECT r.\"_id\" FROM \(SQLName(entity.table)) AS r WHERE r.\"_id\" = \(object.number)\(test))"
  }

  /// A condition that is true if a reference is nil or leads to no row. It is never NULL.
  func absence(of object: ObjectReference) -> SQLFragment {
    guard object.mayBeGone else { return "(\(object.number) IS NULL)" }
    guard let entity = object.entity, object.discriminator == nil else {
      return "(\(object.number) IS NULL OR \(existing(object)) IS NULL)"
    }
    // SQLite looks a number up in a table's own tree for IN, with one cursor for all rows; a subquery opens one for each.
    return
      "(\(object.number) IS NULL OR \(object.number) NOT IN (SELECT \"_id\" FROM \(SQLName(entity.table))))"
  }

  /// The SQL of `left == right` of two objects, or of its negation. It may be NULL where `mode` lets NULL count as
  /// false.
  ///
  /// Prefers the plainest form that is right: `=` on two columns can use an index, `IS` and subqueries cannot.
  func objectEquality(
    _ left: ObjectReference, _ right: ObjectReference, _ isNegated: Bool, _ mode: TranslationMode
  ) -> SQLFragment {
    if let one = left.entity, let other = right.entity, one.rootIndex != other.rootIndex {
      // Objects of different tables; only two nils are equal.
      // One of them always exists, and it equals no object of another table.
      guard left.mayBeNull, right.mayBeNull else { return isNegated ? .yes : .no }
      let bothNull: SQLFragment = "(\(absence(of: left)) AND \(absence(of: right)))"
      return isNegated ? "NOT \(bothNull)" : bothNull
    }
    let (one, other) = (operand(left, beside: right), operand(right, beside: left))
    let mayBeNull = left.mayBeNull || right.mayBeNull
    if isNegated { return "\(one) \(mayBeNull ? "IS NOT" : "<>") \(other)" }
    // `=` returns NULL if one side is NULL; that is false in a condition. Of two sides that may be NULL it would miss
    // nil == nil.
    let isPlain = !(left.mayBeNull && right.mayBeNull) && mode.nullIsFalse || !mayBeNull
    return "\(one) \(isPlain ? "=" : "IS") \(other)"
  }

  /// One operand of an equality. A key that may be gone needs no look-up if the other operand's row exists: equal
  /// keys then mean the same existing row.
  private func operand(
    _ object: ObjectReference, beside other: ObjectReference
  ) -> SQLFragment {
    guard object.mayBeGone else { return object.number }
    // A number that equals that of an existing row is not gone itself, unless it is of another class.
    if !object.isConstant {
      // The other side decides: if it exists, an equal key exists; a constant is looked up on its own side.
      let isDecided = !other.mayBeNull && (!other.mayBeGone || other.isConstant)
      return isDecided ? object.number : existing(object)
    }
    if !other.mayBeGone, object.discriminator == nil { return object.number }
    // Not NULL: a captured object that was deleted equals no object, and differs from all. NULL
    // would be neither.
    return "ifnull(\(existing(object)), \(form: Int(Self.noRow)))"
  }

  // MARK: - Captured identifiers

  /// The SQL of `identifiers.contains(object)` over captured identifiers, a nil among them included.
  func isObject(
    _ row: RowTerm, among list: ListParameter, _ mode: TranslationMode
  ) throws -> Term {
    let object = try object(.row(row))
    // A failed `as?` is nil. Behind `!` it is a trap, which the premise covers.
    let nullability = row.condition == nil || row.premise != nil ? row.nullability : .optional
    // A nil among the captured objects matches a reference that is nil, or that leads to a deleted
    // row.
    let acceptsNil = list.hasNil && nullability == .optional
    let numbers = list.rows(of: row.entity, in: self)
    // The answer is known without a query.
    if list.count == 0 {
      return isIn(row, acceptsNil ? absence(of: object) : .no, .never, acceptsNil ? .exact : mode)
    }
    let test: SQLFragment = "\(object.number) IN (\(selection(of: numbers, row)))"
    if acceptsNil { return isIn(row, "(\(absence(of: object)) OR \(test))", .never, .exact) }
    if nullability == .optional, !mode.nullIsFalse {
      return isIn(row, "(\(object.number) IS NOT NULL AND \(test))", .never, mode)
    }
    return isIn(row, test, nullability == .never ? .never : .undefined, mode)
  }

  /// A test as a Boolean that is NULL where Swift traps on the way to the object, unless NULL may count as false.
  private func isIn(
    _ row: RowTerm, _ test: SQLFragment, _ nullability: Nullability, _ mode: TranslationMode
  ) -> Term {
    let test = Scalar(sql: test, encoding: .boolean, nullability: nullability)
    return mode.nullIsFalse ? .scalar(test) : valued(test, unwrapping: .row(row))
  }

  /// A SELECT of the primary keys of captured objects. It joins the table if a key may be that of a deleted row, or
  /// has to be of the class that its identifier names.
  private func selection(of numbers: String, _ row: RowTerm) -> SQLFragment {
    let alias = SQLName(alias: newAlias())
    let json = SQLValue.text(numbers)
    // The key is that of an existing row, so a captured key that equals it exists, too.
    guard row.entity.discriminator != nil || row.isReference else {
      return "SELECT \(alias).value FROM json_each(\(json)) AS \(alias)"
    }
    let table = SQLName(row.entity.table)
    guard row.entity.discriminator != nil else {
      return
        "SELECT r.\"_id\" FROM json_each(\(json)) AS \(alias) JOIN \(table) AS r ON r.\"_id\" = \(alias).value"
    }
    return
      "SELECT r.\"_id\" FROM json_each(\(json)) AS \(alias) JOIN \(table) AS r "
      + "ON r.\"_id\" = json_extract(\(alias).value, '$[0]') "
      + "AND r.\"_entity\" = json_extract(\(alias).value, '$[1]')"
  }
}
