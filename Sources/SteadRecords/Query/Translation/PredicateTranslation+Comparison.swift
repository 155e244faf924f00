import Foundation
import SteadSQLite

extension PredicateTranslation {
  /// The SQL of `left == right`, or of its negation.
  ///
  /// Chooses by what the operands are: a test for nil, an equality of objects, or one of values.
  func equality(
    _ left: Term, _ right: Term, isNegated: Bool, _ mode: TranslationMode
  ) throws -> Term {
    // First of all, since a comparison with NULL by `=` is never true.
    if case .constant(.null) = right { return try nilTest(left, isNegated: isNegated) }
    if case .constant(.null) = left { return try nilTest(right, isNegated: isNegated) }
    if isObject(left) || isObject(right) {
      let (one, other) = (try object(left), try object(right))
      let sql = objectEquality(one, other, isNegated, mode)
      // NULL, as `=` returns it, counts as false.
      if mode.nullIsFalse, !isNegated, !(one.mayBeNull && other.mayBeNull) { return .boolean(sql) }
      return valued(Scalar(sql: sql, encoding: .boolean), unwrapping: left, right)
    }
    return try scalarEquality(try scalar(left), try scalar(right), left, right, isNegated, mode)
  }

  /// The SQL of `term == nil`, or of its negation. A term that cannot be nil gives a constant; one that is NULL where
  /// Swift traps stays NULL.
  ///
  /// A reference to a deleted row counts as nil, as it reads in memory.
  func nilTest(_ term: Term, isNegated: Bool) throws -> Term {
    let value: SQLFragment
    switch term {
    case .constant(.null): return .boolean(isNegated ? .no : .yes)
    case .constant, .range: return .boolean(isNegated ? .yes : .no)
    case .scalar(let scalar) where scalar.nullability == .undefined:
      return valued(isNegated ? .yes : .no, scalar)
    case .scalar(let scalar): value = scalar.operand
    case .row(let row):
      let sql = absence(of: try object(.row(row)))
      return valued(
        Scalar(sql: isNegated ? "NOT \(sql)" : sql, encoding: .boolean), unwrapping: term)
    // An empty to-many relationship reads as an empty array.
    case .rows: return .boolean(isNegated ? .yes : .no)
    case .list(let list): value = list.json
    case .composite(let composite): value = composite.json
    }
    return .boolean(isNegated ? "\(value) IS NOT NULL" : "\(value) IS NULL")
  }

  // MARK: - Values

  /// The equality of two values, in the form that their encodings need:
  ///
  /// - the constant NaN equals nothing;
  /// - a related object's column is compared with a constant by a subquery on the other table;
  /// - strings are compared by canonical equivalence, or with the spellings of an ASCII constant;
  /// - two floating-point columns need a test for NaN;
  /// - all others are compared by `=`, or with optionals by `IS`.
  private func scalarEquality(
    _ left: Scalar, _ right: Scalar, _ leftTerm: Term, _ rightTerm: Term, _ isNegated: Bool,
    _ mode: TranslationMode
  ) throws -> Term {
    if left.isNotANumber(leftTerm) || right.isNotANumber(rightTerm) {
      return valued(isNegated ? .yes : .no, left, right)
    }
    // Not negated: NOT IN would accept references to deleted rows, which are in no subquery's result.
    if mode.nullIsFalse, !isNegated, rightTerm.isConstant, let lookup = left.lookup {
      return try indexed(lookup, left, right, rightTerm)
    }
    if left.encoding == .text || left.encoding == .url {
      return textEquality(left, right, leftTerm, rightTerm, isNegated, mode)
    }
    // With a constant on one side the test is not needed: a constant NaN was handled above, and no
    // number equals the text.
    if left.mayBeNotANumber(leftTerm) && right.mayBeNotANumber(rightTerm) {
      return numberEquality(left, right, isNegated)
    }
    let collation = left.encoding == .decimal ? " COLLATE stead_decimal" : ""
    return comparison(left, right, collation, isNegated, mode)
  }

