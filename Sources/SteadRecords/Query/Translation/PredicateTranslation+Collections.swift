import Foundation
import SteadSQLite

extension PredicateTranslation {
  /// A value about the members of a relationship, which is NULL without an owner.
  private func guarded(
    _ value: SQLFragment, _ encoding: ColumnEncoding, by presence: SQLFragment?
  ) -> Term {
    guard let presence else { return .scalar(Scalar(sql: value, encoding: encoding)) }
    return .scalar(
      Scalar(
        sql: "CASE WHEN \(presence) THEN \(value) END", encoding: encoding,
        nullability: .undefined))
  }

  /// Whether there are members, or members that meet a condition.
  func exists(_ rows: RowsTerm, where condition: SQLFragment? = nil) -> Term {
    // EXISTS stops at the first row, where a count would read all.
    let test: SQLFragment = condition.map { " AND \($0)" } ?? ""
    return guarded(
      "EXISTS (SELECT 1 FROM \(rows.source) WHERE \(rows.condition)\(test))", .boolean,
      by: rows.presence)
  }

  /// Whether there are no members.
  func isEmpty(_ rows: RowsTerm) -> Term {
    guarded(
      "NOT EXISTS (SELECT 1 FROM \(rows.source) WHERE \(rows.condition))", .boolean,
      by: rows.presence)
  }

  /// Whether all members meet a condition. A member for which it is NULL does not.
  func allSatisfy(_ rows: RowsTerm, _ condition: SQLFragment) -> Term {
    guarded(
      "NOT EXISTS (SELECT 1 FROM \(rows.source) WHERE \(rows.condition) "
        + "AND (\(condition)) IS NOT 1)",
      .boolean, by: rows.presence)
  }

  /// The number of members.
  func count(of rows: RowsTerm) -> Term {
    guarded(
      "(SELECT count(*) FROM \(rows.source) WHERE \(rows.condition))", .integer, by: rows.presence)
  }

  /// The first member in the relationship's order, as an optional object.
  ///
  /// An owner that is nil has no members, so that the subquery is NULL by itself.
  func first(of rows: RowsTerm) -> Term {
    .row(
      RowTerm(
        entity: rows.entity,
        id: "(SELECT \(SQLName(rows.alias, "_id")) FROM \(rows.source) "
          + "WHERE \(rows.condition) ORDER BY \(rows.order) LIMIT 1)",
        nullability: .optional))
  }

  // MARK: - Arrays

  /// Whether there are no elements. Without a filter JSON's own length answers that, without reading the elements.
  func isEmpty(_ list: ListTerm) -> Term {
    // A filtered array has to be read; JSON's length is that of all elements.
    if list.condition != nil {
      return valued("NOT EXISTS (SELECT 1 FROM \(source(of: list)))", list.value)
    }
    return .boolean(
      "json_array_length(\(list.json)) = 0", list.nullability == .never ? .never : .undefined,
      strict: list.strict)
  }

  /// The number of elements.
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

  /// The SQL after FROM that yields an array's elements, those alone that pass the list's filter and a condition.
  func source(of list: ListTerm, where condition: SQLFragment? = nil) -> SQLFragment {
    let conditions = [list.condition, condition].compactMap { $0 }
    // A parameter was written with its wrapped strings. A column is as Codable wrote it, and is
    // converted here.
    let wraps = list.wrapsNUL && list.form == .codable
    let json: SQLFragment = wraps ? "stead_wrapped(\(list.json))" : list.json
    let table: SQLFragment = "json_each(\(json)) AS \(SQLName(alias: list.alias))"
    if conditions.isEmpty { return table }
    return "\(table) WHERE \(SQLFragment.joined(conditions, by: " AND "))"
  }

  /// The first or the last element; nil in an empty array.
  func element(of list: ListTerm, descending: Bool) -> Term {
    let order: SQLFragment = descending ? " DESC" : ""
    return single(of: list, order: "\(SQLName(list.alias, "id"))\(order)", nullability: .optional)
  }

  /// One element of an array: the first one in an order, of those that meet a condition.
  func single(
    of list: ListTerm, where condition: SQLFragment? = nil, order: SQLFragment,
    nullability: Nullability
  ) -> Term {
    // Whatever uses this term throws, since it is no value.
    guard case .scalar(let element) = try? element(of: list) else {
      return .constant(.other(NotTranslatable("an element of an array of structs")))
    }
    return .scalar(
      Scalar(
        sql: "(SELECT \(element.sql) FROM \(source(of: list, where: condition)) "
          + "ORDER BY \(order) LIMIT 1)",
        encoding: list.element, nullability: nullability))
  }

  /// The term of a variable over an array's elements: the SQL that decodes what `json_each` returns into the form of
  /// a column.
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
      let function: SQLFragment = list.isSinglePrecision ? "stead_single" : "stead_real"
      sql = "\(function)(\(list.json) -> \(SQLName(list.alias, "fullkey")))"
    // The parameter has the bits of the number as an integer.
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

  /// The term of an array in a JSON column.
  ///
  /// - Throws: ``NotTranslatable`` for a type that Codable does not write as an array.
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
        isSinglePrecision: element.isSinglePrecision, form: .codable, nullability: nullability,
        strict: strict, alias: newAlias(), wrapsNUL: element.encoding == .text))
  }
}

