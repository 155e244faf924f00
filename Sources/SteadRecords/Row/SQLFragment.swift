/// A piece of SQL with the values of its parameters.
///
/// ```swift
/// let fragment: SQLFragment = "\(column) < \(SQLValue.integer(5))"
/// ```
///
/// A value becomes a parameter, never part of the text, so that the text stays the same and its
/// statement prepared. Names go in as ``SQLName``, which quotes them.
struct SQLFragment: ExpressibleByStringInterpolation, Hashable, Sendable {
  var sql: String
  var bindings: [SQLValue]

  init(sql: String, bindings: [SQLValue] = []) {
    self.sql = sql
    self.bindings = bindings
  }

  init(stringLiteral value: String) { self.init(sql: value) }

  init(stringInterpolation: StringInterpolation) {
    self.init(sql: stringInterpolation.sql, bindings: stringInterpolation.bindings)
  }

  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var sql = ""
    fileprivate var bindings: [SQLValue] = []

    init(literalCapacity: Int, interpolationCount: Int) {
      sql.reserveCapacity(literalCapacity + interpolationCount * 16)
    }

    mutating func appendLiteral(_ literal: String) { sql += literal }

    mutating func appendInterpolation(_ fragment: SQLFragment) {
      sql += fragment.sql
      if !fragment.bindings.isEmpty { bindings += fragment.bindings }
    }

    mutating func appendInterpolation(_ name: SQLName) { sql += name.sql }

    mutating func appendInterpolation(_ value: SQLValue) {
      sql += "?"
      bindings.append(value)
    }

    /// A small number that belongs to the statement's form, such as a discriminator.
    mutating func appendInterpolation(form number: Int) { sql += String(number) }
  }

  static func + (left: SQLFragment, right: SQLFragment) -> SQLFragment { "\(left)\(right)" }

  /// Fragments with a separator between them.
  static func joined(_ fragments: [SQLFragment], by separator: String) -> SQLFragment {
    var result = SQLFragment(sql: "")
    for (index, fragment) in fragments.enumerated() {
      if index > 0 { result.sql += separator }
      result.sql += fragment.sql
      result.bindings += fragment.bindings
    }
    return result
  }

  static let yes: SQLFragment = "1"
  static let no: SQLFragment = "0"
}

/// The name of a table, a column or an alias.
struct SQLName: Hashable, Sendable {
  /// The name as it stands in SQL.
  let sql: String

  /// An identifier, quoted.
  init(_ name: String) { sql = quoted(name) }

  /// A column of a table's alias.
  init(_ alias: String, _ column: String) { sql = "\(alias).\(quoted(column))" }

  /// A name that the translation made, such as `t0`.
  init(alias: String) { sql = alias }
}

extension SQLFragment {
  /// Groups a SELECT's rows by its first columns.
  static func grouping(byFirst count: Int) -> String {
    count == 0 ? "" : " GROUP BY \((1...count).map(String.init).joined(separator: ", "))"
  }

  /// The number of rows that a SELECT gives.
  var counted: SQLFragment { "SELECT count(*) FROM (\(self))" }
}
