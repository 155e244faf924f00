public import SteadRecords

extension TransferDestination where Element: PersistentModel {
  /// Records: the conversion makes model objects, which are saved.
  ///
  /// Objects and receipt are one transaction. What the objects' relationships reach is written with them,
  /// and verified with the first object that reaches it. An object is a new one, of no context; all are of
  /// one store. One whose `.unique` value a record has already, or another object of the same run, is a
  /// ``TransferError/Code/conflict``: nothing is written then, and no record is changed, unless the transfer's
  /// options say otherwise. With ``TransferOptions/ConflictRule/replace`` the record is updated as by a save, and the
  /// receipt of the run is read once for each chunk in which that happens.
  ///
  /// More than 4,096 objects are made and saved in chunks, and converted twice: once before anything is written. An
  /// object costs some 10 µs, and 1 KB while its chunk is written.
  public static func records(_ container: ModelContainer) -> Self {
    Self(ModelDestination<Element>(container))
  }
}

/// Records as the destination of a transfer: the conversion makes model objects, which are saved.
struct ModelDestination<Model: PersistentModel>: ItemDestination {
  /// The container that the objects are saved to.
  let container: ModelContainer
  private let opened: Result<TransferStore, TransferError>

  /// A destination in a container.
  init(_ container: ModelContainer) {
    self.container = container
    opened = TransferStore.opened(container, holding: Schema.entityName(for: Model.self))
  }

  /// `records of Draft`.
  var name: String { "records of \(Schema.entityName(for: Model.self))" }

  /// The receipt of a transfer; it lies in the store.
  func receipt(named id: String) throws -> TransferReceipt? {
    try opened.get().receipt(named: id)
  }

  func chunk(of receipt: TransferReceipt, at index: Int) throws -> ReceiptChunk {
    try opened.get().chunk(of: receipt, at: index)
  }

  /// A chunk of objects is one save.
  var takesChunks: Bool { true }

  /// Writes in a transaction that is rolled back.
  func checkFree(_ batch: ElementBatch<Model>) throws -> Int {
    let store = try opened.get()
    let writing = ModelWriting(store, batch.elements, batch.rule)
    var replacedCount = 0
    do {
      try store.reporting("read") {
        try writing.run({ _ in }) { _, written, _ in
          replacedCount = written.replacedCount
          throw TransferStore.TrialRun()
        }
      }
    } catch is TransferStore.TrialRun {
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
    try store.reporting("written") {
      try writing.run(progress) { rows, written, shared in
        try rows.set(receipt, adding: entries(written))
        try rows.renew(receipt, shared)
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

  func replace(_ receipt: TransferReceipt) throws { try opened.get().replace(receipt) }
}
