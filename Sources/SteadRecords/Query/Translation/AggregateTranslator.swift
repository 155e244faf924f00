import Foundation
import SteadSQLite

/// What is computed over many objects.
enum AggregateFunction {
  case count, sum, average, minimum, maximum, values
}

/// Turns aggregates into SQL.
struct AggregateTranslator {
  private let translation: PredicateTranslation
  private let row: RowTerm

  init(layout: StoreLayout, entity: EntityLayout, store: String?) {
    translation = PredicateTranslation(layout: layout, store: store)
    row = RowTerm(entity: entity, id: "t0.\"_id\"", alias: "t0")
  }

  /// Entities whose rows the key paths reach.
  var relatedEntities: Set<Int> { translation.related }

  /// The value of a key path.
  func scalar(_ keyPath: AnyKeyPath) throws -> Scalar {
    try translation.scalar(try translation.property(keyPath, of: row))
  }

  /// The results of a function over a value; nil if SQL's value would differ from Swift's.
  func results(of function: AggregateFunction, over value: Scalar) -> [SQLFragment]? {
    let sql = value.operand
    switch (function, value.encoding) {
    case (.count, _): return ["count(*)"]
    case (.values, _): return [sql]
    case (.sum, .integer): return ["sum(\(sql))", "0"]
    case (.sum, .real): return ["sum(\(sql))", Self.notNumbers(sql)]
    case (.average, .integer): return ["total(\(sql))", "count(\(sql))", "0"]
    case (.average, .real): return ["total(\(sql))", "count(\(sql))", Self.notNumbers(sql)]
    case (.sum, _), (.average, _): return nil
    case (.minimum, let encoding): return Self.extreme("min", sql, encoding)
    case (.maximum, let encoding): return Self.extreme("max", sql, encoding)
    }
  }

  /// How many of the values are not a number, which SQLite's sum would take for zero.
  private static func notNumbers(_ sql: SQLFragment) -> SQLFragment {
    "coalesce(sum(typeof(\(sql)) = 'text'), 0)"
  }

  private static func extreme(
    _ function: String, _ sql: SQLFragment, _ encoding: ColumnEncoding
  ) -> [SQLFragment]? {
    let name = SQLFragment(sql: function)
    switch encoding {
    case .integer, .unsigned64, .uuid, .boolean: return ["\(name)(\(sql))"]
    // NaN is stored as text, which SQLite orders after every number.
    case .real, .date: return ["\(name)(CASE WHEN \(sql) <= 9e999 THEN \(sql) END)"]
    case .text: return ["\(name)(\(sql) COLLATE stead_canonical)"]
    case .decimal: return ["\(name)(\(sql) COLLATE stead_decimal)"]
    default: return nil
    }
  }
}
