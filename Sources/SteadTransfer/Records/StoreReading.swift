import SteadRecords
import SteadSQLite

/// Reads the rows of a store as items.
struct StoreReading {
  private let rows: RowTransaction
  /// The entities whose rows are wanted, by root, in the order of their names.
  let shapes: [RowShape]
  private let readsAll: Bool
  /// The destinations of to-many relationships: by relationship, then by owner.
  private var inverses: [Inverse: [Int64: [Int64]]] = [:]

  private struct Inverse: Hashable {
    let root: String
    let column: String
    let list: Int?

    init(_ relationship: RowShape.Relationship) {
      root = relationship.destinationRoot
      column = relationship.inverse ?? ""
      list = relationship.list
    }
  }

  init(_ rows: RowTransaction, _ entities: Set<String>?) {
    self.rows = rows
    readsAll = entities == nil
    shapes = rows.rows.shapes.values.filter { shape in
      entities.map { !$0.isDisjoint(with: shape.lineage) } ?? true
    }.sorted { $0.name < $1.name }
  }

  mutating func items(
    _ progress: TransferProgress.Report
  ) throws -> [TransferItem<StoredRow>] {
    let total = try shapes.reduce(0) { sum, shape in
      sum + (try rows.count(of: shape))
    }
    var items: [TransferItem<StoredRow>] = []
    items.reserveCapacity(total)
    for shape in shapes {
      try readInverses(of: shape)
      try rows.forEachRow(of: shape) { row in
        try TransferStore.report(.reading, items.count, of: total, progress)
        items.append(item(row))
      }
    }
    if readsAll { items += try unknownRows() }
    try progress(.init(phase: .reading, completed: items.count, total: items.count))
    return items
  }

  /// The rows of classes that the container does not know.
  private func unknownRows() throws -> [TransferItem<StoredRow>] {
    try rows.unknownRows().map { root, number in
      TransferItem(
        name: "\(root) \(number)", identity: "\(root)/\(number)",
        value: .failure(
          TransferError(
            code: .unreadable,
            message: "The row is of a class that the container does not have. Name it when the "
              + "container is made.")))
    }
  }

  /// Reads the destinations of relationships that lie in the destinations' own columns.
  private mutating func readInverses(of shape: RowShape) throws {
    for relationship in shape.relationships {
      guard relationship.storage == .inverse else { continue }
      let key = Inverse(relationship)
      guard inverses[key] == nil else { continue }
      inverses[key] = try rows.destinationsByOwner(of: relationship)
    }
  }

  private func item(_ content: RowContent) -> TransferItem<StoredRow> {
    let key = StoredRow.Key(root: content.shape.root, number: content.number)
    return TransferItem(
      name: "\(content.shape.name) \(content.number)",
      identity: key.identity(digest: content.digest),
      value: Result { try row(content, key) })
  }

  private func row(_ content: RowContent, _ key: StoredRow.Key) throws -> StoredRow {
    let shape = content.shape
    let values = Dictionary(uniqueKeysWithValues: zip(shape.columns, content.values))
    var row = StoredRow(key: key, entity: shape.name, attributes: [:], relationships: [:])
    for attribute in shape.attributes {
      let value = values[attribute.name] ?? .null
      row.attributes[attribute.name] =
        attribute.isExternal ? try rows.bytes(ofExternal: value) : value
    }
    for relationship in shape.relationships {
      let destinations = try destinations(relationship, of: key.number, values)
      row.relationships[relationship.name] = destinations.map {
        .init(root: relationship.destinationRoot, number: $0)
      }
      row.lists[relationship.name] = list(relationship, values)
    }
    return row
  }

  /// The destination's relationship that has a row, where several share its to-one relationship.
  private func list(
    _ relationship: RowShape.Relationship, _ values: [String: SQLValue]
  ) -> String? {
    guard case .column(_, let column?) = relationship.storage,
      case .integer? = values[relationship.name]
    else { return nil }
    let number = if case .integer(let number)? = values[column] { Int(number) } else { 0 }
    return relationship.lists.first { $0.number == number }?.name
  }

  private func destinations(
    _ relationship: RowShape.Relationship, of number: Int64, _ values: [String: SQLValue]
  ) throws -> [Int64] {
    switch relationship.storage {
    case .column:
      guard case .integer(let target)? = values[relationship.name] else { return [] }
      return [target]
    case .inverse:
      return inverses[Inverse(relationship)]?[number] ?? []
    case .pairs(let list, let isOwner):
      return try rows.destinations(in: list, of: number, isOwner: isOwner)
    }
  }
}
