/// The steps that change the stores.
extension TransferRun {
  /// Writes the new items, in one batch or in the same batches as the survey's.
  ///
  /// With several batches the source is read a second time. The receipt is in the state `writing`
  /// until the last batch, so that a run after a crash knows that the source still has everything.
  ///
  /// - Returns: The receipt that was written; `receipt` if nothing was.
  mutating func write(
    _ survey: inout Survey, _ reading: ItemReading<Value>, after receipt: TransferReceipt
  ) throws -> TransferReceipt {
    var written = receipt
    let total = survey.plan.newCount - survey.failedCount
    // Everything fits into one batch, which is still in memory.
    if survey.fingerprints.isEmpty {
      try writeResolvingConflicts(&survey.batch, &written, of: total, isLast: true)
      return written
    }
    // The batches of the second pass must have the fingerprints of the first.
    var expected = (survey.fingerprints + [survey.batch.fingerprint])[...]
    // Released: the second pass converts its items again.
    survey.batch = Batch()
    // From the receipt before this run, so that the same items are new as in the survey.
    var plan = try plan(receipt)
    var batch = Batch()
    try forEach(reading) { item in
      guard plan.classify(item.identity) == .new else { return }
      // Cut at the same items as in the survey, or the fingerprints would differ.
      if batch.isFull(limit) {
        try writeIfUnchanged(
          &batch, &written, of: total, isLast: false, expecting: expected.popFirst() ?? "")
        batch = Batch()
      }
      do {
        batch.append(item, try convert(item))
      } catch is Failure {
        // Among the report's failures, as in the survey. If not, the fingerprint differs.
      }
    }
    try writeIfUnchanged(
      &batch, &written, of: total, isLast: true, expecting: expected.popFirst() ?? "")
    return written
  }

  /// Writes a batch if it has the same items as in the survey. Otherwise the source changed between
  /// the passes, and what was checked isn't what would be written.
  private mutating func writeIfUnchanged(
    _ batch: inout Batch, _ receipt: inout TransferReceipt, of total: Int, isLast: Bool,
    expecting fingerprint: String
  ) throws {
    guard batch.fingerprint == fingerprint else {
      throw TransferError(
        code: .changed,
        message:
          "\(source.name) changed while it was being read. \(report.moved) of its items are in "
          + "\(destination.name). Run again: the next run continues after these.")
    }
    do {
      try writeResolvingConflicts(&batch, &receipt, of: total, isLast: isLast)
    } catch let error as TransferError where error.code == .conflict && report.moved > 0 {
      throw TransferError(
        code: .conflict,
        message: "Items have places that are taken, some perhaps by earlier items of the source. "
          + "\(report.moved) of \(total) items were written before; the next run continues after these. Give "
          + "the others other places, or leave them out by the transfer's options.",
        failures: error.failures, cause: error.cause)
    }
  }

  /// Writes a batch, resolves its conflicts by the rule, and counts.
  private mutating func writeResolvingConflicts(
    _ batch: inout Batch, _ receipt: inout TransferReceipt, of total: Int, isLast: Bool
  ) throws {
    // A copy: the closure can't use `self` while the call changes it.
    let run = self
    let before = receipt
    let written = try resolvingConflicts(of: &batch) { batch in
      try run.writeUnlessSuperseded(batch, after: before, of: total, isLast: isLast)
    }
    // No item of the batch is left to write.
    guard let written else { return }
    report.moved += batch.items.count
    report.kept += batch.kept.count
    report.replaced += written.replacedCount
    receipt = written.receipt
  }

  /// Writes a batch. On a conflict, checks whether another process that runs the same transfer was
  /// faster: then the places are taken by the same items, and the remedy is to run again.
  private func writeUnlessSuperseded(
    _ batch: Batch, after receipt: TransferReceipt, of total: Int, isLast: Bool
  ) throws -> (receipt: TransferReceipt, replacedCount: Int) {
    do {
      return try writeToDestination(batch, after: receipt, of: total, isLast: isLast)
    } catch let error as TransferError where error.code == .conflict {
      // An unchanged receipt means that the conflict is a real one.
      guard try readReceipt() != receipt else { throw error }
      throw receipt.superseded(error)
    }
  }

