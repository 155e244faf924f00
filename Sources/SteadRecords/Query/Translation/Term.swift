import Foundation
import SteadSQLite

/// What an expression of a predicate comes to in SQL.
enum Term {
  /// One value.
  case scalar(Scalar)
  /// A value known before the query runs.
  case constant(Constant)
  /// An object, or nil.
  case row(RowTerm)
  /// The objects of a to-many relationship.
  case rows(RowsTerm)
  /// The elements of an array, of a column or known before the query runs.
  case list(ListTerm)
  /// A struct whose column has separate fields.
  case composite(CompositeTerm)
  /// A range made of two expressions.
  indirect case range(lower: Term, upper: Term, isClosed: Bool)
}

/// A Codable struct in a JSON column.
struct CompositeTerm {
  let json: SQLFragment
  let type: any Any.Type
  /// The prefix of the generated columns of the struct's fields, if there are any.
  let columnPrefix: (alias: String, name: String)?
  var nullability = Nullability.never
  var strict: StrictVariables = 0
}

extension Term {
  static func boolean(
    _ sql: SQLFragment, _ nullability: Nullability = .never, strict: StrictVariables = 0
  ) -> Term {
    .scalar(Scalar(sql: sql, encoding: .boolean, nullability: nullability, strict: strict))
  }
}

// MARK: - Values

/// One SQL value.
struct Scalar {
  var sql: SQLFragment
  var encoding: ColumnEncoding
  var nullability = Nullability.never
  var strict: StrictVariables = 0
  /// Whether the SQL is a plain column, so that an index can be used.
  var isColumn = false
  /// The related object's column, if the value comes from one.
  var lookup: Lookup?

  /// A column of the row that a foreign key of the query's own row leads to.
  struct Lookup {
    let key: SQLFragment
    let table: SQLName
    let column: SQLName
  }

  /// The SQL as an operand: a condition needs parentheses, all other forms hold together.
  var operand: SQLFragment { encoding == .boolean && !isColumn ? "(\(sql))" : sql }
}

// MARK: - Objects

/// An object's row.
struct RowTerm {
  let entity: EntityLayout
  /// The row's number.
  var id: SQLFragment
  /// The table's alias where the columns can be read directly.
  var alias: String?
  /// The condition under which the row exists after a cast to a subclass.
  var condition: SQLFragment?
  var nullability = Nullability.never
  var strict: StrictVariables = 0
  var isColumn = false
  /// Whether the number comes from a foreign key, so that the row may be gone.
  var isReference = false
  /// The SQL that is true unless Swift traps on the way: what was unwrapped, or cast by `as!`, is an object. Nil if
  /// nothing was. It is never NULL.
  var premise: SQLFragment?
}

/// The rows of a to-many relationship, or some of them.
struct RowsTerm {
  let entity: EntityLayout
  let alias: String
  /// Tables and aliases, the SQL after FROM.
  let source: SQLFragment
  var condition: SQLFragment
  /// The terms after ORDER BY for the relationship's order.
  let order: SQLFragment
  /// The SQL that is true if the relationship's owner exists; nil if it always does.
  var presence: SQLFragment?
}

// MARK: - Arrays

/// An array of values.
struct ListTerm {
  /// JSON.
  var json: SQLFragment
  let element: ColumnEncoding
  let elementIsOptional: Bool
  let form: Form
  var nullability = Nullability.never
  var strict: StrictVariables = 0
  /// The alias of `json_each` and the conditions of a filter over it.
  var alias: String
  var condition: SQLFragment?
  /// Whether strings with NUL are in arrays of their own.
  var wrapsNUL = false

  /// The array as one value, whatever its filter.
  var value: Scalar {
    Scalar(sql: json, encoding: .opaque, nullability: nullability, strict: strict)
  }

  enum Form {
    /// As Codable wrote it into a column.
    case codable
    /// As ``ListParameter`` wrote it into a parameter.
    case parameter
  }
}

// MARK: - NULL

/// Whether the SQL of a term can be NULL, and what that stands for.
enum Nullability {
  case never
  /// NULL is nil.
  case optional
  /// NULL means no value: Swift throws or traps there. It spreads through every operator, so that the row matches
  /// neither a condition nor its negation.
  case undefined

  var mayBeNull: Bool { self != .never }

  static func either(_ left: Nullability, _ right: Nullability) -> Nullability {
    left == .never && right == .never ? .never : .undefined
  }
}

/// The variables by which a term is NULL when they are.
///
/// Bit n stands for the n-th variable that an optional chain has bound; past 64 a chain is only
/// translated less tightly.
typealias StrictVariables = UInt64
