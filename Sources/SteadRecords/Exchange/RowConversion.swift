import Foundation
import SteadSQLite

/// Turns values by the names of attributes into those that an entity's columns hold.
///
/// The values go the way of a row: an object is made of them and binds them again, so that what comes
/// out is what a save of such an object would write, and a value that comes out as another is refused.
final class RowConversion {
  private let shape: RowShape
  private let entity: EntityLayout
  private let statement: SQLiteStatement
  private let output: SQLiteStatement
  private let context: RowContext
  private let columns: PropertyMap
  private let parameters: PropertyMap
  private let defaults = PropertyDefaults()
  private var problems: [String] = []

  init(_ shape: RowShape, _ entity: EntityLayout, _ connection: StoreConnection) throws {
    self.shape = shape
    self.entity = entity
    // Without files, so that a conversion that is only tried leaves nothing behind.
    context = RowContext(labels: entity.labels)
    columns = PropertyMap(count: entity.properties.count, empty: -1)
    parameters = PropertyMap(count: entity.properties.count, empty: 0)
    for (place, attribute) in shape.attributes.enumerated() {
      columns.places[attribute.index] = Int32(place)
      parameters.places[attribute.index] = Int32(place + 1)
    }
    let marks = shape.attributes.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
    let sql = "SELECT \(marks.isEmpty ? "NULL" : marks)"
    statement = try connection.statement(sql + " AS given")
    output = try connection.statement(sql + " AS made")
  }

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
    statement.bind(plain)
    guard try statement.step() else { return [] }
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
      note(entity.properties[index].name, "does not hold a value of its type")
    }
    context.forgetRejections()
    try throwProblems()
    guard try output.step() else { return [] }
    let result = shape.attributes.indices.map { place in
      settled(shape.attributes[place], from: plain[place], to: output.value(Int32(place)))
    }
    try throwProblems()
    return result
  }

  private func note(_ property: String, _ reason: String) {
    problems.append("\(property) \(reason)")
  }

  private func throwProblems() throws {
    if !problems.isEmpty { throw RowProblems(problems: problems) }
  }

  /// The value as a column would hold it, from what came, or the attribute's default.
  private func plainValue(
    of attribute: RowShape.Attribute, _ values: [String: SQLValue]
  ) -> SQLValue {
    let found = values[attribute.name] ?? values[attribute.originalName]
    if let found, found != .null {
      if let plain = PlainValue.of(found, as: attribute.encoding, of: entity, attribute.index) {
        return plain
      }
      note(attribute.name, "holds a value of another type")
      return .null
    }
    if found == .null, attribute.isOptional { return .null }
    if let value = defaults.next(of: entity.properties[attribute.index], in: entity)?.value,
      (value as? any OptionalValue)?.isNil != true,
      let encoded = DefaultValueEncoder.encode(value, as: attribute.encoding)
    {
      return encoded
    }
    if !attribute.isOptional { note(attribute.name, "is required and has no value") }
    return .null
  }

  /// What is written: the converted value, if it is equal to the original.
  private func settled(
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
    note(attribute.name, "cannot hold its value without a loss")
    return given
  }
}
