import SteadRecords

/// Reads the rows of a store as items.
struct StoreReading {
  private let rows: RowTransaction
  /// The entities whose rows are wanted, by root, in the order of their names.
  let shapes: [RowShape]
  private let readsAll: Bool
  /// What to-many relationships lead to: by relationship, then by owner.
  private var inverses: [Inverse: [Int64: [StoredRow.Key]]] = [:]

  private struct Inverse: Hashable {
    let root: String
    let column: String
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
      sum + Int(try rows.integer("SELECT count(*) FROM \(quoted(shape.root))\(test(shape))") ?? 0)
    }
    var items: [TransferItem<StoredRow>] = []
    items.reserveCapacity(total)
    for shape in shapes {
      let columns = (["_id"] + shape.columns).map(quoted).joined(separator: ", ")
      try readInverses(of: shape)
      try rows.forEach(
        "SELECT \(columns) FROM \(quoted(shape.root))\(test(shape)) ORDER BY \"_id\""
      ) { values in
        try RecordsStore.report(.reading, items.count, of: total, progress)
        items.append(try item(shape, values))
      }
    }
    if readsAll { items += try unknownRows() }
    try progress(.init(phase: .reading, completed: items.count, total: items.count))
    return items
  }

  /// The rows of classes that the container does not know.
  private func unknownRows() throws -> [TransferItem<StoredRow>] {
    var families: [String: [Int]] = [:]
    for shape in shapes {
      if let number = shape.discriminator { families[shape.root, default: []].append(number) }
    }
    return try families.sorted { $0.key < $1.key }.flatMap { root, numbers in
      let known = numbers.map(String.init).joined(separator: ", ")
      let found = try rows.select(
        "SELECT \"_id\" FROM \(quoted(root)) WHERE \"_entity\" NOT IN (\(known))")
      return found.compactMap { row -> TransferItem<StoredRow>? in
        guard case .integer(let number) = row[0] else { return nil }
        return TransferItem(
          name: "\(root) \(number)", identity: "\(root)/\(number)",
          value: .failure(
            TransferError(
              code: .unreadable,
              message:
                "The row is of a class that the container has not. Name it when the container "
                + "is made.")))
      }
    }
  }

  private func test(_ shape: RowShape) -> String {
    shape.discriminator.map { " WHERE \"_entity\" = \($0)" } ?? ""
  }

  /// Reads the destinations of relationships that lie in the destinations' own columns.
  private mutating func readInverses(of shape: RowShape) throws {
    for relationship in shape.relationships {
      guard relationship.storage == .inverse, let column = relationship.inverse else { continue }
      let key = Inverse(root: relationship.destinationRoot, column: column)
      guard inverses[key] == nil else { continue }
      var found: [Int64: [StoredRow.Key]] = [:]
      let order = quoted("_\(column)_order")
      try rows.forEach(
        "SELECT \(quoted(column)), \"_id\" FROM \(quoted(key.root)) "
          + "WHERE \(quoted(column)) IS NOT NULL "
          + "ORDER BY \(quoted(column)), \(order) IS NULL, \(order), \"_id\""
      ) { row in
        guard case .integer(let owner) = row[0], case .integer(let number) = row[1] else { return }
        found[owner, default: []].append(.init(root: key.root, number: number))
      }
      inverses[key] = found
    }
  }

  private func item(_ shape: RowShape, _ values: [SQLValue]) throws -> TransferItem<StoredRow> {
    guard case .integer(let number) = values[0] else {
      throw TransferError(code: .unreadable, message: "A row of \(shape.root) has no number.")
    }
    let cells = Array(values[1...])
    let key = StoredRow.Key(root: shape.root, number: number)
    let digest = shape.digest(cells, try shape.pairs(of: number, in: rows))
    return TransferItem(
      name: "\(shape.name) \(number)", identity: key.identity(digest: digest),
      value: Result { try row(shape, key, cells) })
  }

  private func row(
    _ shape: RowShape, _ key: StoredRow.Key, _ cells: [SQLValue]
  ) throws -> StoredRow {
    let values = Dictionary(uniqueKeysWithValues: zip(shape.columns, cells))
    var row = StoredRow(key: key, entity: shape.name, attributes: [:], relationships: [:])
    for attribute in shape.attributes {
      let value = values[attribute.name] ?? .null
      row.attributes[attribute.name] =
        attribute.isExternal ? try rows.bytes(ofExternal: value) : value
    }
    for relationship in shape.relationships {
      row.relationships[relationship.name] = try destinations(
        relationship, of: key.number, values)
    }
    return row
  }

  private func destinations(
    _ relationship: RowShape.Relationship, of number: Int64, _ values: [String: SQLValue]
  ) throws -> [StoredRow.Key] {
    let root = relationship.destinationRoot
    switch relationship.storage {
    case .column:
      guard case .integer(let target)? = values[relationship.name] else { return [] }
      return [.init(root: root, number: target)]
    case .inverse:
      return inverses[Inverse(root: root, column: relationship.inverse ?? "")]?[number] ?? []
    case .pairs(let table, let own, let other):
      return try rows.select(
        "SELECT \(other) FROM \(quoted(table)) WHERE \(own) = ?1 "
          + "ORDER BY \(own)_order IS NULL, \(own)_order, \"_id\"", [.integer(number)]
      ).compactMap {
        if case .integer(let target) = $0[0] { .init(root: root, number: target) } else { nil }
      }
    }
  }
}
