public import SteadRecords

extension TransferDestination where Element: PersistentModel {
  /// Records: the conversion makes model objects, which are saved.
  ///
  /// ```swift
  /// Transfer("drafts", from: .json(url, of: Entry.self), to: .records(container)) { Draft(title: $0.title) }
  /// ```
  ///
  /// The conversion must return a new object that belongs to no context. Objects that its
  /// relationships lead to are saved with it, and verified with the first object that leads to
  /// them. All objects are of one store.
  ///
  /// Objects and receipt are one transaction. An object whose `.unique` value a record or another
  /// object of the run has is a ``TransferError/Code/conflict``: nothing is written then, unless
  /// the transfer's options say otherwise. With ``TransferOptions/ConflictRule/replace`` the record
  /// is updated as by a save; the receipt of the run is then read once for each chunk in which that
  /// happens.
  ///
  /// More than 4,096 objects are saved in chunks, and converted twice: once before anything is
  /// written. An object costs some 10 µs, and 1 KB while its chunk is written.
  public static func records(_ container: ModelContainer) -> Self {
    Self(ModelDestination<Element>(container))
  }
}

/// The records of a model as the destination of objects.
struct ModelDestination<Model: PersistentModel>: ItemDestination {
  /// The container that the objects are saved to.
  let container: ModelContainer
  /// The store, or why it can't be a destination.
  private let opened: Result<TransferStore, TransferError>

  /// A destination in a container. Errors are thrown when it is used.
  init(_ container: ModelContainer) {
    self.container = container
    opened = TransferStore.opened(container, holding: Schema.entityName(for: Model.self))
  }

  /// `records of Draft`.
  var name: String { "records of \(Schema.entityName(for: Model.self))" }

  /// The receipt of a transfer, which is in the store itself.
  func receipt(named id: String) throws -> TransferReceipt? {
    try opened.get().receipt(named: id)
  }

  /// The chunk of a receipt's entries that begins at an index.
  func chunk(of receipt: TransferReceipt, at index: Int) throws -> ReceiptChunk {
    try opened.get().chunk(of: receipt, at: index)
  }

  /// True: each chunk of objects is one save.
  var acceptsChunks: Bool { true }

  /// Saves the objects in a transaction that is rolled back.
  func checkConflicts(_ batch: ElementBatch<Model>) throws -> Int {
    let store = try opened.get()
    let writing = ModelWriting(store, batch.elements, batch.rule)
    var replacedCount = 0
    do {
      try store.mappingErrors("read") {
        try writing.run({ _ in }) { _, written, _ in
          replacedCount = written.replacedCount
          // The only way out of the transaction without a commit.
          throw TransferStore.Rollback()
        }
      }
    } catch is TransferStore.Rollback {
      // All have their places.
    }
    return replacedCount
  }

  /// Saves objects and receipt in one transaction, durably.
  func write(
    _ batch: ElementBatch<Model>, _ receipt: TransferReceipt, _ progress: TransferProgress.Report,
    entries: (WrittenElements) throws -> ReceiptChunk
  ) throws {
    let store = try opened.get()
    let writing = ModelWriting(store, batch.elements, batch.rule)
    try store.mappingErrors("written") {
      try writing.run(progress) { rows, written, shared in
        try rows.set(receipt, adding: entries(written))
        // After the receipt is stored: its new entries may be outdated, too.
        try rows.refreshDigests(receipt, shared)
      }
    }
    let count = batch.elements.count
    try progress(.init(phase: .writing, completed: count, total: count))
  }

  /// Compares the rows, read by a connection of their own, with the placements' digests.
  func verify(
    _ placements: [TransferPlacement], _ progress: TransferProgress.Report
  ) throws -> [TransferPlacement] {
    try opened.get().verify(placements, progress)
  }

  /// Replaces the stored receipt by its successor.
  func replace(_ receipt: TransferReceipt) throws { try opened.get().replace(receipt) }
}

// MARK: - Writing

