import Foundation
import SteadSQLite

extension PredicateTranslation {
  /// The term of a field of a struct in a column.
  func field(_ keyPath: AnyKeyPath, of composite: CompositeTerm) throws -> Term {
    let fields = CompositeFields.of(composite.type)
    guard let offset = Self.offset(of: keyPath, in: composite.type),
      let field = fields.first(where: {
        $0.offset == offset && $0.type == Swift.type(of: keyPath).valueType
      })
    else { throw NotTranslatable("\(keyPath) isn't a stored field of \(composite.type)") }
    let shape = PropertyShape(field.type)
    let path = Self.path(of: field.name)
    let nullability: Nullability =
      shape.isOptional ? .optional : composite.nullability == .never ? .never : .undefined
    let value: SQLFragment = "json_extract(\(composite.json), \(path))"
    let column = composite.columnPrefix.map {
      SQLFragment(sql: SQLName($0.alias, "\($0.name)_\(field.name)").sql)
    }
    let sql: SQLFragment
    switch shape.encoding {
    case .boolean, .integer, .url: sql = column ?? value
    // SQLite cuts a string off at NUL, which JSON has as an escape.
    case .text:
      let json = composite.json
      sql =
        "CASE WHEN instr(\(json), '\\u0000') > 0 THEN stead_unwrapped(\(json) -> \(path)) ELSE \(column ?? value) END"
    // SQLite may parse a decimal fraction with an error in the last bit.
    case .real, .date: sql = "stead_real(\(composite.json) -> \(path))"
    case .uuid: sql = "stead_uuid(\(value))"
    case .composite:
      return .composite(
        CompositeTerm(
          json: value, type: shape.wrapped, columnPrefix: nil, nullability: nullability,
          strict: composite.strict))
    case .json: return try list(field.type, json: value, nullability, strict: composite.strict)
    default: throw NotTranslatable("\(keyPath), which is stored in a special form")
    }
    return .scalar(
      Scalar(
        sql: sql, encoding: shape.encoding, nullability: nullability, strict: composite.strict,
        isColumn: column != nil && [.boolean, .integer, .url].contains(shape.encoding)))
  }

  /// A JSON path to a field, as written in SQL.
  private static func path(of field: String) -> SQLFragment {
    SQLFragment(sql: "'$.\"\(field)\"'")
  }

  private static func offset(of keyPath: AnyKeyPath, in type: any Any.Type) -> Int? {
    func open<T>(_ type: T.Type) -> Int? {
      (keyPath as? PartialKeyPath<T>).flatMap { MemoryLayout<T>.offset(of: $0) }
    }
    return _openExistential(type, do: open)
  }
}
