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
