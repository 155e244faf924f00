import Foundation
import SteadSQLite

/// The SQL of one expression of a predicate, with what its user has to know of it.
///
/// Translation runs over a predicate from the leaves to the root: each node makes its term of its operands' terms.
/// What is not a single SQL value, such as a relationship or an array, stays structured until an operator asks for
/// something that SQL can return.
///
/// A term is made once, and never executed by itself: operators build their SQL around it.
enum Term {
  /// A single SQL value.
  case scalar(Scalar)
  /// A value that is known when the query is prepared. It becomes a bound parameter where it is used.
  case constant(Constant)
  /// A model object, or nil: the value of a variable, of a to-one relationship or of a cast.
  case row(RowTerm)
  /// The members of a to-many relationship, perhaps filtered.
  case rows(RowsTerm)
  /// The elements of an array: of a JSON column, or of a captured collection.
  case list(ListTerm)
  /// A Codable struct, whose fields are read out of its JSON column.
  case composite(CompositeTerm)
  /// A range whose bounds are expressions of the predicate. A captured range is a constant.
  indirect case range(lower: Term, upper: Term, isClosed: Bool)
}

/// A Codable struct in a JSON column, before one of its fields is read.
///
/// It is a value only as a whole: it can be tested for nil, and its fields can be read.
struct CompositeTerm {
  /// The SQL of the JSON object.
  let json: SQLFragment
  /// The struct, without its optional.
  let type: any Any.Type
  /// The table's alias and the prefix of the generated columns, which hold the fields that an index can use. Nil
  /// where the row is not read under an alias.
  let columnPrefix: (alias: String, name: String)?
  var nullability = Nullability.never
  var strict: StrictVariables = 0
}

extension Term {
  /// A Boolean value.
  static func boolean(
    _ sql: SQLFragment, _ nullability: Nullability = .never, strict: StrictVariables = 0
  ) -> Term {
    .scalar(Scalar(sql: sql, encoding: .boolean, nullability: nullability, strict: strict))
  }
}

// MARK: - Values

/// A single SQL value, with the encoding of the column that it is compared as.
///
/// The encoding decides the form of a comparison: its collation, the test for NaN, and whether a
/// value of another type can be compared at all.
struct Scalar {
  /// The value, as written in an expression.
  var sql: SQLFragment
  /// The encoding of the column that the value is from, or could be compared with.
  var encoding: ColumnEncoding
  var nullability = Nullability.never
  var strict: StrictVariables = 0
  /// Whether the SQL is a plain column, so that a comparison with it can use an index.
  var isColumn = false
  /// The column of a related object that the value was read from, if it was read over a foreign key of the query's
  /// own row. Equality with a constant is then written as a subquery, which can use indexes of both tables.
  var lookup: Lookup?

  /// A column of the row that a foreign key of the query's own row refers to.
  struct Lookup {
    /// The foreign key, a column of the query's own row.
    let key: SQLFragment
    /// The table that the key refers to.
    let table: SQLName
    /// The column of that table, under the alias `r`.
    let column: SQLName
  }

  /// The SQL as an operand: a condition needs parentheses, all other forms hold together.
  var operand: SQLFragment { encoding == .boolean && !isColumn ? "(\(sql))" : sql }
}

// MARK: - Objects

/// The row of one object.
///
/// Three different things can be wrong with a row, and each has its property: the foreign key may be NULL
/// (``nullability``), the row that it refers to may be gone (``isReference``), or Swift may trap on the way to the
/// object (``premise``). A term that ignores one of them matches rows that memory would not.
struct RowTerm {
  /// The class that the row is known to be of. Its own may be a subclass.
  let entity: EntityLayout
  /// The SQL of the row's primary key.
  var id: SQLFragment
  /// The alias under which the row's table is in a FROM clause. Nil for a row that is reached by its key alone: its
  /// columns are then read by subqueries.
  var alias: String?
  /// The condition under which the row counts as present, such as its class after `as?`. Nil if it always does.
  var condition: SQLFragment?
  var nullability = Nullability.never
  var strict: StrictVariables = 0
  /// Whether ``id`` is a plain foreign-key column of the query's own row.
  var isColumn = false
  /// Whether ``id`` is a foreign key, so that the row may have been deleted. In memory such a reference reads as nil.
  var isReference = false
  /// The condition under which Swift reaches the object without a trap: what was unwrapped by `!` or cast by `as!` is
  /// an object. It is never NULL itself. Nil if nothing can trap.
  var premise: SQLFragment?
}

