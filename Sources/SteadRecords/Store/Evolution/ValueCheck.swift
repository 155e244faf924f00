import Foundation
import SteadFormats
import SteadSQLite

/// Checks whether the values of a table's columns can be read as the types that properties have now.
///
/// Each distinct value is read once, however many rows have it.
///
/// Costs a scan of the column for each check, which sorts the values to find the distinct ones.
struct ValueCheck {
  /// Values that can't be read for one reason.
  struct Misfits {
    /// The numbers of some of the rows.
    fileprivate(set) var rows: [String] = []
    /// How many rows there are.
    fileprivate(set) var count: Int64 = 0
    /// What is wrong in the first one, if it is JSON.
    let cause: DecodingError?
  }

  /// The most reasons for which rows are named. A type has fewer, unless its keys are values, as in a dictionary.
  private static let reasonLimit = 20

  /// How many rows are read before any of them is written.
  private static let batchSize = 500

  /// It reads the table as it is when the check is made: before the migration, or at its end.
  private let connection: StoreConnection
  /// The table, by its name at that time.
  private let table: String
  /// A test of the rows' class, after another condition.
  private let only: String

  /// - Parameter only: A test of the rows' class, which begins with ` AND`, or nothing.
  init(_ connection: StoreConnection, table: String, only: String) {
    self.connection = connection
    self.table = table
    self.only = only
  }

  /// The values of a column that an attribute's type cannot read, even if they get the fields that they lack; one for
  /// each field, since remedies differ.
  func misfits(of column: String, as attribute: Schema.Attribute) throws -> [Misfits] {
    var found: [Misfits] = []
    var indices: [String: Int] = [:]
    try forEachValue(of: column, as: attribute) { fit, value, rowCount in
      guard case .none(let error) = fit else { return }
      let cause = error as? DecodingError
      let reason = Misfits.reason(of: cause)
      if indices[reason] == nil {
        // Rows of further reasons are left out, also of the counts.
        guard found.count < Self.reasonLimit else { return }
        indices[reason] = found.count
        found.append(Misfits(cause: cause))
      }
      guard let index = indices[reason] else { return }
      try name(rowsWith: value, in: column, &found[index].rows)
      found[index].count += rowCount
    }
    return found
  }

  /// The values of a column that an attribute's type reads only with fields of the default value.
  func incomplete(_ column: String, as attribute: Schema.Attribute) throws -> Misfits? {
    var rows: [String] = []
    var count: Int64 = 0
    try forEachValue(of: column, as: attribute) { fit, value, rowCount in
      guard case .completed = fit else { return }
      try name(rowsWith: value, in: column, &rows)
      count += rowCount
    }
    return rows.isEmpty ? nil : Misfits(rows: rows, count: count, cause: nil)
  }

  /// Whether a column's values show that they were written as another type than an attribute's: they lack fields, or
  /// none can be read.
  func shows(anotherTypeThan attribute: Schema.Attribute, in column: String) throws -> Bool {
    var (fits, misfits, isIncomplete) = (0, 0, false)
    try forEachValue(of: column, as: attribute) { fit, _, _ in
      switch fit {
      case .asItIs: fits += 1
      case .completed: isIncomplete = true
      // A field that the default value lacks, too.
      case .none(DecodingError.keyNotFound?): isIncomplete = true
      case .none: misfits += 1
      }
    }
    // A few misfits among other values may as well be another program's.
    return isIncomplete || fits == 0 && misfits > 0
  }

  /// Adds the numbers of some rows that have a value.
  private func name(rowsWith value: SQLValue, in column: String, _ rows: inout [String]) throws {
    // Rows of several values are named until there are enough.
    let left = SchemaMigrator.namedRowLimit - rows.count
    guard left > 0 else { return }
    let numbers = try connection.integers(
      "SELECT \"_id\" FROM \(table.sqlName) WHERE \(column.sqlName) = ?1\(only) "
        + "ORDER BY \"_id\" LIMIT \(left)", [value])
    rows += numbers.map(String.init)
  }

