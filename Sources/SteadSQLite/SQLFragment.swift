/// A piece of SQL with the values of its parameters.
///
/// ```swift
/// let fragment: SQLFragment = "\(column) < \(SQLValue.integer(5))"
/// ```
///
/// A value becomes a parameter, never part of the SQL, so that the SQL stays the same and its statement stays
/// prepared. Names are inserted as ``SQLName``, which quotes them.
package struct SQLFragment: ExpressibleByStringInterpolation, Hashable, Sendable {
  package var sql: String
  package var bindings: [SQLValue]

  package init(sql: String, bindings: [SQLValue] = []) {
    self.sql = sql
    self.bindings = bindings
  }

  package init(stringLiteral value: String) { self.init(sql: value) }

  package init(stringInterpolation: StringInterpolation) {
    self.init(sql: stringInterpolation.sql, bindings: stringInterpolation.bindings)
  }

  package struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var sql = ""
    fileprivate var bindings: [SQLValue] = []

    package init(literalCapacity: Int, interpolationCount: Int) {
      sql.reserveCapacity(literalCapacity + interpolationCount * 16)
    }

    package mutating func appendLiteral(_ literal: String) { sql += literal }

    package mutating func appendInterpolation(_ fragment: SQLFragment) {
      sql += fragment.sql
      if !fragment.bindings.isEmpty { bindings += fragment.bindings }
    }

    package mutating func appendInterpolation(_ name: SQLName) { sql += name.sql }

    package mutating func appendInterpolation(_ value: SQLValue) {
      sql += "?"
      bindings.append(value)
    }

    /// Inserts a small number that belongs to the statement's form, such as a discriminator.
    package mutating func appendInterpolation(form number: Int) { sql += String(number) }
  }

  package static func + (left: SQLFragment, right: SQLFragment) -> SQLFragment { "\(left)\(right)" }

  /// Joins fragments with a separator.
  package static func joined(_ fragments: [SQLFragment], by separator: String) -> SQLFragment {
    var result = SQLFragment(sql: "")
    for (index, fragment) in fragments.enumerated() {
      if index > 0 { result.sql += separator }
      result.sql += fragment.sql
      result.bindings += fragment.bindings
    }
    return result
  }

  package static let yes: SQLFragment = "1"
  package static let no: SQLFragment = "0"
}

extension SQLFragment {
  /// Groups a SELECT's rows by its first columns.
  package static func grouping(byFirst count: Int) -> String {
    count == 0 ? "" : " GROUP BY \((1...count).map(String.init).joined(separator: ", "))"
  }

  /// A SELECT that counts the rows of this one.
  package var counted: SQLFragment { "SELECT count(*) FROM (\(self))" }
}
