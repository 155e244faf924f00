extension ModelContext {
  /// Saves, with more work in the same transaction, which survives a loss of power when this returns.
  ///
  /// All changes must be of the store of `rows`. If `note` throws, nothing is saved.
  ///
  /// - Parameters:
  ///   - keepsUniqueRows: Whether the attributes of a row that has the unique values of a new object stay as they
  ///     are. Otherwise the object overwrites them.
  ///   - note: Called with the transaction once the objects' rows are written, and with the new objects that stand for
  ///     another object's row, since it has their unique values, or for an earlier new object that has them.
  func save(
    in rows: StoreRows, keepsUniqueRows: Bool,
    noting note: (RowTransaction, _ sharing: Set<ObjectIdentifier>) throws -> Void
  ) throws {
    graph.keepsUniqueRows = keepsUniqueRows
    defer { graph.keepsUniqueRows = false }
    try withoutActuallyEscaping(note) { [graph] note in
      try graph.save { store, connection, writer in
        graph.placeMerged()
        let merged = graph.merged.map { ObjectIdentifier($0.duplicate) }
        try note(RowTransaction(rows, store, connection), writer.upserted.union(merged))
      }
    }
  }

  /// How many objects the inserts have added so far, including those that other objects led to.
  var insertionCount: Int { graph.pending.insertionCount }

  /// Whether a new object's relationships lead to objects of other contexts, which a save would take for
  /// rows of this one's.
  func leadsElsewhere(_ model: any PersistentModel) -> Bool {
    graph.entity(of: model).relationships.contains { index in
      switch model.content(at: index) {
      case .toOne(.model(let target)): target._$statePointer.pointee.graph !== graph
      case .toMany(let targets):
        (targets.loaded ?? []).contains {
          ($0 as? any PersistentModel)?._$statePointer.pointee.graph !== graph
        }
      default: false
      }
    }
  }

  /// Adds an object of any class, and all that its relationships reach, with the next save.
  func insertAny(_ model: any PersistentModel) { graph.insert(model) }
}