  /// Reads each value of a column, with the number of its rows, in the order of the first of them.
  private func forEachValue(
    of column: String, as attribute: Schema.Attribute,
    _ body: (ValueReader.Fit, SQLValue, _ count: Int64) throws -> Void
  ) throws {
    let reader = ValueReader(attribute)
    // Each distinct value once, in the order of the rows, so that messages name the first ones.
    let statement = try connection.prepare(
      "SELECT \(column.sqlName), count(*) FROM \(table.sqlName) "
        + "WHERE \(column.sqlName) IS NOT NULL\(only) GROUP BY \(column.sqlName) "
        + "ORDER BY min(\"_id\")")
    defer { statement.reset() }
    while try statement.step() {
      let value = statement.value(0)
      try body(reader.fit(of: value), value, statement.integer(1))
    }
  }

  /// Whether an attribute's type reads a value as it is.
  static func canRead(_ value: SQLValue, as attribute: Schema.Attribute) -> Bool {
    if case .asItIs = ValueReader(attribute).fit(of: value) { true } else { false }
  }

  /// Adds the fields that a column's values lack.
  ///
  /// - Parameters:
  ///   - defaults: The default values, if each row has its own.
  ///   - note: Called with the number of each row that is changed.
  func complete(
    _ column: String, as attribute: Schema.Attribute, _ defaults: RowDefaults?,
    note: (Int64) -> Void
  ) throws {
    let reader = ValueReader(attribute)
    // Without fields to give, no value can be completed.
    guard reader.hasDefault else { return }
    // Each batch is read before it is written: SQLite leaves undefined what a SELECT returns of
    // rows that change while it runs.
    var last = Int64.min
    while true {
      let batch = try connection.rows(
        "SELECT \"_id\", \(column.sqlName) FROM \(table.sqlName) "
          + "WHERE \"_id\" > ?1 AND \(column.sqlName) IS NOT NULL\(only) "
          + "ORDER BY \"_id\" LIMIT \(Self.batchSize)", [.integer(last)])
      guard case .integer(let end)? = batch.last?.first else { return }
      for row in batch {
        guard case .integer(let number) = row[0],
          case .completed(var value) = reader.fit(of: row[1])
        else { continue }
        if let defaults, case .completed(let own) = reader.fit(of: row[1], with: defaults.next()) {
          value = own
        }
        note(number)
        try connection.run(
          "UPDATE \(table.sqlName) SET \(column.sqlName) = ?2 WHERE \"_id\" = ?1", [row[0], value])
      }
      last = end
    }
  }
}

extension ValueCheck.Misfits {
  /// The key by which misfits are grouped: the field that is missing or has another value, without the indices of arrays.
  fileprivate static func reason(of cause: DecodingError?) -> String {
    switch cause {
    case .keyNotFound(let key, let context)?:
      "lacks " + path(context.codingPath + [key], withIndices: false)
    case .valueNotFound(_, let context)?, .typeMismatch(_, let context)?,
      .dataCorrupted(let context)?:
      "has " + path(context.codingPath, withIndices: false)
    default: ""
    }
  }

  /// The problem and its remedy, in sentences.
  func problem(of name: String, _ attribute: Schema.Attribute) -> String {
    let type = PropertyShape(attribute.valueType).wrapped
    let rows = rowText
    let conversion =
      "Convert them in `willMigrate` of a migration plan, or keep the type."
    switch cause {
    case .keyNotFound(let key, let context)?:
      let remedies =
        Self.defaultRemedy(for: context.codingPath, attribute)
        + ["make the field optional", "or read it in `init(from:)` with `decodeIfPresent`"]
      let text = remedies.joined(separator: remedies.count > 2 ? ", " : " ")
      return
        "\(name) has the type \(type), and these rows lack its field \(Self.path(context.codingPath + [key])): \(rows). "
        + "\(text.prefix(1).uppercased() + text.dropFirst())."
    case .valueNotFound(_, let context)?, .typeMismatch(_, let context)?,
      .dataCorrupted(let context)?:
      let path = Self.path(context.codingPath)
      let field = path.isEmpty ? "" : " in the field \(path)"
      return
        "\(name) has the type \(type), and these rows have values that it does not read\(field): \(rows). Read them in "
        + "`init(from:)`, keep the type as it was, or add a property of another name and set it in a custom stage of a "
        + "migration plan."
    default:
      return
        "\(name) now has the type \(type), but these rows have other values: \(rows). \(conversion)"
    }
  }