  /// Equality of a related object's column with a constant, asked from the other side: `key IN (SELECT _id FROM
  /// related WHERE column = ?)`. SQLite then finds the related rows by an index on the column, and the query's own
  /// rows by one on the foreign key.
  ///
  /// ```sql
  /// t0."parent" IN (SELECT r."_id" FROM "Sample" AS r WHERE r."number" = ?)
  /// ```
  private func indexed(
    _ lookup: Scalar.Lookup, _ left: Scalar, _ right: Scalar, _ rightTerm: Term
  ) throws -> Term {
    var column = left
    column.sql = SQLFragment(sql: lookup.column.sql)
    column.lookup = nil
    column.isColumn = true
    // Inside the subquery the row exists, and NULL in the column just does not equal the constant.
    column.nullability = .never
    let test = try scalar(
      try scalarEquality(column, right, .scalar(column), rightTerm, false, .condition))
    return .boolean(
      "\(lookup.key) IN (SELECT r.\"_id\" FROM \(lookup.table) AS r WHERE \(test.sql))",
      .undefined, strict: left.strict)
  }

  /// An equality by SQLite's own operators. `IS` compares nil as a value, but no index serves `IS NOT`, so `=` is
  /// used where NULL may count as false.
  private func comparison(
    _ left: Scalar, _ right: Scalar, _ collation: String, _ isNegated: Bool,
    _ mode: TranslationMode
  ) -> Term {
    let isOptional = left.nullability == .optional || right.nullability == .optional
    let bothOptional = left.nullability == .optional && right.nullability == .optional
    let sql: SQLFragment
    // `<>` leaves out rows with nil, `=` misses nil == nil, and both are NULL where the exact value is wanted.
    if isOptional, isNegated || bothOptional || !mode.nullIsFalse {
      sql =
        "\(left.operand) \(SQLFragment(sql: isNegated ? "IS NOT" : "IS")) \(right.operand)"
        + SQLFragment(sql: collation)
      return valued(sql, left, right)
    }
    sql =
      "\(left.operand) \(SQLFragment(sql: isNegated ? "<>" : "=")) \(right.operand)"
      + SQLFragment(sql: collation)
    return .boolean(
      sql, .either(left.nullability, right.nullability), strict: left.strict | right.strict)
  }

  /// A condition that is itself never NULL, made NULL where one of its operands has no value.
  func valued(_ condition: SQLFragment, _ sides: Scalar...) -> Term {
    // NULL of an optional is nil, a value that the condition has already taken into account.
    let sides = sides.filter { $0.nullability == .undefined }
    if sides.isEmpty { return .boolean(condition) }
    let tests = SQLFragment.joined(sides.map { "\($0.operand) IS NOT NULL" }, by: " AND ")
    return .boolean(
      "CASE WHEN \(tests) THEN \(condition) END", .undefined,
      strict: sides.map(\.strict).reduce(0, |))
  }

  /// A condition made NULL where Swift traps on the way to an object in one of the terms.
  func valued(_ condition: Scalar, unwrapping terms: Term...) -> Term {
    // A premise is a condition of its own. The term may have been reached through a trap, and still
    // not be NULL itself.
    let premises = terms.compactMap { term in
      if case .row(let row) = term { row.premise } else { nil }
    }
    if premises.isEmpty { return .scalar(condition) }
    let tests = SQLFragment.joined(premises, by: " AND ")
    return .boolean("CASE WHEN \(tests) THEN \(condition.operand) END", .undefined)
  }

