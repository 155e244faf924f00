/// The steps after all is written: reading back, removing, and the receipt.
extension TransferRun {
  /// Reads back the pending items, removes them from the source, and records that in the receipt.
  ///
  /// - Parameter resumed: How many of the items that are pending an earlier run has written.
  mutating func finish(
    _ receipt: TransferReceipt, resumed: Int, _ mark: TransferReceipt.Mark? = nil
  ) throws -> TransferReceipt {
    var (lost, entries) = try verifyPending(receipt)
    let own = receipt.movedCount + resumed
    let missing = lost.filter { $0.entry >= own }
    guard missing.isEmpty else { throw notVerified(missing.map(\.place)) }
    unverified = Set(lost.map(\.entry))
    let isResumed = receipt.state == .written && resumed == receipt.pendingCount
    var receipt = receipt
    if receipt.state == .writing {
      // From now on the next run cannot know whether the source has removed anything.
      receipt = try replace(receipt, with: receipt.completed())
      // Another process has had the source give it up.
      if receipt.state == .finished { return receipt }
    }
    if isResumed, !entries.isEmpty, !source.hasUniqueIdentities, try !isWhole(entries) {
      entries = []
    }
    let removed = try remove(entries)
    report.removed += removed
    report.completed += resumed - lost.count
    if !isResumed {
      report.left -= removed
      report.changedMeanwhile += entries.count - removed
    }
    return try replace(receipt, with: receipt.finished(mark: mark))
  }

  /// Reads back the pending items, chunk by chunk.
  ///
  /// - Returns: The entries that differ from what was written, by their places in the receipt; and the entries to
  ///   remove from the source.
  func verifyPending(
    _ receipt: TransferReceipt
  ) throws -> (lost: [(entry: Int, place: String)], removal: [TransferReceipt.Entry]) {
    var lost: [(entry: Int, place: String)] = []
    var removal: [TransferReceipt.Entry] = []
    try reporter.send(.verifying, 0, of: receipt.pendingCount)
    try forEachChunk(of: receipt, from: receipt.movedCount) { first, chunk in
      let done = first - receipt.movedCount
      let placements = chunk.placements
      let missing = Set(try verify(placements, after: done, of: receipt.pendingCount))
      for (number, placement) in placements.enumerated() where missing.contains(placement) {
        lost.append((first + number, placement.place))
      }
      guard removes else { return }
      removal += TransferPlan.removal(
        of: chunk.entries, unverified: Array(missing), options, isRemovable: source.isRemovable)
    }
    try reporter.send(.verifying, receipt.pendingCount, of: receipt.pendingCount)
    return (lost, removal)
  }

  private func isWhole(_ entries: [TransferReceipt.Entry]) throws -> Bool {
    let reading = try open()
    return try TransferPlan.isWhole(entries) { body in
      try forEach(reading) { body($0.identity) }
    }
  }

  private func forEachChunk(
    of receipt: TransferReceipt, from first: Int, _ body: (Int, ReceiptChunk) throws -> Void
  ) throws {
    var first = first
    while first < receipt.count {
      let chunk = try acting("The receipt in \(destination.name) could not be read.") {
        try destination.chunk(of: receipt, at: first)
      }
      try body(first, chunk)
      first += chunk.count
    }
  }

  private func verify(
    _ placements: [TransferPlacement], after done: Int, of total: Int
  ) throws -> [TransferPlacement] {
    try acting(
      "What was written to \(destination.name) could not be read back, and stays in the source, "
        + "too. Run again."
    ) {
      try destination.verify(placements.filter(\.isVerified)) { progress in
        try reporter.send(progress.phase, done + progress.completed, of: total)
      }
    }
  }

  private func remove(_ entries: [TransferReceipt.Entry]) throws -> Int {
    guard !entries.isEmpty else { return 0 }
    try reporter.send(.removing, 0, of: entries.count)
    let removed = try acting(
      "The items are in \(destination.name), and could not be removed from \(source.name). Make it "
        + "writable and run again, or run with keepsSource."
    ) {
      try source.remove(entries)
    }
    try reporter.send(.removing, entries.count, of: entries.count)
    return removed
  }

  func replace(
    _ receipt: TransferReceipt, with next: TransferReceipt
  ) throws -> TransferReceipt {
    do {
      try acting("The receipt in \(destination.name) could not be brought up to date. Run again.") {
        try destination.replace(next)
      }
      return next
    } catch let error as TransferError where error.code == .changed {
      // Another process has brought the same work to its end.
      let there = try readReceipt()
      guard there.state == .finished, there.movedCount >= receipt.count else { throw error }
      return there
    }
  }

  /// Removes from the source the unchanged items that earlier runs have moved.
  mutating func takeOut(_ places: [Int], of receipt: TransferReceipt) throws {
    guard !places.isEmpty else { return }
    var rest = places.sorted()[...]
    var removal: [TransferReceipt.Entry] = []
    try reporter.send(.verifying, 0, of: places.count)
    try forEachChunk(of: receipt, from: 0) { first, chunk in
      let here = rest.prefix { $0 < first + chunk.count }
      rest = rest.dropFirst(here.count)
      guard !here.isEmpty else { return }
      let all = chunk.entries
      let entries = here.map { all[$0 - first] }
      let done = places.count - rest.count - here.count
      let missing = try verify(entries.map(\.placement), after: done, of: places.count)
      removal += TransferPlan.removal(
        of: entries, unverified: missing, options, isRemovable: source.isRemovable)
    }
    try reporter.send(.verifying, places.count, of: places.count)
    let removed = try remove(removal)
    report.removed += removed
    report.left -= removed
  }

  private func notVerified(_ places: [String]) -> TransferError {
    TransferError(
      code: .notVerified,
      message:
        "\(places.count) items do not read back from \(destination.name) as they were written. "
        + "The source was left as it is. Check the disk.",
      failures: places.map {
        TransferFailure(item: $0, reason: "It does not hold what was written there.")
      })
  }
}
