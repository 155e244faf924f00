import SteadRecords

/// The store of records that a transfer writes to, with its receipts.
struct TransferStore: Sendable {
  /// How many rows are handled between two calls of a progress report.
  static let reportInterval = 256

  /// Thrown to roll a transaction back in which nothing went wrong.
  struct TrialRun: Error {}

  let rows: StoreRows

  /// - Parameter entity: The entity whose store it is; nil for a container with one store.
  init(_ container: ModelContainer, holding entity: String?) throws(TransferError) {
    guard let rows = StoreRows(container, holding: entity) else {
      let problem =
        entity.map { "The container has no model \($0); name it when the container is made." }
        ?? "The container has several stores; open one for each, and move them one by one."
      throw TransferError(code: .unsupported, message: problem)
    }
    self.rows = rows
  }

  static func opened(
    _ container: ModelContainer, holding entity: String?
  ) -> Result<TransferStore, TransferError> {
    Result { () throws(TransferError) in try TransferStore(container, holding: entity) }
  }

  func receipt(named id: String) throws -> TransferReceipt? {
    try reporting("read") { try rows.read { try $0.transferReceipt(named: id) } }
  }

  func chunk(of receipt: TransferReceipt, at index: Int) throws -> ReceiptChunk {
    try reporting("read") { try rows.read { try $0.chunk(of: receipt, at: index) } }
  }

  func replace(_ receipt: TransferReceipt) throws {
    try reporting("written") { try rows.write { try $0.set(receipt) } }
  }

  /// Waits for the disk, and reads rows by a connection of its own, past the caches of all contexts.
  func verify(
    _ placements: [TransferPlacement], _ progress: TransferProgress.Report
  ) throws -> [TransferPlacement] {
    try reporting("read") {
      try rows.makeDurable()
      return try rows.read { rows in
        var wrong: [TransferPlacement] = []
        for (number, placement) in placements.enumerated() {
          try Self.report(.verifying, number, of: placements.count, progress)
          let digest = try RowReferences(placement.place)?.digest(in: rows, checksFiles: true)
          if digest != placement.digest { wrong.append(placement) }
        }
        try progress(
          .init(phase: .verifying, completed: placements.count, total: placements.count))
        return wrong
      }
    }
  }

  static func report(
    _ phase: TransferProgress.Phase, _ number: Int, of total: Int?,
    _ progress: TransferProgress.Report
  ) throws {
    guard number % reportInterval == 0 else { return }
    try progress(.init(phase: phase, completed: number, total: total))
  }

  /// Tells the store's errors as those of a transfer.
  func reporting<Result>(_ action: String, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as SwiftDataError {
      let isConflict = error == .modelValidationFailure
      throw TransferError(
        code: isConflict ? .conflict : .failed,
        message: isConflict
          ? "The store refused what was to be written; nothing was."
          : "The store of records could not be \(action). Correct what follows, and run again.",
        cause: error)
    }
  }
}
