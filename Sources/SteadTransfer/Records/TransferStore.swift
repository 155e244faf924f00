import SteadPreferences
import SteadRecords

/// The SQLite store of a container, with the receipts of transfers that it has.
struct TransferStore: Sendable {
  /// How many rows are processed between two progress reports. One report for each row would cost
  /// more than the row.
  static let reportInterval = 256

  /// Thrown to roll back a transaction that was only a check.
  struct Rollback: Error {}

  /// Access to the rows, with transactions.
  let rows: StoreRows

  /// The store of an entity, or that of a container with one store.
  ///
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

  /// The store or the error, for destinations that can't throw before they are used.
  static func opened(
    _ container: ModelContainer, holding entity: String?
  ) -> Result<TransferStore, TransferError> {
    Result { () throws(TransferError) in try TransferStore(container, holding: entity) }
  }

  /// The receipt of a transfer.
  func receipt(named id: String) throws -> TransferReceipt? {
    try mappingErrors("read") { try rows.read { try $0.transferReceipt(named: id) } }
  }

  /// The chunk of a receipt's entries that begins at an index.
  func chunk(of receipt: TransferReceipt, at index: Int) throws -> ReceiptChunk {
    try mappingErrors("read") { try rows.read { try $0.chunk(of: receipt, at: index) } }
  }

  /// Replaces the stored receipt by its successor.
  func replace(_ receipt: TransferReceipt) throws {
    try mappingErrors("written") { try rows.write { try $0.set(receipt) } }
  }

  /// Reads rows back after waiting for the disk, by a connection of its own, past the caches of all
  /// contexts.
  ///
  /// - Returns: The placements whose rows don't have the expected digest.
  func verify(
    _ placements: [TransferPlacement], _ progress: TransferProgress.Report
  ) throws -> [TransferPlacement] {
    try mappingErrors("read") {
      // The process that wrote the rows may have been killed before their durable commit, and the
      // source is cleared next.
      try rows.makeDurable()
      return try rows.read { rows in
        var wrong: [TransferPlacement] = []
        for (index, placement) in placements.enumerated() {
          try Self.reportProgress(.verifying, index, of: placements.count, progress)
          let digest = try RowReferences(placement.location)?.digest(in: rows, checksFiles: true)
          if digest != placement.digest { wrong.append(placement) }
        }
        try progress(
          .init(phase: .verifying, completed: placements.count, total: placements.count))
        return wrong
      }
    }
  }

  /// Reports progress for one in ``reportInterval`` rows.
  static func reportProgress(
    _ phase: TransferProgress.Phase, _ completed: Int, of total: Int?,
    _ progress: TransferProgress.Report
  ) throws {
    guard completed % reportInterval == 0 else { return }
    try progress(.init(phase: phase, completed: completed, total: total))
  }