  /// Writes a batch with its receipt.
  private func writeToDestination(
    _ batch: Batch, after receipt: TransferReceipt, of total: Int, isLast: Bool
  ) throws -> (receipt: TransferReceipt, replacedCount: Int) {
    // Kept items count as moved, so they have entries, too.
    let next = receipt.adding(batch.items.count + batch.kept.count, at: .now, isLast: isLast)
    let done = report.moved + report.kept
    // The destination counts within the batch, and the caller's progress across all of them.
    func send(_ progress: TransferProgress) throws {
      try reporter.send(progress.phase, done + progress.completed, of: total)
    }
    // Only before the first batch, since progress counts across all of them.
    if done == 0 { try reporter.send(.writing, 0, of: total) }
    // A source that is the destination as a whole is known before any location is.
    try checkOverlap([])
    var replacedCount = 0
    try wrappingErrors("\(destination.name) could not be written. The source was left as it is.") {
      try destination.write(elements(of: batch), next, send) { written in
        // Within the destination's transaction, between the write and the commit.
        replacedCount = written.replacedCount
        return try chunk(batch, written.placements)
      }
    }
    return (next, replacedCount)
  }

  /// The entries for a batch that was written: those of its elements, then those of the kept items.
  private func chunk(_ batch: Batch, _ placements: [TransferPlacement]) throws -> ReceiptChunk {
    // An entry without an element would remove an item that was never written.
    guard placements.count == batch.items.count else {
      throw TransferError(
        code: .unsupported,
        message: "\(destination.name) has placed \(placements.count) of \(batch.items.count) "
          + "elements.")
    }
    let kept = batch.kept.map { kept in
      let location =
        switch kept.element.occupant {
        case .stored(let location): location
        case .element(let element): placements[element].location
        }
      return TransferReceipt.Entry(
        identity: kept.item.identity, placement: .unverified(at: location))
    }
    try checkOverlap(placements + kept.map(\.placement))
    let written = zip(batch.items, placements).map {
      TransferReceipt.Entry(identity: $0.identity, placement: $1)
    }
    return ReceiptChunk(written + kept)
  }

  /// Throws if the source is what is written to: removing the moved items would remove the written
  /// ones.
  private func checkOverlap(_ placements: [TransferPlacement]) throws {
    guard !options.keepsSource, source.overlaps(placements, of: destination) else { return }
    throw TransferError(
      code: .conflict,
      message:
        "\(source.name) is itself where items would go, so nothing was moved. Move to another "
        + "place.")
  }

  // MARK: - Verification and removal

  /// Verifies the pending items, removes them from the source, and marks the receipt as finished.
  ///
  /// The order matters. Nothing is removed before it was read back. The state `written` is stored
  /// before the first removal, since from then on a run after a crash can't know whether the source
  /// has removed anything.
  ///
  /// - Parameters:
  ///   - receipt: The receipt with the pending entries.
  ///   - resumed: How many of these an interrupted run has written; they come first.
  ///   - sourceVersion: The version to record.
  mutating func finish(
    _ receipt: TransferReceipt, resumed: Int, _ sourceVersion: TransferReceipt.SourceVersion? = nil
  ) throws -> TransferReceipt {
    var (lost, entries) = try verifyPending(receipt)
    let own = receipt.movedCount + resumed
    // What this run has written must read back now. What an interrupted run has written may have
    // been edited since, which is no error.
    let missing = lost.filter { $0.entry >= own }
    guard missing.isEmpty else { throw notVerified(missing.map(\.location)) }
    unverified = Set(lost.map(\.entry))
    // Then this run has written nothing of what is pending.
    let isResumed = receipt.state == .written && resumed == receipt.pendingCount
    var receipt = receipt
    if receipt.state == .writing {
      // From now on the next run cannot know whether the source has removed anything.
      receipt = try replace(receipt, with: receipt.completed())
      // Another process has verified and removed the same items.
      if receipt.state == .finished { return receipt }
    }
    // Only the interrupted run may have removed items: those of this run are in the source.
    if isResumed, !entries.isEmpty, !source.hasUniqueIdentities, try !areAllPresent(entries) {
      entries = []
    }
    let removed = try remove(entries)
    // Added, since a run may remove several times: for an interrupted run, items moved earlier, and
    // its own.
    report.removed += removed
    // What an interrupted run has written and doesn't read back counts as a failure.
    report.completed += resumed - lost.count
    if !isResumed {
      // `left` counts items that this run has read. Those of an interrupted run were removed
      // before.
      report.left -= removed
      report.changedMeanwhile += entries.count - removed
    }
    return try replace(receipt, with: receipt.finished(sourceVersion: sourceVersion))
  }