  /// The problem of values that would have to be completed, in a store that may not be written.
  func problemOfReading(_ name: String, _ attribute: Schema.Attribute) -> String {
    "\(name) has the type \(PropertyShape(attribute.valueType).wrapped), and these rows lack fields of it: \(rowText). They get them from "
      + "the property's default value when the store is opened for writing: open it once with allowsSave: true, make the "
      + "fields optional, or read them in `init(from:)` with `decodeIfPresent`."
  }

  /// The remedy that concerns the default value; none if the path to the field leads through an array or a dictionary, for
  /// whose elements there is no default.
  private static func defaultRemedy(
    for path: [any CodingKey], _ attribute: Schema.Attribute
  ) -> [String] {
    if path.contains(where: { $0.intValue != nil || isUnnamed($0) }) { return [] }
    return attribute.defaultValue == nil
      ? ["give the property a default value, whose fields they then get"]
      : ["give the property's default value the field, which they then get"]
  }

  /// The numbers of the named rows, and how many others there are.
  private var rowText: String {
    let named = rows.joined(separator: ", ")
    let more = count - Int64(rows.count)
    return more == 0 ? "\(named)" : "\(named) and \(more) more"
  }

  /// Foundation's types of keys, which those of dictionaries have.
  private static let unnamedKeys: Set<String> = ["_CodingKey", "_DictionaryCodingKey", "_JSONKey"]

  /// Keys of a dictionary are stored values, and so are not named.
  private static func path(_ keys: [any CodingKey], withIndices: Bool = true) -> String {
    keys.map { key in
      if let index = key.intValue { return withIndices ? "[\(index)]" : "[]" }
      return isUnnamed(key) ? "…" : key.stringValue
    }.joined(separator: ".")
  }

  /// Whether a key is of a dictionary, and so a stored value.
  private static func isUnnamed(_ key: any CodingKey) -> Bool {
    unnamedKeys.contains("\(Swift.type(of: key))")
  }
}

// MARK: - Reading one value

/// Reads stored values as a property's type, and completes those that lack fields which the type has gained.
///
/// A type that has gained `theme` reads the stored value `{"volume":5}` with a field of the default
/// value `{"theme":"plain","volume":3}`: as `{"theme":"plain","volume":5}`.
struct ValueReader {
  /// How a value can be read.
  enum Fit {
    /// The type reads it.
    case asItIs
    /// With fields of the property's default value.
    case completed(SQLValue)
    /// The type does not read it, for this reason; nil if there is no error of decoding.
    case none((any Error)?)
  }

  /// The greatest number of fields that a value gets.
  private static let fieldLimit = 1_000

  /// The property's type, without optionality.
  private let type: any Any.Type
  /// Whether the column has JSON, in which fields may be missing.
  private let isJSON: Bool
  /// The column's form of the default value; nil if there is none, or the values have no fields.
  private let defaultValue: SQLValue?

  /// Whether the default value is an object, whose fields others can get.
  var hasDefault: Bool { Self.fields(of: defaultValue) != nil }

  /// Reads values of an attribute, which may get the fields of its default value.
  init(_ attribute: Schema.Attribute) {
    self.init(
      PropertyShape(attribute.valueType).wrapped, attribute.encoding,
      attribute.defaultValue.flatMap { DefaultValueEncoder.encode($0, as: attribute.encoding) })
  }

  /// - Parameter defaultValue: What has the fields that values may lack.
  init(_ type: any Any.Type, _ encoding: ColumnEncoding, _ defaultValue: SQLValue? = nil) {
    self.type = type
    switch encoding {
    case .json, .composite, .opaque: isJSON = true
    default: isJSON = false
    }
    // Only JSON has fields.
    self.defaultValue = isJSON ? defaultValue : nil
  }

