import SteadSQLite

/// Finds out what objects of a class bind.
final class RowBinding {
  private let statement: SQLiteStatement
  private let context: RowContext
  private let parameters: PropertyMap
  /// The result column of each of the shape's columns.
  private let places: [Int32?]

  init(
    _ shape: RowShape, _ entity: EntityLayout, _ blobs: BlobFiles?, _ connection: StoreConnection
  ) throws {
    let bound = entity.properties.filter { $0.column != nil }
    let marks = bound.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
    statement = try connection.statement("SELECT \(marks.isEmpty ? "NULL" : marks) AS bound")
    context = RowContext(labels: entity.labels, blobs: blobs)
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
