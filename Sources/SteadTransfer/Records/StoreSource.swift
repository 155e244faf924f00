public import SteadRecords
import SteadSQLite

extension TransferSource where Value == StoredRow {
  /// The records of a container's only store: the rows of some models, their subclasses included,
  /// or of all.
  ///
  /// ```swift
  /// try Transfer("library", from: .store(old), to: .store(new)).run()
  /// ```
  ///
  /// All rows are read in one snapshot. They are in memory at once, except for large external
  /// values, whose files are mapped. A row's identity is its key and its contents, so a row that
  /// was edited after the move is another item.
  ///
  /// Removal deletes rows that still have the moved values in one transaction, without delete
  /// rules. If a remaining row refers to one of them, nothing is removed.
  public static func store(
    _ container: ModelContainer, of models: [any PersistentModel.Type] = []
  ) -> Self {
    Self(StoreSource(container, of: models))
  }
}

/// The records of a container's store as the source of a transfer.
struct StoreSource: ItemSource {
  /// The container that is read; it has one store.
  let container: ModelContainer
  /// The names of the models; nil for all.
  let entities: Set<String>?
  /// Whether rows may be deleted; false for a container that was opened without saving.
  let isRemovable: Bool
  /// The store, or why it can't be a source.
  let opened: Result<TransferStore, TransferError>

  /// A source of the records of some models, their subclasses included, or of all.
  init(_ container: ModelContainer, of models: [any PersistentModel.Type] = []) {
    self.container = container
    // A generic function opens the existential types of the list.
    func name<M: PersistentModel>(_ type: M.Type) -> String { Schema.entityName(for: type) }
    entities = models.isEmpty ? nil : Set(models.map { name($0) })
    // Errors are thrown by the first use, since making a source doesn't throw.
    opened = TransferStore.opened(container, holding: nil)
    isRemovable = container.configurations.allSatisfy(\.allowsSave)
  }

  /// `store` and the file's name.
  var name: String {
    "store \(container.configurations.map(\.url.lastPathComponent).sorted().joined(separator: ", "))"
  }

  /// All rows, by model and number.
  func open(_ progress: TransferProgress.Report) throws -> ItemReading<StoredRow> {
    ItemReading(try items(progress))
  }

  private func items(_ progress: TransferProgress.Report) throws -> [TransferItem<StoredRow>] {
    let store = try opened.get()
    return try store.mappingErrors("read") {
      try store.rows.read { rows in
        var reader = StoreReading(rows, entities)
        return try reader.items(progress)
      }
    }
  }

  /// Deletes rows that still have the moved values.
  ///
  /// - Throws: ``TransferError/Code/conflict`` if a remaining row refers to one of them.
  func remove(_ entries: [TransferReceipt.Entry]) throws -> Int {
    let store = try opened.get()
    return try store.mappingErrors("written") {
      try store.rows.write { try StoreRemoval($0, entities).run(entries.map(\.identity)) }
    }
  }

  /// Whether the destination is this store: the same file, not only the same store, since a copy
  /// has its identifier.
  func overlaps(_ placements: [TransferPlacement], of destination: any ItemDestination) -> Bool {
    guard let other = destination as? StoreDestination, let here = try? opened.get(),
      let there = try? other.opened.get()
    else { return false }
    // A copy of a store has its identifier, and is another file.
    return here.rows.identifier == there.rows.identifier
      && container.configurations.map(\.url) == other.container.configurations.map(\.url)
  }
}

// MARK: - Reading

/// Reads the rows of a store as items, in one transaction.
struct StoreReading {
  private let rows: RowTransaction
  /// The entities whose rows are read, by name.
  let shapes: [RowShape]
  /// Whether rows of all entities are read, also those of classes that the container doesn't have.
  private let readsAll: Bool
  /// The destinations of to-many relationships whose inverses are to-one: by relationship, then by
  /// owner. Read once for each relationship, since a query for each owner would be N+1 queries.
  private var inverses: [Inverse: [Int64: [Int64]]] = [:]

  /// The column that stores a to-many relationship, and the relationship if several share the
  /// column.
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

