/// How a run writes: all at once, or a chunk after the other.
extension TransferRun {
  /// Writes what the survey has found to be new, in one batch, or in the same batches as the survey's.
  ///
  /// Returns the receipt that was written, or `receipt` if nothing was.
  mutating func write(
    _ survey: inout Survey, _ reading: ItemReading<Value>, after receipt: TransferReceipt
  ) throws -> TransferReceipt {
    var written = receipt
    let total = survey.plan.newCount - survey.failedCount
    if survey.fingerprints.isEmpty {
      try write(&survey.batch, &written, of: total, isLast: true)
      return written
    }
    var expected = (survey.fingerprints + [survey.batch.fingerprint])[...]
    survey.batch = Batch()
    var plan = try plan(receipt)
    var batch = Batch()
    try forEach(reading) { item in
      guard plan.verdict(item.identity) == .new else { return }
      if batch.isFull(limit) {
        try write(
          &batch, &written, of: total, isLast: false, expecting: expected.popFirst() ?? "")
        batch = Batch()
      }
      do {
        batch.append(item, try convert(item))
      } catch is Failure {
        // It is among the report's failures, or has changed, which the fingerprint tells.
      }
    }
    try write(&batch, &written, of: total, isLast: true, expecting: expected.popFirst() ?? "")
    return written
  }

  private mutating func write(
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
      try write(&batch, &receipt, of: total, isLast: isLast)
    } catch let error as TransferError where error.code == .conflict && report.moved > 0 {
      throw TransferError(
        code: .conflict,
        message: "Items have places that are taken, some perhaps by earlier items of the source. "
          + "\(report.moved) of \(total) items were written before; the next run continues after these. Give "
          + "the others other places, or leave them out by the transfer's options.",
        failures: error.failures, cause: error.cause)
    }
  }

  private mutating func write(
    _ batch: inout Batch, _ receipt: inout TransferReceipt, of total: Int, isLast: Bool
  ) throws {
    let run = self
    let before = receipt
    let written = try resolvingConflicts(of: &batch) { batch in
      try run.writeUnlessOvertaken(batch, after: before, of: total, isLast: isLast)
    }
    guard let written else { return }
    report.moved += batch.items.count
    report.kept += batch.kept.count
    report.replaced += written.replacedCount
    receipt = written.receipt
  }

  /// Writes. If the place of an element is taken, checks whether another run was faster and has written it.
  private func writeUnlessOvertaken(
    _ batch: Batch, after receipt: TransferReceipt, of total: Int, isLast: Bool
  ) throws -> (receipt: TransferReceipt, replacedCount: Int) {
    do {
      return try write(batch, after: receipt, of: total, isLast: isLast)
    } catch let error as TransferError where error.code == .conflict {
      guard try readReceipt() != receipt else { throw error }
      throw receipt.overtaken(error)
    }
  }

  private func write(
    _ batch: Batch, after receipt: TransferReceipt, of total: Int, isLast: Bool
  ) throws -> (receipt: TransferReceipt, replacedCount: Int) {
    let next = receipt.adding(batch.items.count + batch.kept.count, at: .now, isLast: isLast)
    let done = report.moved + report.kept
    func send(_ progress: TransferProgress) throws {
      try reporter.send(progress.phase, done + progress.completed, of: total)
    }
    if done == 0 { try reporter.send(.writing, 0, of: total) }
    // A source that is the destination as a whole is known before the places are.
    try refuseOverlap([])
    var replacedCount = 0
    try acting("\(destination.name) could not be written. The source was left as it is.") {
      try destination.write(elements(of: batch), next, send) { written in
        replacedCount = written.replacedCount
        return try chunk(batch, written.placements)
      }
    }
    return (next, replacedCount)
  }

  private func chunk(_ batch: Batch, _ placements: [TransferPlacement]) throws -> ReceiptChunk {
    guard placements.count == batch.items.count else {
      throw TransferError(
        code: .unsupported,
        message: "\(destination.name) has placed \(placements.count) of \(batch.items.count) "
          + "elements.")
    }
    let kept = batch.kept.map { kept in
      let place =
        switch kept.element.holder {
        case .stored(let place): place
        case .element(let element): placements[element].place
        }
      return TransferReceipt.Entry(identity: kept.item.identity, placement: .unverified(at: place))
    }
    try refuseOverlap(placements + kept.map(\.placement))
    let written = zip(batch.items, placements).map {
      TransferReceipt.Entry(identity: $0.identity, placement: $1)
    }
    return ReceiptChunk(written + kept)
  }

  /// Otherwise the written items would be removed again.
  private func refuseOverlap(_ placements: [TransferPlacement]) throws {
    guard !options.keepsSource, source.overlaps(placements, of: destination) else { return }
    throw TransferError(
      code: .conflict,
      message:
        "\(source.name) is itself where items would go, so nothing was moved. Move to another "
        + "place.")
  }
}