/// A collection that Codable writes as a JSON array.
private protocol ListType {
  /// The type of the elements, with its optional.
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

// MARK: - Membership

extension PredicateTranslation {
  /// The SQL of `collection.contains(element)` for relationships, arrays, captured collections and strings.
  func contains(_ collection: Term, _ element: Term, _ mode: TranslationMode) throws -> Term {
    switch collection {
    case .constant(.other(let value)):
      return try isElement(element, of: ListParameter(value, in: self), mode)
    case .rows(let rows):
      // The members' own key, so that the test within EXISTS is an equality of two keys.
      let member = try object(self.element(of: rows))
      let test = try scalar(
        exists(rows, where: objectEquality(member, try object(element), false, .condition)))
      return mode.nullIsFalse ? .scalar(test) : valued(test, unwrapping: element)
    case .list(let list):
      // NULL may count as false within EXISTS: an element of which the test is NULL is not the one
      // that is looked for.
      let test = try equality(self.element(of: list), element, isNegated: false, .condition)
      let exists: SQLFragment =
        "EXISTS (SELECT 1 FROM \(source(of: list, where: try scalar(test).sql)))"
      if mode.nullIsFalse { return .boolean(exists) }
      if case .scalar(let element) = element { return valued(exists, list.value, element) }
      return valued(exists, list.value)
    case .scalar, .constant(.scalar):
      let (text, part) = (try scalar(collection), try scalar(element))
      return try textTest("stead_contains", text, part)
    default: throw NotTranslatable("contains on a value that isn't a collection")
    }
  }

  /// A Boolean function of two strings, one of those that this library registers with SQLite.
  func textTest(_ function: String, _ text: Scalar, _ part: Scalar) throws -> Term {
    guard text.encoding == .text, part.encoding == .text else {
      throw NotTranslatable("\(function) of something other than strings")
    }
    return .boolean(
      "\(SQLFragment(sql: function))(\(text.sql), \(part.sql))",
      .either(text.nullability, part.nullability), strict: text.strict | part.strict)
  }

  /// A test of a string's prefix.
  ///
  /// With a constant prefix on a plain column it is preceded by a range, `column >= 'ab' AND column < 'ac'`, which an
  /// index can serve. That needs a prefix whose normal form is its own, and whose last character has a successor that
  /// is one byte long; the function then decides among the rows of the range.
  func prefixTest(
    _ function: String, _ text: Term, _ prefix: Term, _ mode: TranslationMode
  ) throws -> Term {
    let test = try textTest(function, try scalar(text), try scalar(prefix))
    // Only a condition of WHERE can use an index.
    guard mode.nullIsFalse, case .scalar(let column) = text, column.isColumn,
      case .scalar(let value) = test, let start = prefix.constantText, let last = start.utf8.last,
      // Below 0x7E the next character is printable ASCII, and one byte long.
      last < 0x7E, CanonicalSpellings.all(of: start)?.count == 1
    else { return test }
    // The least string that is greater than all strings with the prefix, by SQLite's comparison of bytes.
    let end = String(start.dropLast()) + String(Unicode.Scalar(last + 1))
    guard end.utf8.count == start.utf8.count else { return test }
    return .boolean(
      "(\(column.sql) >= \(SQLValue.text(start)) AND \(column.sql) < \(SQLValue.text(end)) "
        + "AND \(value.sql))", value.nullability, strict: value.strict)
  }

  /// The SQL of `captured.contains(value)`. A nil in the collection is tested apart, since `NULL IN (…)` is NULL.
  private func isElement(
    _ element: Term, of list: ListParameter, _ mode: TranslationMode
  ) throws -> Term {
    if case .row(let row) = element { return try isObject(row, among: list, mode) }
    let element = try scalar(element)
    let (value, nullability) = (element.operand, element.nullability)
    let collation = collation(of: element.encoding, isPlain: list.isPlain)
    // A nil in the collection matches nil alone; a value that cannot be nil ignores it.
    let acceptsNil = list.hasNil && nullability == .optional
    if list.count == 0 {
      return acceptsNil ? .boolean("\(value) IS NULL") : valued(.no, element)
    }
    // One parameter for all elements, whatever their number: the statement stays the same, and is
    // found prepared.
    let elements = list.list(alias: newAlias())
    let item = try scalar(try self.element(of: elements)).sql
    let test: SQLFragment = "\(value)\(collation) IN (SELECT \(item) FROM \(source(of: elements)))"
    if acceptsNil { return .boolean("(\(value) IS NULL OR \(test))") }
    if nullability == .optional, !mode.nullIsFalse {
      return .boolean("(\(value) IS NOT NULL AND \(test))")
    }
    return .boolean(test, nullability == .never ? .never : .undefined)
  }

  /// The collation by which values of an encoding are compared as Swift does.
  ///
  /// - Parameter isPlain: Whether SQLite's comparison of bytes gives the same result, so that an index can be used.
  func collation(of encoding: ColumnEncoding, isPlain: Bool) -> SQLFragment {
    switch encoding {
    case .text, .url: isPlain ? "" : " COLLATE stead_canonical"
    case .decimal: " COLLATE stead_decimal"
    default: ""
    }
  }
}
