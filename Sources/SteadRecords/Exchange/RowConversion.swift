import Foundation
import SteadSQLite

/// Converts values by the names of attributes into those of an entity's columns.
///
/// A round trip: an object is made of the values, as of a row, and binds them again. So the result is what a save of such an
/// object would write, and a value that comes out as another one is refused instead of being changed.
final class RowConversion {
  /// The columns that the values are for.
  private let shape: RowShape
  /// The entity of the object that is made.
  private let entity: EntityLayout
  /// Returns the given values as columns, which the object is read from.
  private let statement: SQLiteStatement
  /// Returns what the object has bound.
  private let output: SQLiteStatement
  /// Records what the object cannot read or write.
  private let context: RowContext
  /// The column of each property in ``statement``.
  private let columns: PropertyMap
  /// The parameter of each property in ``output``.
  private let parameters: PropertyMap
  /// Default values, some of which are others for each row.
  private let defaults = PropertyDefaults()
  /// What is wrong with the values, without the values.
  private var problems: [String] = []

  init(_ shape: RowShape, _ entity: EntityLayout, _ connection: StoreConnection) throws {
    self.shape = shape
    self.entity = entity
    // Without a blob store: large data is bound inline, so that a conversion which is only tried writes no file.
    context = RowContext(labels: entity.labels)
    columns = PropertyMap(count: entity.properties.count, empty: -1)
    parameters = PropertyMap(count: entity.properties.count, empty: 0)
    for (index, attribute) in shape.attributes.enumerated() {
      columns.places[attribute.index] = Int32(index)
      parameters.places[attribute.index] = Int32(index + 1)
    }
    let marks = shape.attributes.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
    let sql = "SELECT \(marks.isEmpty ? "NULL" : marks)"
    // Of two names: the connection keeps one statement for each SQL, and both are used at once.
    statement = try connection.statement(sql + " AS given")
    output = try connection.statement(sql + " AS made")
  }

  /// The values of the shape's attributes, in their order.
  ///
  /// Invariant: each result represents the same value as the given one, or is the attribute's default where none was
  /// given. A value that the object would change is a problem, not a conversion.
  ///
  /// - Throws: ``RowProblems`` with all problems of one step: types first, then what the object rejects, then losses.
  func run(_ values: [String: SQLValue]) throws -> [SQLValue] {
    problems = []
    let plain = shape.attributes.map { plainValue(of: $0, values) }
    try throwProblems()
    statement.reset()
    output.reset()
    defer {
      statement.reset()
      output.reset()
    }
    // A SELECT of its own parameters: an object is read from it as from a row.
    statement.bind(plain)
    guard try statement.step() else { return [] }
    // Of an earlier call that threw.
    context.forgetRejections()
    let object = entity.type.init(
      _row: _RowReader(
        statement: statement.pointer, columns: UnsafePointer(columns.places),
        context: .passUnretained(context)))
    object._$bind(
      _RowWriter(
        statement: output.pointer, parameters: UnsafePointer(parameters.places),
        context: .passUnretained(context)))
    for index in context.rejected {
      addProblem(entity.properties[index].name, "does not hold a value of its type")
    }
    context.forgetRejections()
    try throwProblems()
    guard try output.step() else { return [] }
    let result = shape.attributes.indices.map { index in
      verified(shape.attributes[index], from: plain[index], to: output.value(Int32(index)))
    }
    try throwProblems()
    return result
  }

  /// Adds a problem, to be thrown at the end of the step.
  private func addProblem(_ property: String, _ reason: String) {
    problems.append("\(property) \(reason)")
  }

  /// Throws the problems of a step, if there are any.
  private func throwProblems() throws {
    if !problems.isEmpty { throw RowProblems(problems: problems) }
  }

  /// The given value in the column's form, or the attribute's default value.
  private func plainValue(
    of attribute: RowShape.Attribute, _ values: [String: SQLValue]
  ) -> SQLValue {
    // The source may be of an earlier version, in which the attribute had another name.
    let found = values[attribute.name] ?? values[attribute.originalName]
    if let found, found != .null {
      if let plain = PlainValue.of(found, as: attribute.encoding, of: entity, attribute.index) {
        return plain
      }
      addProblem(attribute.name, "holds a value of another type")
      return .null
    }
    // nil was given, so the default value is not asked for.
    if found == .null, attribute.isOptional { return .null }
    if let value = defaults.next(of: entity.properties[attribute.index], in: entity)?.value,
      (value as? any OptionalValue)?.isNil != true,
      let encoded = DefaultValueEncoder.encode(value, as: attribute.encoding)
    {
      return encoded
    }
    if !attribute.isOptional { addProblem(attribute.name, "is required and has no value") }
    return .null
  }