  /// Equality of two floating-point columns. NaN is stored as the text `NaN`, which SQLite finds equal to itself and
  /// greater than all numbers; `<= 9e999` excludes it.
  ///
  /// ```sql
  /// (t0."width" = t0."height" AND t0."height" <= 9e999)
  /// ```
  private func numberEquality(_ left: Scalar, _ right: Scalar, _ isNegated: Bool) -> Term {
    let isOptional = left.nullability == .optional || right.nullability == .optional
    let equal: SQLFragment =
      isOptional
      ? "(\(left.sql) IS \(right.sql) AND (\(right.sql) IS NULL OR \(right.sql) <= 9e999))"
      : "(\(left.sql) = \(right.sql) AND \(right.sql) <= 9e999)"
    let sql = isNegated ? "NOT \(equal)" : equal
    if isOptional { return valued(sql, left, right) }
    return .boolean(sql, .either(left.nullability, right.nullability))
  }

  /// Equality of strings. If one is an ASCII constant, all strings that equal it are known, and SQLite's comparison
  /// of bytes with an index is enough; else the collation decides.
  private func textEquality(
    _ left: Scalar, _ right: Scalar, _ leftTerm: Term, _ rightTerm: Term, _ isNegated: Bool,
    _ mode: TranslationMode
  ) -> Term {
    guard let text = rightTerm.constantText ?? leftTerm.constantText,
      let spellings = CanonicalSpellings.all(of: text)
    else { return comparison(left, right, " COLLATE stead_canonical", isNegated, mode) }
    // The common case: a constant that equals only its own bytes. An index of the column serves the
    // comparison.
    if spellings.count == 1 { return comparison(left, right, "", isNegated, mode) }
    // The side that is not the constant.
    let column = rightTerm.constantText == nil ? right : left
    // IN and NOT IN are NULL for nil. Only where NULL counts as false is that right, and for IN alone.
    let isDirect = column.nullability != .optional || mode.nullIsFalse && !isNegated
    guard isDirect else {
      return comparison(left, right, " COLLATE stead_canonical", isNegated, mode)
    }
    let list = SQLFragment.joined(spellings.map { "\(SQLValue.text($0))" }, by: ", ")
    return .boolean(
      "\(column.sql) \(SQLFragment(sql: isNegated ? "NOT IN" : "IN")) (\(list))",
      column.nullability == .never ? .never : .undefined, strict: column.strict)
  }
}

extension Term {
  /// The string of a constant string or URL; nil for all other terms.
  var constantText: String? {
    if case .constant(.scalar(.text(let text), .text)) = self { return text }
    if case .constant(.scalar(.text(let text), .url)) = self { return text }
    return nil
  }

  /// Whether the value is known before the query runs.
  var isConstant: Bool {
    if case .constant = self { true } else { false }
  }
}

extension Scalar {
  /// Whether values are numbers that can be NaN.
  var isFloatingPoint: Bool { encoding == .real || encoding == .date }

  /// Whether the term is the constant NaN.
  func isNotANumber(_ term: Term) -> Bool {
    guard isFloatingPoint, case .constant(.scalar(.text, _)) = term else { return false }
    return true
  }

  /// Whether the SQL may return the text that stands for NaN.
  func mayBeNotANumber(_ term: Term) -> Bool { isFloatingPoint && !term.isConstant }
}

// MARK: - Order

extension PredicateTranslation {
  /// The SQL of a comparison of two values by their order.
  ///
  /// - Throws: ``NotTranslatable`` for encodings that SQL orders differently from Swift, or not at all.
  func order(_ leftTerm: Term, _ op: OrderOperator, _ rightTerm: Term) throws -> Term {
    let (left, right) = (try scalar(leftTerm), try scalar(rightTerm))
    let nullability = Nullability.either(left.nullability, right.nullability)
    // By canonical equivalence and by scalar values, as Swift orders strings.
    let collation: SQLFragment
    switch left.encoding {
    case .text: collation = " COLLATE stead_canonical"
    case .decimal: collation = " COLLATE stead_decimal"
    case .integer, .unsigned64, .real, .date, .uuid, .boolean: collation = ""
    default: throw NotTranslatable("an order of values that SQL cannot order")
    }
    if left.isNotANumber(leftTerm) || right.isNotANumber(rightTerm) {
      return valued(.no, left, right)
    }
    var sql: SQLFragment = "\(left.sql) \(SQLFragment(sql: op.rawValue)) \(right.sql)\(collation)"
    // Only the greater side can be NaN in a comparison that SQLite finds true.
    let (greater, greaterTerm) = op.greaterSideIsLeft ? (left, leftTerm) : (right, rightTerm)
    if greater.mayBeNotANumber(greaterTerm) {
      // NaN is stored as text, which SQLite orders after every number.
      sql = "(\(sql) AND \(greater.sql) <= 9e999)"
    }
    return .boolean(sql, nullability, strict: left.strict | right.strict)
  }