/// One save of new objects, together with more work in the same transaction.
struct ModelWriting {
  /// The store that the objects are saved to.
  private let store: TransferStore
  /// The new objects.
  private let elements: [any PersistentModel]
  /// What becomes of objects whose unique values are taken.
  private let rule: ObjectBatch.Rule

  init(
    _ store: TransferStore, _ elements: [any PersistentModel], _ rule: TransferOptions.ConflictRule
  ) {
    self.store = store
    self.elements = elements
    self.rule =
      switch rule {
      case .replace: .replace
      case .keepExisting: .keep
      // `.leave` and `.stop`: the run decides what becomes of the refused objects.
      default: .refuse
      }
  }

  /// Saves the objects, then calls `finish` in the same transaction with their placements, and with
  /// the rows that several objects lead to.
  func run(
    _ progress: TransferProgress.Report,
    _ finish: (RowTransaction, WrittenElements, SharedRows) throws -> Void
  ) throws {
    do {
      // Finds the objects that relationships lead to, and refuses those of contexts.
      let batch = try ObjectBatch(elements, in: store.rows)
      try batch.save(rule) { rows, shared in
        var written = WrittenElements(placements: [], replacedCount: shared.objectCount)
        written.placements.reserveCapacity(batch.groups.count)
        for (index, group) in batch.groups.enumerated() {
          try TransferStore.reportProgress(.writing, index, of: batch.groups.count, progress)
          written.placements.append(try Self.placement(of: group, index, rows, shared))
        }
        try finish(rows, written, shared)
      }
    } catch let refusal as ObjectBatch.Refusal {
      throw Self.error(refusal)
    }
  }

  /// A transfer's error for objects that the store refuses.
  private static func error(_ refusal: ObjectBatch.Refusal) -> TransferError {
    func failure(_ index: Int, _ reason: String) -> TransferFailure {
      .init(item: "object \(index)", reason: reason)
    }
    return switch refusal {
    case .notNew(let numbers):
      TransferError(
        code: .unsupported,
        message: "The conversion must make a new object for each item, and insert it nowhere.",
        failures: numbers.map { failure($0, "it belongs to a context already") })
    case .elsewhere:
      TransferError(
        code: .unsupported,
        message: "The conversion made objects of several stores, of models that the container does "
          + "not have, or that lead to objects of a context. Move each store's by itself, name all "
          + "models when the container is made, and make new objects for relationships.")
    case .taken(let taken):
      .conflict(
        ofUniqueValues: taken.map { taken in
          let occupant = occupant(of: taken)
          return ElementConflict(
            element: taken.index, occupant: occupant,
            failure: failure(
              taken.index,
              taken.row == nil
                ? "a record or another item has the unique value of an object that it leads to"
                : Occupant.reason(ofUniqueValue: occupant)))
        })
    }
  }

  /// What has an object's unique value.
  private static func occupant(of taken: ObjectBatch.Taken) -> Occupant? {
    taken.holder.map { .element($0) } ?? taken.row.map { .stored(RowReferences([$0]).text) }
  }

  /// The placement of an object and of those that it leads to, read back from their rows.
  private static func placement(
    of group: [any PersistentModel], _ index: Int, _ rows: RowTransaction, _ shared: SharedRows
  ) throws -> TransferPlacement {
    let contents = try group.map { model in
      let content =
        // A row that several objects lead to has what all of them wrote.
        try shared.contains(model, in: rows.rows)
        ? rows.sharedContent(of: model) : rows.content(of: model)
      // Read back in the transaction, as for rows of another store.
      guard let content else { throw notWritten(index) }
      return content
    }
    let references = RowReferences(contents.map { ($0.shape.name, $0.number) })
    return TransferPlacement(
      location: references.text, digest: RowReferences.joined(contents.map(\.digest)))
  }

  /// The error for an object whose row doesn't have its values.
  private static func notWritten(_ index: Int) -> TransferError {
    TransferError(
      code: .notVerified,
      message:
        "The store does not hold what was written. Nothing was kept; check the disk, and run "
        + "again.",
      failures: [.init(item: "object \(index)", reason: "its row has other values")])
  }
}
