package import Foundation

/// A transaction on a store's rows; good within the call that hands it out.
package final class RowTransaction {
  package let rows: RowStore
  private let store: RecordStore
  let connection: Connection
  /// The files that rows no longer refer to; they go after the commit, unless others do.
  private(set) var droppedFiles: Set<String> = []
  private var conversions: [String: RowConversion] = [:]
  private var selections: [String: String] = [:]

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
    let sql: String
    if let known = selections[shape.name] {
      sql = known
    } else {
      let test = shape.discriminator.map { " AND \"_entity\" = \($0)" } ?? ""
      sql =
        "SELECT \((shape.columns.isEmpty ? ["_id"] : shape.columns).map(quoted).joined(separator: ", ")) "
        + "FROM \(quoted(shape.root)) WHERE \"_id\" = ?1\(test)"
      selections[shape.name] = sql
    }
    guard let row = try connection.rows(sql, [.integer(number)]).first else { return nil }
    return shape.columns.isEmpty ? [] : row
  }

  /// What an object binds for the columns of its shape but those of order, which have no property.
  package func boundValues(
    of model: any PersistentModel, _ shape: RowShape
  ) throws -> [String: SQLValue] {
    let entity = rows.container.layout.entities[shape.index]
    let columns = entity.properties.filter { $0.column != nil }
    guard !columns.isEmpty else { return [:] }
    let marks = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
    let statement = try connection.statement("SELECT \(marks)")
    statement.reset()
    defer { statement.reset() }
    let context = RowContext(entity: entity, blobs: store.blobs)
    let map = PropertyMap(count: entity.properties.count, empty: 0)
    for (place, property) in columns.enumerated() { map.places[property.index] = Int32(place + 1) }
    model._$bind(
      _RowWriter(
        statement: statement.pointer, parameters: UnsafePointer(map.places),
        context: .passUnretained(context)))
    try context.throwIfRejected()
    guard try statement.step() else { return [:] }
    return Dictionary(
      uniqueKeysWithValues: columns.enumerated().map {
        ($1.column ?? "", statement.value(Int32($0)))
      })
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