  /// How a value can be read, with the property's default value.
  func fit(of value: SQLValue) -> Fit { fit(of: value, with: defaultValue) }

  /// - Parameter defaultValue: What has the fields that the value may lack.
  func fit(of value: SQLValue, with defaultValue: SQLValue?) -> Fit {
    guard isJSON else { return readsColumn(value) ? .asItIs : .none(nil) }
    guard case .text(let text) = value, let type = type as? any Decodable.Type else {
      return .none(nil)
    }
    let data = Data(text.utf8)
    if let fields = Self.fields(of: defaultValue) {
      return Self.fit(of: data, as: type, fields, JSONColumn.decoder)
    }
    if let error = Self.readError(data, as: type, JSONColumn.decoder) { return .none(error) }
    return .asItIs
  }

  /// JSON with the fields that it lacks, so that a type reads it; nil if that can't be.
  ///
  /// - Parameters:
  ///   - fields: What has the fields.
  ///   - decoder: What the JSON is read with.
  static func completed(
    _ data: Data, as type: any Decodable.Type, from fields: JSONValue, _ decoder: JSONDecoder
  ) -> Data? {
    guard case .completed(.text(let text)) = fit(of: data, as: type, fields, decoder) else {
      return nil
    }
    return Data(text.utf8)
  }

  /// A default value as JSON, if that is an object.
  static func fields(ofDefault value: Any) -> JSONValue? {
    fields(of: DefaultValueEncoder.encode(value, as: .json))
  }

  /// The value of a column as JSON, if that is an object.
  static func fields(of value: SQLValue?) -> JSONValue? {
    guard case .text(let text)? = value, let json = JSONReader.value(of: Data(text.utf8)),
      json.object != nil
    else { return nil }
    return json
  }

  /// The error of reading JSON; nil if the type reads it.
  private static func readError(
    _ data: Data, as type: any Decodable.Type, _ decoder: JSONDecoder
  ) -> (any Error)? {
    do {
      _ = try decoder.decode(type, from: data)
      return nil
    } catch {
      return error
    }
  }

  /// Adds one missing field after the other, as reading asks for them: an optional one that is missing is nil.
  private static func fit(
    of stored: Data, as type: any Decodable.Type, _ fields: JSONValue, _ decoder: JSONDecoder
  ) -> Fit {
    var data = stored
    // One field each time. The limit also ends a type that would ask for another one forever.
    for count in 0...fieldLimit {
      guard let error = readError(data, as: type, decoder) else {
        return count == 0 ? .asItIs : .completed(.text(String(decoding: data, as: UTF8.self)))
      }
      // No other error is cured by a field.
      guard case DecodingError.keyNotFound(let key, let context) = error,
        let value = JSONReader.value(of: data),
        let complete = adding(
          key.stringValue, at: context.codingPath[...], from: fields, to: value)
      else { return .none(error) }
      data = complete.data
    }
    return .none(nil)
  }

  /// An object with one more field in it, or in an object within it; nil if the default value has no such field.
  private static func adding(
    _ key: String, at path: ArraySlice<any CodingKey>, from fields: JSONValue, to value: JSONValue
  ) -> JSONValue? {
    guard var object = value.object, let defaults = fields.object else { return nil }
    if let step = path.first {
      let name = step.stringValue
      // Elements of an array have no counterpart in the default value.
      guard step.intValue == nil, let inner = object[name], let field = defaults[name],
        let complete = adding(key, at: path.dropFirst(), from: field, to: inner)
      else { return nil }
      object[name] = complete
    } else {
      guard let field = defaults[key], object[key] == nil else { return nil }
      object[key] = field
    }
    return .object(object)
  }

  /// Whether a value without fields can be read, strictly: see ``SQLDecodable``.
  private func readsColumn(_ value: SQLValue) -> Bool {
    func open<T>(_ type: T.Type) -> Bool { value.decoded(as: type) != nil }
    return _openExistential(type, do: open)
  }
}