  /// The value to write: the converted one, if it represents the same value as the given one. Otherwise adds a problem.
  private func verified(
    _ attribute: RowShape.Attribute, from given: SQLValue, to made: SQLValue
  ) -> SQLValue {
    if given == made || (given == .null && made == .null) { return made }
    // A transformer's data may come out in other bytes each time; bytes that it accepts stay.
    if attribute.encoding == .opaque, made != .null,
      entity.properties[attribute.index].transformerName != nil
    {
      return given
    }
    if PlainValue.isSame(given, made, as: attribute.encoding) { return made }
    addProblem(attribute.name, "cannot hold its value without a loss")
    return given
  }
}

// MARK: - Problems

/// Why values cannot be a row of an entity.
package struct RowProblems: Error {
  /// A property's name and what is wrong with its value, without the value: `text is required`.
  package let problems: [String]
}

// MARK: - Values from other stores

/// Converts values from the forms of other stores, such as Core Data's or JSON, into those of columns.
enum PlainValue {
  /// The value in the column's own form; nil if it is of another type or cannot be represented exactly.
  static func of(
    _ value: SQLValue, as encoding: ColumnEncoding, of entity: EntityLayout, _ property: Int
  ) -> SQLValue? {
    switch (encoding, value) {
    // Any other number would be changed, to 1.
    case (.boolean, .integer(let number)): number == 0 || number == 1 ? value : nil
    case (.integer, .integer), (.unsigned64, .integer): value
    // JSON does not tell whole numbers from others.
    case (.integer, .real(let number)), (.unsigned64, .real(let number)):
      Int64(exactly: number).map { .integer($0) }
    case (.unsigned64, .text(let text)):
      UInt64(text).map { number in
        Int64(exactly: number).map { .integer($0) } ?? .text(UnsignedColumn.text(number))
      }
    case (.real, .real), (.date, .real): value
    case (.real, .integer(let number)), (.date, .integer(let number)):
      Double(exactly: number).map { .real($0) }
    case (.real, .text(let text)), (.date, .text(let text)):
      text == RealColumn.notANumber ? value : nil
    case (.decimal, _): decimal(value)
    case (.text, .text): value
    case (.url, .text(let text)): URL(string: text) == nil ? nil : value
    case (.uuid, .blob(let data)): data.count == 16 ? value : nil
    case (.uuid, .text(let text)):
      UUID(uuidString: text).map { uuid in .blob(withUnsafeBytes(of: uuid.uuid) { Data($0) }) }
    case (.data, .blob), (.external, .blob): value
    case (.json, _), (.composite, _): json(value)
    case (.opaque, .blob) where entity.properties[property].transformerName != nil: value
    case (.opaque, _) where entity.properties[property].transformerName == nil: json(value)
    default: nil
    }
  }

  /// Whether two forms represent the same value.
  static func isSame(_ one: SQLValue, _ other: SQLValue, as encoding: ColumnEncoding) -> Bool {
    switch (encoding, one, other) {
    case (.decimal, .text(let one), .text(let other)):
      return one == other
        || canonicalDecimal(one).map { $0 == canonicalDecimal(other) } ?? false
    case (.url, .text(let one), .text(let other)):
      return URL(string: one)?.absoluteString == other
    case (.json, .text(let one), .text(let other)), (.composite, .text(let one), .text(let other)),
      (.opaque, .text(let one), .text(let other)):
      return tree(one).flatMap { one in tree(other).map { one.isEqual($0) } } ?? false
    default: return false
    }
  }

  /// A decimal string of a number; nil if it is none.
  private static func decimal(_ value: SQLValue) -> SQLValue? {
    switch value {
    case .integer(let number): .text(String(number))
    // By the fewest digits that give the number back, as Swift writes them.
    case .real(let number):
      number.isFinite ? Decimal(string: "\(number)").map { .text("\($0)") } : nil
    case .text(let text): canonicalDecimal(text) == nil ? nil : value
    default: nil
    }
  }

