import Foundation
import SteadSQLite

/// Whether the values of a table's columns can be read as the types that properties have now.
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

  /// For how many reasons rows are named; a type has fewer, unless its values have keys of their own.
  private static let reasonLimit = 20

  /// How many rows are read before any of them is written.
  private static let batchSize = 500

  private let connection: StoreConnection
  private let table: String
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
    var places: [String: Int] = [:]
    try forEachValue(of: column, as: attribute) { fit, value, rowCount in
      guard case .none(let error) = fit else { return }
      let cause = error as? DecodingError
      let reason = Misfits.reason(of: cause)
      if places[reason] == nil {
        guard found.count < Self.reasonLimit else { return }
        places[reason] = found.count
        found.append(Misfits(cause: cause))
      }
      guard let place = places[reason] else { return }
      try name(rowsWith: value, in: column, &found[place].rows)
      found[place].count += rowCount
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
      case .none(DecodingError.keyNotFound?): isIncomplete = true
      case .none: misfits += 1
      }
    }
    return isIncomplete || fits == 0 && misfits > 0
  }

  /// Adds the numbers of some rows that have a value.
  private func name(rowsWith value: SQLValue, in column: String, _ rows: inout [String]) throws {
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
    guard reader.hasDefault else { return }
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
  /// What values have in common that one sentence is about: a field that they lack or have another value in, whichever
  /// element of an array it is in.
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

  /// What is in the way, and what to do about it.
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
        "\(name) is a \(type), and these rows lack its field \(Self.path(context.codingPath + [key])): \(rows). "
        + "\(text.prefix(1).uppercased() + text.dropFirst())."
    case .valueNotFound(_, let context)?, .typeMismatch(_, let context)?,
      .dataCorrupted(let context)?:
      let path = Self.path(context.codingPath)
      let field = path.isEmpty ? "" : " in the field \(path)"
      return
        "\(name) is a \(type), and these rows have values that it does not read\(field): \(rows). Read them in "
        + "`init(from:)`, keep the type as it was, or add a property of another name and set it in a custom stage of a "
        + "migration plan."
    default:
      return "\(name) is now a \(type), but these rows have other values: \(rows). \(conversion)"
    }
  }

  /// What is in the way of reading the values with a default value's fields, where nothing may be written.
  func problemOfReading(_ name: String, _ attribute: Schema.Attribute) -> String {
    "\(name) is a \(PropertyShape(attribute.valueType).wrapped), and these rows lack fields of it: \(rowText). They get them from "
      + "the property's default value when the store is opened for writing: open it once with allowsSave: true, make the "
      + "fields optional, or read them in `init(from:)` with `decodeIfPresent`."
  }

  /// What to do about a default value, so that values get a field from it; nothing if the path to the field leads through
  /// an element of an array or a dictionary, which it has none for.
  private static func defaultRemedy(
    for path: [any CodingKey], _ attribute: Schema.Attribute
  ) -> [String] {
    if path.contains(where: { $0.intValue != nil || isUnnamed($0) }) { return [] }
    return attribute.defaultValue == nil
      ? ["give the property a default value, whose fields they then get"]
      : ["give the property's default value the field, which they then get"]
  }

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

  private static func isUnnamed(_ key: any CodingKey) -> Bool {
    unnamedKeys.contains("\(Swift.type(of: key))")
  }
}
