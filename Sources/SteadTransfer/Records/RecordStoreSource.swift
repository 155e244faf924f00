public import SteadRecords

/// The records of a container's store as the source of a transfer: the rows of some models, or of all.
///
/// All rows are read in one snapshot. They are in memory at once, but for large external values, whose
/// files are mapped. A row's identity is its place and what it holds, so that one that has been edited
/// since it was moved is another item.
///
/// Removing deletes rows that still hold what was moved, without delete rules, in one transaction. A
/// row that stays may not lose a row that it leads to: then nothing is removed.
public struct RecordStoreSource: TransferSource {
  /// The container that is read; it has one store.
  public let container: ModelContainer
  /// The names of the models; nil for all.
  public let entities: Set<String>?
  /// Whether rows may be deleted; false for a container that was opened without saving.
  public let isRemovable: Bool
  let opened: Result<RecordsStore, TransferError>

  /// A source of the records of some models, their subclasses included, or of all.
  public init(_ container: ModelContainer, of models: [any PersistentModel.Type] = []) {
    self.container = container
    func name<M: PersistentModel>(_ type: M.Type) -> String { Schema.entityName(for: type) }
    entities = models.isEmpty ? nil : Set(models.map { name($0) })
    opened = RecordsStore.opened(container, holding: nil)
    isRemovable = container.configurations.allSatisfy(\.allowsSave)
  }

  /// `store` and the store's file name.
  public var name: String {
    "store \(container.configurations.map(\.url.lastPathComponent).sorted().joined(separator: ", "))"
  }

  /// All rows, by model and number.
  public func read(_ progress: TransferProgress.Report) throws -> [TransferItem<StoredRow>] {
    let store = try opened.get()
    return try store.reporting("read") {
      try store.rows.read { rows in
        var reader = StoreReading(rows, entities)
        return try reader.items(progress)
      }
    }
  }

  /// Deletes rows that still hold what was moved.
  ///
  /// - Throws: ``TransferError``: `.conflict` when a row that stays leads to one of them.
  public func remove(_ entries: [TransferReceipt.Entry]) throws -> Int {
    let store = try opened.get()
    return try store.reporting("written") {
      try store.rows.write { try StoreRemoval($0, entities).run(entries.map(\.identity)) }
    }
  }
}

extension RecordStoreSource: OverlapChecking {
  func overlaps(_ placements: [TransferPlacement], of destination: any TransferDestination) -> Bool
  {
    guard let other = destination as? RecordGraphDestination, let here = try? opened.get(),
      let there = try? other.opened.get()
    else { return false }
    // A copy of a store has its identifier, and is another place.
    return here.rows.identifier == there.rows.identifier
      && container.configurations.map(\.url) == other.container.configurations.map(\.url)
  }
}