  /// Reads back the pending items, chunk by chunk.
  ///
  /// - Returns: The entries that don't read back, by index, with their locations; and the entries
  ///   to remove from the source.
  func verifyPending(
    _ receipt: TransferReceipt
  ) throws -> (lost: [(entry: Int, location: String)], removal: [TransferReceipt.Entry]) {
    var lost: [(entry: Int, location: String)] = []
    var removal: [TransferReceipt.Entry] = []
    try reporter.send(.verifying, 0, of: receipt.pendingCount)
    try forEachChunk(of: receipt, from: receipt.movedCount) { first, chunk in
      // Progress counts the pending entries, and the index all.
      let done = first - receipt.movedCount
      let placements = chunk.placements
      let missing = Set(try verify(placements, after: done, of: receipt.pendingCount))
      for (index, placement) in placements.enumerated() where missing.contains(placement) {
        lost.append((first + index, placement.location))
      }
      // Millions of entries needn't be unpacked if nothing is removed.
      guard removesItems else { return }
      removal += TransferPlan.removal(
        of: chunk.entries, unverified: Array(missing), options, isRemovable: source.isRemovable)
    }
    try reporter.send(.verifying, receipt.pendingCount, of: receipt.pendingCount)
    return (lost, removal)
  }

  /// Whether the source still has the items of all entries.
  private func areAllPresent(_ entries: [TransferReceipt.Entry]) throws -> Bool {
    let reading = try open()
    return try TransferPlan.areAllPresent(entries) { body in
      try forEach(reading) { body($0.identity) }
    }
  }

  /// Calls a body with each chunk of a receipt from an entry on, and the index of its first entry.
  private func forEachChunk(
    of receipt: TransferReceipt, from first: Int, _ body: (Int, ReceiptChunk) throws -> Void
  ) throws {
    var first = first
    while first < receipt.count {
      let chunk = try wrappingErrors("The receipt in \(destination.name) could not be read.") {
        try destination.chunk(of: receipt, at: first)
      }
      try body(first, chunk)
      first += chunk.count
    }
  }

  /// The placements that don't read back. Kept values are not verified.
  private func verify(
    _ placements: [TransferPlacement], after done: Int, of total: Int
  ) throws -> [TransferPlacement] {
    try wrappingErrors(
      "What was written to \(destination.name) could not be read back, and stays in the source, "
        + "too. Run again."
    ) {
      try destination.verify(placements.filter(\.isVerified)) { progress in
        try reporter.send(progress.phase, done + progress.completed, of: total)
      }
    }
  }

  /// Removes items from the source, and returns how many were removed.
  private func remove(_ entries: [TransferReceipt.Entry]) throws -> Int {
    guard !entries.isEmpty else { return 0 }
    try reporter.send(.removing, 0, of: entries.count)
    let removed = try wrappingErrors(
      "The items are in \(destination.name), and could not be removed from \(source.name). Make it "
        + "writable and run again, or run with keepsSource."
    ) {
      try source.remove(entries)
    }
    try reporter.send(.removing, entries.count, of: entries.count)
    return removed
  }

  /// Replaces the receipt by a successor. If another process did the same work faster, its receipt
  /// is the result.
  func replace(
    _ receipt: TransferReceipt, with next: TransferReceipt
  ) throws -> TransferReceipt {
    do {
      try wrappingErrors(
        "The receipt in \(destination.name) could not be brought up to date. Run again."
      ) {
        try destination.replace(next)
      }
      return next
    } catch let error as TransferError where error.code == .changed {
      // Another process has finished the work that this receipt describes.
      let current = try readReceipt()
      // Only if it lists everything that this receipt does; otherwise the work isn't done.
      guard current.state == .finished, current.movedCount >= receipt.count else { throw error }
      return current
    }
  }

  /// Removes items from the source that earlier runs have moved, if they read back unchanged
  /// (``TransferOptions/removesAlreadyMoved``).
  mutating func removeAlreadyMoved(_ indices: [Int], of receipt: TransferReceipt) throws {
    guard !indices.isEmpty else { return }
    // Chunks are read once and in order, so the indices are, too.
    var rest = indices.sorted()[...]
    var removal: [TransferReceipt.Entry] = []
    try reporter.send(.verifying, 0, of: indices.count)
    try forEachChunk(of: receipt, from: 0) { first, chunk in
      let here = rest.prefix { $0 < first + chunk.count }
      rest = rest.dropFirst(here.count)
      guard !here.isEmpty else { return }
      let all = chunk.entries
      let entries = here.map { all[$0 - first] }
      let done = indices.count - rest.count - here.count
      let missing = try verify(entries.map(\.placement), after: done, of: indices.count)
      removal += TransferPlan.removal(
        of: entries, unverified: missing, options, isRemovable: source.isRemovable)
    }
    try reporter.send(.verifying, indices.count, of: indices.count)
    let removed = try remove(removal)
    report.removed += removed
    report.left -= removed
  }

  /// The error for items of this run that don't read back.
  private func notVerified(_ locations: [String]) -> TransferError {
    TransferError(
      code: .notVerified,
      message:
        "\(locations.count) items do not read back from \(destination.name) as they were written. "
        + "The source was left as it is. Check the disk.",
      failures: locations.map {
        TransferFailure(item: $0, reason: "It does not hold what was written there.")
      })
  }
}