  /// Throws for a type whose values are ordered differently from their columns: its own `<` decides in Swift, and the
  /// column's in SQL.
  func checkOrder<T>(of type: T.Type) throws {
    // The commonest types first: a cast to a protocol costs more than the rest of a comparison.
    if type == Int.self || type == String.self || type == Date.self || type == Double.self {
      return
    }
    if type is any SQLConstant.Type, type != PersistentIdentifier.self { return }
    // A struct or enum may define `<` in any way. Only an enum that lists its cases can be compared
    // with its column.
    guard let cases = type as? any CaseIterable.Type, Self.isOrderedByRawValue(cases) else {
      throw NotTranslatable("an order of \(type), which defines a different order")
    }
  }

  /// The same for a type that is not known to the compiler.
  func checkOrder(ofAny type: any Any.Type) throws {
    func open<T>(_ type: T.Type) throws { try checkOrder(of: type) }
    try _openExistential(type, do: open)
  }

  /// Whether an enum is ordered like its raw values, which comparing all of its cases shows. The answer is kept for
  /// each type.
  ///
  /// Costs n² comparisons of n cases, once in a process.
  static func isOrderedByRawValue<C: CaseIterable>(_ type: C.Type) -> Bool {
    RawOrder.known.value(for: ObjectIdentifier(type)) {
      let cases = Array(type.allCases)
      guard let comparable = cases as? any RawOrderChecking else { return false }
      return comparable.isOrderedByRawValue
    }
  }
}

/// The answers of ``PredicateTranslation/isOrderedByRawValue(_:)``, by type.
private enum RawOrder {
  static let known = TypeCache<Bool>()
}

/// Gives code that holds an array of some type the comparison that only a constrained extension can make.
private protocol RawOrderChecking {
  /// Whether `<` of each two elements is that of their raw values.
  var isOrderedByRawValue: Bool { get }
}

extension Array: RawOrderChecking where Element: RawRepresentable & Comparable {
  fileprivate var isOrderedByRawValue: Bool {
    if Element.RawValue.self == String.self {
      return allSatisfy { one in
        allSatisfy { other in
          guard let left = one.rawValue as? String, let right = other.rawValue as? String else {
            return false
          }
          return (one < other) == (left < right)
        }
      }
    }
    return allSatisfy { one in
      allSatisfy { other in
        guard let left = Self.number(one), let right = Self.number(other) else { return false }
        return (one < other) == (left < right)
      }
    }
  }

  /// The raw value as an integer; nil if it is none that `Int` holds.
  private static func number(_ element: Element) -> Int? {
    (element.rawValue as? any BinaryInteger).flatMap { Int(exactly: $0) }
  }
}

/// A comparison operator of SQL.
enum OrderOperator: String {
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="

  /// The operator that a node of Foundation has.
  init(_ op: PredicateExpressions.ComparisonOperator) {
    switch op {
    case .lessThan: self = .less
    case .lessThanOrEqual: self = .lessOrEqual
    case .greaterThan: self = .greater
    case .greaterThanOrEqual: self = .greaterOrEqual
    }
  }

  /// Whether the left operand is the greater one if the comparison is true.
  var greaterSideIsLeft: Bool { self == .greater || self == .greaterOrEqual }
}
