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
  /// A struct with fields of its own in a column.
  case composite(CompositeTerm)
  /// A range made of two expressions.
  indirect case range(lower: Term, upper: Term, isClosed: Bool)
}

/// Whether the SQL of a term can be NULL, and what that stands for.
enum Nullability {
  case never
  /// NULL is nil.
  case optional
  /// NULL is no value: Swift throws or traps there. It spreads through every operator, so that the
  /// row matches neither a condition nor its negation.
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

/// An object's row.
struct RowTerm {
  let entity: EntityLayout
  /// The row's number.
  var id: SQLFragment
  /// The table's alias where the columns can be read directly.
  var alias: String?
  /// What must be true of the row for it to be there, after a cast to a subclass.
  var condition: SQLFragment?
  var nullability = Nullability.never
  var strict: StrictVariables = 0
  var isColumn = false
}

/// The rows of a to-many relationship, or some of them.
struct RowsTerm {
  let entity: EntityLayout
  let alias: String
  /// Tables and aliases, the text after FROM.
  let source: SQLFragment
  var condition: SQLFragment
  /// Terms after ORDER BY that give the relationship's order.
  let order: SQLFragment
  /// What is true when the relationship's owner is there; nil when it always is.
  var presence: SQLFragment?
}

/// A Codable struct in a JSON column.
struct CompositeTerm {
  let json: SQLFragment
  let type: any Any.Type
  /// The generated columns of the struct's fields start with this, where there are any.
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
