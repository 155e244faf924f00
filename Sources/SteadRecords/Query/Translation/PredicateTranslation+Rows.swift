import Foundation
import SteadSQLite

extension PredicateTranslation {
  /// A Boolean about rows, which has no value if their owner does not exist.
  private func guarded(
    _ value: SQLFragment, _ encoding: ColumnEncoding, by presence: SQLFragment?
  ) -> Term {
    guard let presence else { return .scalar(Scalar(sql: value, encoding: encoding)) }
    return .scalar(
      Scalar(
        sql: "CASE WHEN \(presence) THEN \(value) END", encoding: encoding,
        nullability: .undefined))
  }

  func exists(_ rows: RowsTerm, where condition: SQLFragment? = nil) -> Term {
    let test: SQLFragment = condition.map { " AND \($0)" } ?? ""
    return guarded(
      "EXISTS (SELECT 1 FROM \(rows.source) WHERE \(rows.condition)\(test))", .boolean,
      by: rows.presence)
  }

  func isEmpty(_ rows: RowsTerm) -> Term {
    guarded(
      "NOT EXISTS (SELECT 1 FROM \(rows.source) WHERE \(rows.condition))", .boolean,
      by: rows.presence)
  }

  func allSatisfy(_ rows: RowsTerm, _ condition: SQLFragment) -> Term {
    guarded(
      "NOT EXISTS (SELECT 1 FROM \(rows.source) WHERE \(rows.condition) "
        + "AND (\(condition)) IS NOT 1)",
      .boolean, by: rows.presence)
  }

  func count(of rows: RowsTerm) -> Term {
    guarded(
      "(SELECT count(*) FROM \(rows.source) WHERE \(rows.condition))", .integer, by: rows.presence)
  }

  func first(of rows: RowsTerm) -> Term {
    .row(
      RowTerm(
        entity: rows.entity,
        id: "(SELECT \(SQLName(rows.alias, "_id")) FROM \(rows.source) "
          + "WHERE \(rows.condition) ORDER BY \(rows.order) LIMIT 1)",
        nullability: .optional))
  }

  // MARK: Arrays

  func isEmpty(_ list: ListTerm) -> Term {
    if list.condition != nil {
      return valued("NOT EXISTS (SELECT 1 FROM \(source(of: list)))", list.value)
    }
    return .boolean(
      "json_array_length(\(list.json)) = 0", list.nullability == .never ? .never : .undefined,
      strict: list.strict)
  }

  func count(of list: ListTerm) -> Term {
    guard list.condition != nil else {
      return .scalar(
        Scalar(
          sql: "json_array_length(\(list.json))", encoding: .integer,
          nullability: list.nullability == .never ? .never : .undefined, strict: list.strict))
    }
    let count: SQLFragment = "(SELECT count(*) FROM \(source(of: list)))"
    guard list.nullability == .undefined else {
      return .scalar(Scalar(sql: count, encoding: .integer))
    }
    return .scalar(
      Scalar(
        sql: "CASE WHEN \(list.json) IS NOT NULL THEN \(count) END", encoding: .integer,
        nullability: .undefined, strict: list.strict))
  }

  /// The SQL after FROM that returns an array's elements.
  func source(of list: ListTerm, where condition: SQLFragment? = nil) -> SQLFragment {
    let conditions = [list.condition, condition].compactMap { $0 }
    let wraps = list.wrapsNUL && list.form == .codable
    let json: SQLFragment = wraps ? "stead_wrapped(\(list.json))" : list.json
    let table: SQLFragment = "json_each(\(json)) AS \(SQLName(alias: list.alias))"
    if conditions.isEmpty { return table }
    return "\(table) WHERE \(SQLFragment.joined(conditions, by: " AND "))"
  }

  /// The first or last element of an array.
  func element(of list: ListTerm, descending: Bool) -> Term {
    let order: SQLFragment = descending ? " DESC" : ""
    return single(of: list, order: "\(SQLName(list.alias, "id"))\(order)", nullability: .optional)
  }

  func single(
    of list: ListTerm, where condition: SQLFragment? = nil, order: SQLFragment,
    nullability: Nullability
  ) -> Term {
    guard case .scalar(let element) = try? element(of: list) else {
      return .constant(.other(NotTranslatable("an element of an array of structs")))
    }
    return .scalar(
      Scalar(
        sql: "(SELECT \(element.sql) FROM \(source(of: list, where: condition)) "
          + "ORDER BY \(order) LIMIT 1)",
        encoding: list.element, nullability: nullability))
  }

  /// The term that a variable over an array's elements stands for.
  func element(of list: ListTerm) throws -> Term {
    let value = SQLFragment(sql: SQLName(list.alias, "value").sql)
    let sql: SQLFragment
    switch (list.element, list.form) {
    case (.text, _) where list.wrapsNUL:
      sql =
        "CASE \(SQLName(list.alias, "type")) WHEN 'array' THEN stead_unwrapped(\(value)) ELSE \(value) END"
    case (.boolean, _), (.integer, _), (.text, _), (.url, _): sql = value
    case (.unsigned64, .parameter), (.decimal, .parameter): sql = value
    // SQLite may parse a decimal fraction with an error in the last bit.
    case (.real, .codable), (.date, .codable):
      sql = "stead_real(\(list.json) -> \(SQLName(list.alias, "fullkey")))"
    case (.real, .parameter), (.date, .parameter): sql = "stead_double(\(value))"
    case (.uuid, .codable): sql = "stead_uuid(\(value))"
    case (.uuid, .parameter), (.data, .parameter): sql = "stead_blob(\(value))"
    default: throw NotTranslatable("the elements of an array of structs")
    }
    return .scalar(
      Scalar(
        sql: sql, encoding: list.element,
        nullability: list.elementIsOptional ? .optional : .never))
  }

  /// An array property.
  func list(
    _ type: any Any.Type, json: SQLFragment, _ nullability: Nullability, strict: StrictVariables
  ) throws -> Term {
    guard let collection = PropertyShape(type).wrapped as? any ListType.Type else {
      throw NotTranslatable("a value of type \(type), which is stored as JSON")
    }
    let element = PropertyShape(collection.elementType)
    return .list(
      ListTerm(
        json: json, element: element.encoding, elementIsOptional: element.isOptional,
        form: .codable, nullability: nullability, strict: strict, alias: newAlias(),
        wrapsNUL: element.encoding == .text))
  }
}

/// Collections that Codable writes as a JSON array.
private protocol ListType {
  static var elementType: any Any.Type { get }
}
extension Array: ListType {
  fileprivate static var elementType: any Any.Type { Element.self }
}
extension Set: ListType {
  fileprivate static var elementType: any Any.Type { Element.self }
}
extension ContiguousArray: ListType {
  fileprivate static var elementType: any Any.Type { Element.self }
}
