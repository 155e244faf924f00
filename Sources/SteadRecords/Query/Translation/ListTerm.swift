import Foundation
import SteadSQLite

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