  /// Runs a body, and maps the store's errors to those of a transfer.
  ///
  /// - Parameter action: `read` or `written`, for the message.
  func mappingErrors<Result>(_ action: String, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as SwiftDataError {
      // The only error that the caller can resolve is a unique value that is taken.
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

// MARK: - Receipts

extension RowTransaction {
  /// The receipt of a transfer into the store.
  ///
  /// - Throws: ``TransferError/Code/unsupported`` for a receipt of another version.
  func transferReceipt(named id: String) throws -> TransferReceipt? {
    guard let stored = try receipt(named: id) else { return nil }
    guard stored.version == TransferReceipt.version,
      let state = TransferReceipt.State(rawValue: stored.state)
    else { throw TransferReceipt.unknownVersion(stored.version) }
    return TransferReceipt(
      id: id, source: stored.source, state: state, date: stored.date, revision: stored.revision,
      movedCount: stored.moved, pendingCount: stored.pending,
      sourceVersion: stored.mark.map {
        TransferReceipt.SourceVersion(tag: $0.text, count: $0.count)
      })
  }

  /// The chunk of a receipt's entries that begins at an index.
  func chunk(of receipt: TransferReceipt, at index: Int) throws -> ReceiptChunk {
    // Another process has folded the chunks, or emptied the receipt.
    guard let data = try receiptEntries(of: receipt.id, at: index) else {
      throw receipt.superseded(nil)
    }
    return try PropertyList.parse(data).decoded(as: ReceiptChunk.self)
  }

  /// Stores a receipt, and a chunk of new entries if there is one.
  ///
  /// Both are part of this transaction, which also has the rows. After a crash, either all of it is
  /// there or nothing.
  ///
  /// - Throws: ``TransferError/Code/changed`` if it isn't the successor of the stored one.
  func set(_ receipt: TransferReceipt, adding chunk: ReceiptChunk? = nil) throws {
    let current = try transferReceipt(named: receipt.id)
    try receipt.checkFollows(current)
    try save(
      StoreReceipt(
        id: receipt.id, source: receipt.source, version: TransferReceipt.version,
        state: receipt.state.rawValue,
        date: receipt.date, revision: receipt.revision, moved: receipt.movedCount,
        pending: receipt.pendingCount, mark: receipt.sourceVersion.map { ($0.tag, $0.count) }))
    // Only an emptied receipt has no entries, and the chunks of the former ones go.
    if receipt.count == 0 { try removeReceiptEntries(of: receipt.id, in: 0..<Int.max) }
    if let chunk, chunk.count > 0 {
      let first = current?.count ?? 0
      try save(chunk, of: receipt, at: first..<first + chunk.count)
    }
    // Once for each run: chunks of the same run can't change any more.
    if receipt.state == .finished, let current, current.pendingCount > 0 {
      try fold(receipt, from: current.movedCount)
    }
  }

  /// Updates the digests of entries whose rows this run has written again.
  ///
  /// An object may lead to a record that an earlier chunk of the run has written, and with the rule
  /// `.replace` it changes that record. The entry's digest would then be outdated, and verification
  /// would fail.
  ///
  /// - Parameter shared: The rows that were written again.
  func refreshDigests(_ receipt: TransferReceipt, _ shared: SharedRows) throws {
    // The usual case: no record was written twice.
    guard !shared.all.isEmpty else { return }
    for range in try receiptChunks(of: receipt.id, from: receipt.movedCount) {
      var entries = try chunk(of: receipt, at: range.lowerBound).entries
      var isChanged = false
      // Kept values have no digest to refresh.
      for index in entries.indices where entries[index].placement.isVerified {
        guard let references = RowReferences(entries[index].placement.location),
          references.references.contains(where: { contains($0, shared) }),
          let digest = try references.digest(in: self, checksFiles: false),
          digest != entries[index].placement.digest
        else { continue }
        entries[index].placement.digest = digest
        isChanged = true
      }
      if isChanged { try save(ReceiptChunk(entries), of: receipt, at: range) }
    }
  }

  /// Whether a row is among those that were written again.
  private func contains(_ reference: RowReferences.Reference, _ shared: SharedRows) -> Bool {
    guard let shape = rows.shapes[reference.entity] else { return false }
    return shared.all.contains(.init(root: shape.root, number: reference.number))
  }

  /// Stores a chunk as a binary property list.
  private func save(
    _ chunk: ReceiptChunk, of receipt: TransferReceipt, at range: Range<Int>
  ) throws {
    // Nil only for a nil, which no chunk is.
    guard let stored = try PropertyList.encoded(chunk) else { return }
    try saveReceiptEntries(stored.data(format: .binary), of: receipt.id, at: range)
  }

  /// Joins neighbouring chunks of few entries, from the one before an entry on.
  private func fold(_ receipt: TransferReceipt, from index: Int) throws {
    // Chunks before this one are full, except for the last of them.
    let earliest = max(0, index - ReceiptChunk.foldLimit)
    var last: Range<Int>?
    for range in try receiptChunks(of: receipt.id, from: earliest) {
      // Chunks that end before this run's first entry were folded when their runs ended.
      guard let before = last, before.upperBound == range.lowerBound, range.upperBound > index,
        before.count + range.count <= ReceiptChunk.foldLimit,
        let both = try chunk(of: receipt, at: before.lowerBound)
          .folded(with: chunk(of: receipt, at: range.lowerBound))
      else {
        last = range
        continue
      }
      let whole = before.lowerBound..<range.upperBound
      try save(both, of: receipt, at: whole)
      last = whole
    }
  }
}
