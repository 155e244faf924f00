public import SteadRecords

extension TransferSource where Value == StoredRow {
  /// The records of a container's one store: the rows of some models, their subclasses included, or of all.
  ///
  /// All rows are read in one snapshot. They are in memory at once, except for large external values, whose files are
  /// mapped. A row's identity is its place and its contents, so a row that was edited after the move is another item.
  ///
  /// Removal deletes rows that still have the moved values, without delete rules, in one transaction. If a remaining
  /// row refers to one of them, nothing is removed.
  public static func store(
    _ container: ModelContainer, of models: [any PersistentModel.Type] = []
  ) -> Self {
    Self(StoreSource(container, of: models))
  }
}

/// The records of a container's store as the source of a transfer: the rows of some models, or of all.
struct StoreSource: ItemSource {
  /// The container that is read; it has one store.
  let container: ModelContainer
  /// The names of the models; nil for all.
  let entities: Set<String>?
  /// Whether rows may be deleted; false for a container that was opened without saving.
  let isRemovable: Bool
  let opened: Result<TransferStore, TransferError>

  /// A source of the records of some models, their subclasses included, or of all.
  init(_ container: ModelContainer, of models: [any PersistentModel.Type] = []) {
    self.container = container
    func name<M: PersistentModel>(_ type: M.Type) -> String { Schema.entityName(for: type) }
    entities = models.isEmpty ? nil : Set(models.map { name($0) })
    opened = TransferStore.opened(container, holding: nil)
    isRemovable = container.configurations.allSatisfy(\.allowsSave)
  }

  /// `store` and the store's file name.
  var name: String {
    "store \(container.configurations.map(\.url.lastPathComponent).sorted().joined(separator: ", "))"
  }

  /// All rows, by model and number.
  func open(_ progress: TransferProgress.Report) throws -> ItemReading<StoredRow> {
    ItemReading(try items(progress))
  }

  private func items(_ progress: TransferProgress.Report) throws -> [TransferItem<StoredRow>] {
    let store = try opened.get()
    return try store.reporting("read") {
      try store.rows.read { rows in
        var reader = StoreReading(rows, entities)
        return try reader.items(progress)
      }
    }
  }

  /// Deletes rows that still have the moved values.
  ///
  /// - Throws: ``TransferError``: `.conflict` if a row that stays refers to one of them.
  func remove(_ entries: [TransferReceipt.Entry]) throws -> Int {
    let store = try opened.get()
    return try store.reporting("written") {
      try store.rows.write { try StoreRemoval($0, entities).run(entries.map(\.identity)) }
    }
  }

  func overlaps(_ placements: [TransferPlacement], of destination: any ItemDestination) -> Bool {
    guard let other = destination as? StoreDestination, let here = try? opened.get(),
      let there = try? other.opened.get()
    else { return false }
    // A copy of a store has its identifier, and is another place.
    return here.rows.identifier == there.rows.identifier
      && container.configurations.map(\.url) == other.container.configurations.map(\.url)
  }
}