  /// The greatest exponent that is read, either way.
  private static let exponentLimit = 1 << 31

  /// The digits and the exponent of a decimal number's string, without leading and trailing zeros, so that equal
  /// numbers have equal strings; nil if it isn't a number.
  static func canonicalDecimal(_ text: String) -> String? {
    if text == "NaN" { return text }
    var rest = Substring(text)
    let isNegative = rest.first == "-"
    if rest.first == "-" || rest.first == "+" { rest.removeFirst() }
    let parts = rest.split(
      maxSplits: 1, omittingEmptySubsequences: false, whereSeparator: { $0 == "e" || $0 == "E" })
    // Another program may have written any exponent. None beyond the limit is a number that Decimal has.
    guard let mantissa = parts.first, let exponent = parts.count == 2 ? Int(parts[1]) : 0,
      (-exponentLimit...exponentLimit).contains(exponent)
    else { return nil }
    let halves = mantissa.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    let fraction = halves.count == 2 ? halves[1] : ""
    var digits = Substring(halves[0] + fraction)
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    var scale = exponent - fraction.count
    while digits.last == "0", digits.count > 1 {
      digits.removeLast()
      scale += 1
    }
    digits = digits.drop { $0 == "0" }
    if digits.isEmpty { return "0" }
    return "\(isNegative ? "-" : "")\(digits)e\(scale)"
  }

  /// JSON as text, which some stores keep as bytes.
  private static func json(_ value: SQLValue) -> SQLValue? {
    switch value {
    case .text: value
    case .blob(let data): String(data: data, encoding: .utf8).map { .text($0) }
    default: nil
    }
  }

  /// The tree of a JSON string without nulls: an encoder may write an absent value as null or leave it out.
  private static func tree(_ text: String) -> NSObject? {
    let data = Data(text.utf8)
    guard let value = try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
    else { return nil }
    // A scalar is put into an object, so that two trees always compare as objects.
    return withoutNulls(value) as? NSObject ?? ["": withoutNulls(value)] as NSDictionary
  }

  /// The value with all nulls in objects left out, at any depth.
  private static func withoutNulls(_ value: Any) -> Any {
    if let object = value as? [String: Any] {
      return object.filter { !($0.value is NSNull) }.mapValues(withoutNulls) as NSDictionary
    }
    if let array = value as? [Any] { return array.map(withoutNulls) as NSArray }
    return value
  }
}

// MARK: - Values of objects

/// Reads what objects of a class bind, through a SELECT that returns its own parameters.
final class RowBinding {
  /// Returns its parameters.
  private let statement: SQLiteStatement
  /// Records what an object cannot write.
  private let context: RowContext
  /// The parameter of each property.
  private let parameters: PropertyMap
  /// The result column of each of the shape's columns.
  private let columns: [Int32?]

  /// - Parameter blobs: Where large data is written, as by a save; nil to bind it inline.
  init(
    _ shape: RowShape, _ entity: EntityLayout, _ blobs: BlobFiles?, _ connection: StoreConnection
  ) throws {
    let bound = entity.properties.filter { $0.column != nil }
    let marks = bound.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
    statement = try connection.statement("SELECT \(marks.isEmpty ? "NULL" : marks) AS bound")
    context = RowContext(labels: entity.labels, blobs: blobs)
    parameters = PropertyMap(count: entity.properties.count, empty: 0)
    var byColumn: [String: Int32] = [:]
    for (index, property) in bound.enumerated() {
      parameters.places[property.index] = Int32(index + 1)
      byColumn[property.column ?? ""] = Int32(index)
    }
    columns = shape.columns.map { byColumn[$0] }
  }

  /// The values of the shape's columns; nil for those that no property has, such as positions.
  ///
  /// - Throws: The first error of a value that cannot be written.
  func values(of model: any PersistentModel) throws -> [SQLValue?] {
    statement.reset()
    defer { statement.reset() }
    model._$bind(
      _RowWriter(
        statement: statement.pointer, parameters: UnsafePointer(parameters.places),
        context: .passUnretained(context)))
    try context.throwIfRejected()
    guard try statement.step() else { return columns.map { _ in nil } }
    return columns.map { $0.map { statement.value($0) } }
  }
}
