import Foundation

/// Finds the row, stored or about to be, that has the unique values of a new object.
struct UniqueKeys {
  private let graph: ObjectGraph
  private let connection: Connection
  /// Values claimed by new objects of this save.
  private var claimed: [Key: Int64] = [:]
  private var open: [Key] = []

  private struct Key: Hashable {
    let root: Int
    let constraint: [Int]
    let values: [SQLValue]
  }

  init(graph: ObjectGraph, store: RecordStore, connection: Connection) {
    self.graph = graph
    self.connection = connection
  }

  /// The row to update instead of inserting; nil when the values are new, which `claim` then notes.
  mutating func row(of model: any PersistentModel, _ entity: EntityLayout) throws -> Int64? {
    var found: Int64?
    open = []
    for constraint in entity.uniqueConstraints {
      let values = try self.values(of: model, entity, constraint)
      // Like SQL, nil is not equal to nil: such objects are all different.
      if values.contains(.null) { continue }
      let key = Key(root: entity.rootIndex, constraint: constraint, values: values)
      if found == nil { found = try claimed[key] ?? stored(entity, constraint, values) }
      open.append(key)
    }
    if let found { claim(found) }
    return found
  }

  mutating func claim(_ row: Int64) {
    for key in open { claimed[key] = row }
    open = []
  }

  private func stored(
    _ entity: EntityLayout, _ constraint: [Int], _ values: [SQLValue]
  ) throws -> Int64? {
    let terms = constraint.enumerated().map { place, index in
      "\(quoted(entity.properties[index].column ?? "")) = ?\(place + 1)"
    }
    return try connection.integer(
      "SELECT \"_id\" FROM \(quoted(entity.table)) WHERE \(terms.joined(separator: " AND "))",
      values)
  }

  /// The values as the columns would hold them: bound to a statement that gives them back.
  private func values(
    of model: any PersistentModel, _ entity: EntityLayout, _ constraint: [Int]
  ) throws -> [SQLValue] {
    let marks = constraint.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
    let statement = try connection.statement("SELECT \(marks)")
    statement.reset()
    defer { statement.reset() }
    let context = graph.rowContexts[entity.index]
    let map = UnsafeMutablePointer<Int32>.allocate(capacity: entity.properties.count)
    defer { map.deallocate() }
    map.initialize(repeating: 0, count: entity.properties.count)
    for (place, index) in constraint.enumerated() { map[index] = Int32(place + 1) }
    model._$bind(
      _RowWriter(
        statement: statement.pointer, parameters: map, context: .passUnretained(context)))
    try context.throwIfRejected()
    guard try statement.step() else { return [] }
    return constraint.indices.map { statement.value(Int32($0)) }
  }
}