/// The rows of a to-many relationship, or those of them that pass a filter.
///
/// It has no SQL of its own. `count`, `isEmpty`, `first` and the closures each make a subquery of
/// its parts.
struct RowsTerm {
  /// The class of the members.
  let entity: EntityLayout
  /// The alias of the members' table in ``source``.
  let alias: String
  /// The tables and aliases, as written after FROM.
  let source: SQLFragment
  /// What joins the rows to their owner, and the filters, as written after WHERE.
  var condition: SQLFragment
  /// The relationship's own order, as written after ORDER BY.
  let order: SQLFragment
  /// The condition under which the owner exists; nil if it always does. A test of the members is NULL without an
  /// owner, not false: its negation must not match either.
  var presence: SQLFragment?
}

// MARK: - Arrays

/// The elements of an array, which SQL reads with `json_each`.
struct ListTerm {
  /// The SQL of the JSON array.
  var json: SQLFragment
  /// The encoding by which an element is compared.
  let element: ColumnEncoding
  /// Whether the array may have nil as an element.
  let elementIsOptional: Bool
  /// Whether the elements are `Float` (``PropertyShape/isSinglePrecision``).
  var isSinglePrecision = false
  let form: Form
  var nullability = Nullability.never
  var strict: StrictVariables = 0
  /// The alias of `json_each`.
  var alias: String
  /// The condition of a filter over the elements, as written after WHERE.
  var condition: SQLFragment?
  /// Whether a string with NUL is in an array of its own. SQLite's JSON functions would cut it off at the NUL.
  var wrapsNUL = false

  /// The array as a whole, whatever its filter: it carries whether the array can be NULL.
  var value: Scalar {
    Scalar(sql: json, encoding: .opaque, nullability: nullability, strict: strict)
  }

  /// Who wrote the JSON: the two write decimal fractions, dates and data differently.
  enum Form {
    /// As `Codable` wrote it into a column.
    case codable
    /// As ``ListParameter`` writes a captured collection into a parameter.
    case parameter
  }
}

// MARK: - NULL

/// Whether a term can be NULL, and what the NULL means.
///
/// SQL has one NULL where Swift has two things, nil and a trap. Operators keep them apart: nil is a value that equals
/// nil and differs from all others, while a trap excludes the row from a condition *and* from the condition's
/// negation.
enum Nullability {
  /// The SQL is never NULL.
  case never
  /// NULL is nil.
  case optional
  /// NULL means that there is no value, since Swift would throw or trap there. NULL spreads through every SQL
  /// operator, so the row matches neither a condition nor its negation.
  case undefined

  /// Whether the SQL can be NULL at all, for whatever reason.
  var mayBeNull: Bool { self != .never }

  /// The nullability of an operator that is NULL if one of its operands is. Nil does not survive an operator.
  static func either(_ left: Nullability, _ right: Nullability) -> Nullability {
    // Also for two optionals: Swift does not compile an operator on an optional, so what was nil
    // there has been unwrapped.
    left == .never && right == .never ? .never : .undefined
  }
}

/// A set of variables of optional chains, one bit each: the term is NULL whenever one of these variables is NULL.
///
/// A chain needs `CASE WHEN variable IS NOT NULL THEN … END` around its result only if the result is not strict in
/// its variable. That keeps `$0.project?.name == name` a plain comparison, which an index can serve. Chains after the
/// 64th get the CASE always.
typealias StrictVariables = UInt64
