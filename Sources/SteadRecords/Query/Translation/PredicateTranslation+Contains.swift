import Foundation
import SteadSQLite

extension PredicateTranslation {
  /// The SQL of `collection.contains(element)`.
  func contains(_ collection: Term, _ element: Term, _ mode: TranslationMode) throws -> Term {
    switch collection {
    case .constant(.other(let value)):
      return try isElement(element, of: ListParameter(value, in: self), mode)
    case .rows(let rows):
      let member = try object(self.element(of: rows))
      let test = try scalar(
        exists(rows, where: objectEquality(member, try object(element), false, .condition)))
      return mode.nullIsFalse ? .scalar(test) : valued(test, unwrapping: element)
    case .list(let list):
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

  /// A Boolean function of two strings.
  func textTest(_ function: String, _ text: Scalar, _ part: Scalar) throws -> Term {
    guard text.encoding == .text, part.encoding == .text else {
      throw NotTranslatable("\(function) of something other than strings")
    }
    return .boolean(
      "\(SQLFragment(sql: function))(\(text.sql), \(part.sql))",
      .either(text.nullability, part.nullability), strict: text.strict | part.strict)
  }

  /// A test of a string's prefix, preceded by a range that an index can serve.
  func prefixTest(
    _ function: String, _ text: Term, _ prefix: Term, _ mode: TranslationMode
  ) throws -> Term {
    let test = try textTest(function, try scalar(text), try scalar(prefix))
    guard mode.nullIsFalse, case .scalar(let column) = text, column.isColumn,
      case .scalar(let value) = test, let start = prefix.constantText, let last = start.utf8.last,
      last < 0x7E, CanonicalSpellings.all(of: start)?.count == 1
    else { return test }
    let end = String(start.dropLast()) + String(Unicode.Scalar(last + 1))
    guard end.utf8.count == start.utf8.count else { return test }
    return .boolean(
      "(\(column.sql) >= \(SQLValue.text(start)) AND \(column.sql) < \(SQLValue.text(end)) "
        + "AND \(value.sql))", value.nullability, strict: value.strict)
  }

  private func isElement(
    _ element: Term, of list: ListParameter, _ mode: TranslationMode
  ) throws -> Term {
    if case .row(let row) = element { return try isObject(row, among: list, mode) }
    let element = try scalar(element)
    let (value, nullability) = (element.operand, element.nullability)
    let collation = collation(of: element.encoding, isPlain: list.isPlain)
    let acceptsNil = list.hasNil && nullability == .optional
    if list.count == 0 {
      return acceptsNil ? .boolean("\(value) IS NULL") : valued(.no, element)
    }
    let elements = list.list(alias: newAlias())
    let item = try scalar(try self.element(of: elements)).sql
    let test: SQLFragment = "\(value)\(collation) IN (SELECT \(item) FROM \(source(of: elements)))"
    if acceptsNil { return .boolean("(\(value) IS NULL OR \(test))") }
    if nullability == .optional, !mode.nullIsFalse {
      return .boolean("(\(value) IS NOT NULL AND \(test))")
    }
    return .boolean(test, nullability == .never ? .never : .undefined)
  }

  func collation(of encoding: ColumnEncoding, isPlain: Bool) -> SQLFragment {
    switch encoding {
    case .text, .url: isPlain ? "" : " COLLATE stead_canonical"
    case .decimal: " COLLATE stead_decimal"
    default: ""
    }
  }
}