  /// All rows, as items.
  mutating func items(
    _ progress: TransferProgress.Report
  ) throws -> [TransferItem<StoredRow>] {
    let total = try shapes.reduce(0) { sum, shape in
      sum + (try rows.count(of: shape))
    }
    var items: [TransferItem<StoredRow>] = []
    items.reserveCapacity(total)
    for shape in shapes {
      // Before the rows of a shape, which need them.
      try readInverses(of: shape)
      try rows.forEachRow(of: shape) { row in
        try TransferStore.reportProgress(.reading, items.count, of: total, progress)
        items.append(item(row))
      }
    }
    // Rows of unknown classes belong to no selected model.
    if readsAll { items += try unknownRows() }
    try progress(.init(phase: .reading, completed: items.count, total: items.count))
    return items
  }

  /// The rows of classes that the container doesn't have, as failures: they would silently stay
  /// behind.
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

  /// Reads the destinations of relationships that are stored in the destinations' columns.
  private mutating func readInverses(of shape: RowShape) throws {
    for relationship in shape.relationships {
      guard relationship.storage == .inverse else { continue }
      let key = Inverse(relationship)
      guard inverses[key] == nil else { continue }
      inverses[key] = try rows.destinationsByOwner(of: relationship)
    }
  }

  /// A row as an item.
  private func item(_ content: RowContent) -> TransferItem<StoredRow> {
    let key = StoredRow.Key(root: content.shape.root, number: content.number)
    return TransferItem(
      name: "\(content.shape.name) \(content.number)",
      identity: key.identity(digest: content.digest),
      value: Result { try row(content, key) })
  }

  /// A row's values and relationships; reads external files.
  private func row(_ content: RowContent, _ key: StoredRow.Key) throws -> StoredRow {
    let shape = content.shape
    let values = Dictionary(uniqueKeysWithValues: zip(shape.columns, content.values))
    var row = StoredRow(key: key, entity: shape.name, attributes: [:], relationships: [:])
    for attribute in shape.attributes {
      let value = values[attribute.name] ?? .null
      // The column of an external value has the name of its file.
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

  /// The to-many relationship that has a row, if several share its to-one relationship as their
  /// inverse.
  private func list(
    _ relationship: RowShape.Relationship, _ values: [String: SQLValue]
  ) -> String? {
    guard case .column(_, let column?) = relationship.storage,
      case .integer? = values[relationship.name]
    else { return nil }
    // NULL stands for the first list.
    let number = if case .integer(let number)? = values[column] { Int(number) } else { 0 }
    return relationship.lists.first { $0.number == number }?.name
  }

  /// The numbers of the rows that a relationship leads to.
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

// MARK: - Removal

/// Deletes rows that still have the moved values.
struct StoreRemoval {
  private let rows: RowTransaction
  private let shapes: [RowShape]

  init(_ rows: RowTransaction, _ entities: Set<String>?) {
    self.rows = rows
    shapes = StoreReading(rows, entities).shapes
  }

  /// Deletes the rows with these identities, and returns their number.
  func run(_ identities: [String]) throws -> Int {
    let found = try unchanged(identities)
    guard !found.isEmpty else { return 0 }
    do {
      try rows.remove(found)
    } catch let error as RowLosses {
      throw TransferError(
        code: .conflict,
        message: "Rows that stay would lose rows that they refer to, so none was removed from the "
          + "store. Move these, too, or keep the source.",
        failures: error.losses.map {
          .init(
            item: "\($0.entity) \($0.number)",
            reason: "it or what \($0.relationship) leads to stays in the store")
        })
    }
    return found.count
  }

  /// The rows whose current contents match their identities. The others were edited since, and
  /// stay.
  private func unchanged(_ identities: [String]) throws -> [(shape: RowShape, number: Int64)] {
    var byRoot: [String: [RowShape]] = [:]
    for shape in shapes { byRoot[shape.root, default: []].append(shape) }
    // Sorted, so that rows are deleted in the same order each time.
    return try Set(identities).sorted().compactMap { identity in
      guard let key = StoredRow.Key(identity: identity) else { return nil }
      for shape in byRoot[key.root] ?? [] {
        // The key names the hierarchy, so each of its classes may have the row.
        guard let content = try rows.content(of: shape, key.number) else { continue }
        // An edited row has another identity, and stays.
        return key.identity(digest: content.digest) == identity ? (shape, key.number) : nil
      }
      return nil
    }
  }
}
