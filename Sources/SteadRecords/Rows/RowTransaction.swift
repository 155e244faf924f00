import Foundation

/// A transaction on a store's rows; good within the call that hands it out.
package final class RowTransaction {
  package let rows: RowStore
  private let store: RecordStore
  let connection: Connection
  /// The files that rows no longer refer to; they go after the commit, unless others do.
  private(set) var droppedFiles: Set<String> = []
  private var conversions: [String: RowConversion] = [:]
  private var selections: [Int: Statement] = [:]
  private var bindings: [Int: RowBinding] = [:]

  init(_ rows: RowStore, _ store: RecordStore, _ connection: Connection) {
    self.rows = rows
    self.store = store
    self.connection = connection
  }

  /// Runs a statement for its effect, and says how many rows it changed.
  @discardableResult
  package func run(_ sql: String, _ values: [SQLValue] = []) throws -> Int {
    try connection.run(sql, values)
    return connection.changedRows
  }

  /// All rows of a statement.
  package func select(_ sql: String, _ values: [SQLValue] = []) throws -> [[SQLValue]] {
    try connection.rows(sql, values)
  }

  /// Hands each row of a statement to a body.
  package func forEach(
    _ sql: String, _ values: [SQLValue] = [], _ body: ([SQLValue]) throws -> Void
  ) throws {
    // Not a shared statement: the body may run the same text.
    let statement = try Statement(sql, on: connection)
    statement.bind(values)
    let count = statement.columnCount
    while try statement.step() { try body((0..<count).map { statement.value($0) }) }
  }

  package func integer(_ sql: String, _ values: [SQLValue] = []) throws -> Int64? {
    try connection.integer(sql, values)
  }

  /// A number that no row of the hierarchy has or has had.
  package func newNumber(in shape: RowShape) throws -> Int64 {
    let plan = rows.container.planByEntity[shape.index]
    return (try connection.integer(plan.newest) ?? 0) + 1
  }

  /// Keeps a number from being given out again; to be called before its row is deleted.
  package func retire(_ number: Int64, in shape: RowShape) throws {
    try connection.run(
      "INSERT INTO stead_sequence VALUES (?1, ?2) "
        + "ON CONFLICT DO UPDATE SET last = max(last, excluded.last)",
      [.text(shape.root), .integer(number)])
  }

  /// The values that the attributes of an entity's row would have, in their order.
  ///
  /// - Throws: ``RowProblems`` when a value is not of its attribute's type.
  package func convert(
    _ attributes: [String: SQLValue], for shape: RowShape
  ) throws -> [SQLValue] {
    if let conversion = conversions[shape.name] { return try conversion.run(attributes) }
    let conversion = try RowConversion(
      shape, rows.container.layout.entities[shape.index], connection)
    conversions[shape.name] = conversion
    return try conversion.run(attributes)
  }

  /// What a column holds for bytes of an external attribute, which may be the name of a file that is
  /// written now.
  package func column(forExternal data: Data) throws -> SQLValue {
    guard let blobs = store.blobs, data.count >= ExternalData.fileThreshold else {
      return .blob(data)
    }
    return .text(try blobs.write(data))
  }

  /// The bytes that a column of an external attribute stands for; a file's are mapped.
  ///
  /// - Throws: When the file is gone or damaged.
  package func bytes(ofExternal value: SQLValue) throws -> SQLValue {
    guard case .text(let reference) = value, let blobs = store.blobs else { return value }
    return .blob(try blobs.map(reference))
  }

  /// Lets a file go with this transaction, unless other rows refer to it.
  package func dropFile(_ value: SQLValue) {
    if case .text(let reference) = value { droppedFiles.insert(reference) }
  }

  /// What a row holds in the columns of its shape; nil when there is no such row of that entity.
  package func values(of shape: RowShape, _ number: Int64) throws -> [SQLValue]? {
    let statement: Statement
    if let known = selections[shape.index] {
      statement = known
    } else {
      let test = shape.discriminator.map { " AND \"_entity\" = \($0)" } ?? ""
      let columns = (["_id"] + shape.columns).map(quoted).joined(separator: ", ")
      statement = try connection.statement(
        "SELECT \(columns) FROM \(quoted(shape.root)) WHERE \"_id\" = ?1\(test)")
      selections[shape.index] = statement
    }
    statement.reset()
    defer { statement.reset() }
    statement.bind(number, at: 1)
    guard try statement.step() else { return nil }
    return shape.columns.indices.map { statement.value(Int32($0 + 1)) }
  }

  /// What an object binds for each of the columns of its shape; nil for those that no property has.
  package func boundValues(
    of model: any PersistentModel, _ shape: RowShape
  ) throws -> [SQLValue?] {
    let binding: RowBinding
    if let known = bindings[shape.index] {
      binding = known
    } else {
      binding = try RowBinding(
        shape, rows.container.layout.entities[shape.index], store.blobs, connection)
      bindings[shape.index] = binding
    }
    return try binding.values(of: model)
  }
}

/// Finds out what objects of a class bind.
private final class RowBinding {
  private let statement: Statement
  private let context: RowContext
  private let parameters: PropertyMap
  /// The result column of each of the shape's columns.
  private let places: [Int32?]

  init(
    _ shape: RowShape, _ entity: EntityLayout, _ blobs: BlobFiles?, _ connection: Connection
  ) throws {
    let bound = entity.properties.filter { $0.column != nil }
    let marks = bound.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
    statement = try connection.statement("SELECT \(marks.isEmpty ? "NULL" : marks) AS bound")
    context = RowContext(entity: entity, blobs: blobs)
    parameters = PropertyMap(count: entity.properties.count, empty: 0)
    var byColumn: [String: Int32] = [:]
    for (place, property) in bound.enumerated() {
      parameters.places[property.index] = Int32(place + 1)
      byColumn[property.column ?? ""] = Int32(place)
    }
    places = shape.columns.map { byColumn[$0] }
  }

  func values(of model: any PersistentModel) throws -> [SQLValue?] {
    statement.reset()
    defer { statement.reset() }
    model._$bind(
      _RowWriter(
        statement: statement.pointer, parameters: UnsafePointer(parameters.places),
        context: .passUnretained(context)))
    try context.throwIfRejected()
    guard try statement.step() else { return places.map { _ in nil } }
    return places.map { $0.map { statement.value($0) } }
  }
}

extension RowTransaction {
  /// The rows that a new object's relationship leads to, once they are numbered, in its order.
  package func targets(of model: any PersistentModel, _ name: String) -> [Int64] {
    let shape = rows.place(of: model).flatMap { rows.shapes[$0.entity] }
    guard let shape,
      let property = rows.container.layout.entities[shape.index].property(named: name)
    else { return [] }
    switch model.content(at: property.index) {
    case .toMany(let targets):
      return (targets.loaded ?? targets.delta?.added.map { $0 as AnyObject } ?? []).compactMap {
        ($0 as? any PersistentModel)?._$statePointer.pointee.rowID
      }
    case .toOne(.model(let target)): return [target._$statePointer.pointee.rowID]
    case .toOne(.row(let row)): return [row]
    default: return []
    }
  }
}

/// The place of each property in a statement.
final class PropertyMap {
  let places: UnsafeMutablePointer<Int32>

  init(count: Int, empty: Int32) {
    places = .allocate(capacity: max(count, 1))
    places.initialize(repeating: empty, count: max(count, 1))
  }

  deinit { places.deallocate() }
}
