import Foundation

/// One run of a transfer: does what ``TransferPlan`` decides, and keeps the figures.
struct TransferRun<Value, Element> {
  private typealias Items = [TransferItem<Value>]

  private let transfer: Transfer<Value, Element>
  private let reporter: ProgressReporter
  private var report = TransferReport()
  /// What an earlier run has written, and is no longer there as it was written.
  private var unverified: [TransferReceipt.Entry] = []

  init(_ transfer: Transfer<Value, Element>, _ reporter: ProgressReporter) {
    self.transfer = transfer
    self.reporter = reporter
    report.source = transfer.source.name
  }

  mutating func run() throws -> TransferReport {
    do {
      try move()
      return report
    } catch {
      throw reporter.stop ?? error
    }
  }

  mutating func preview() throws -> TransferReport {
    do {
      try look()
      return report
    } catch {
      throw reporter.stop ?? error
    }
  }
}

extension TransferRun {
  private var source: any ItemSource<Value> { transfer.source.items }
  private var destination: any ItemDestination<Element> { transfer.destination.items }
  private var options: TransferOptions { transfer.options }

  private mutating func move() throws {
    var receipt = try readReceipt()
    if let unfinished = receipt, TransferPlan.isUnfinished(unfinished) {
      receipt = try finish(unfinished, isResumed: true)
    }
    let items = try read()
    let plan = TransferPlan(receipt: receipt, identities: items.map(\.identity))
    try take(plan, items)
    let converted = try convert(plan.new, of: items)
    switch plan.afterConversion(failed: converted.failed, options) {
    case .refuse: throw notConverted(converted.failed.count)
    case .nothing: break
    case .write(let new):
      var batch = Batch(positions: new, elements: converted.elements)
      let run = self
      let written = try leavingConflicts(of: &batch, items) { batch in
        let identities = batch.positions.map { items[$0].identity }
        return try run.writeUnlessOvertaken(batch.elements, identities, after: receipt)
      }
      guard let written else { return }
      report.moved = batch.positions.count
      _ = try finish(written, isResumed: false)
    }
  }

  /// Items on their way into the destination.
  private struct Batch {
    /// Their positions in what was read.
    var positions: [Int]
    var elements: [Element]
  }

  /// Calls `body` with what has free places in the destination, as far as the options have the rest left
  /// behind; nil when that is nothing.
  private mutating func leavingConflicts<Result>(
    of batch: inout Batch, _ items: Items, _ body: (Batch) throws -> Result
  ) throws -> Result? {
    while !batch.positions.isEmpty {
      do {
        return try body(batch)
      } catch var error as TransferError where error.code == .conflict && !error.elements.isEmpty {
        error.failures = zip(error.elements, error.failures).map { element, failure in
          Self.named(items[batch.positions[element]].name, failure)
        }
        guard options.conflicts == .leave else { throw error }
        report.failures += error.failures
        let taken = Set(error.elements.map { batch.positions[$0] })
        let rest = batch.positions.filter { !taken.contains($0) }
        // What was made for the first try may belong to it: model objects do.
        let again = try convert(rest, of: items)
        batch = Batch(
          positions: rest.filter { !again.failed.contains($0) }, elements: again.elements)
      }
    }
    return nil
  }

  /// A failure of a place in the destination, as one of the item that was to go there.
  private static func named(_ item: String, _ failure: TransferFailure) -> TransferFailure {
    let isSaid = failure.item == item || failure.item.hasPrefix("object ")
    let reason = isSaid ? failure.reason : "\(failure.item): \(failure.reason)"
    return TransferFailure(item: item, reason: reason, cause: failure.cause)
  }

  private mutating func look() throws {
    report.isPreview = true
    let receipt = try readReceipt()
    let items = try read()
    let plan = TransferPlan(receipt: receipt, identities: items.map(\.identity))
    let converted = try convert(plan.new, of: items)
    let isRefused = plan.afterConversion(failed: converted.failed, options) == .refuse
    report.moved = isRefused ? 0 : try free(converted, plan, items)
    report.completed = receipt?.pending.count ?? 0
    let pending = TransferPlan.removal(
      of: receipt?.pending ?? [], leftIn: items.map(\.identity))
    let isCertain = source.hasUniqueIdentities || !pending.isEmpty
    let unfinished = isCertain ? plan.unfinished.count : 0
    let alreadyMoved = plan.moved.count + plan.unfinished.count - unfinished
    report.alreadyMoved = alreadyMoved
    guard source.isRemovable, !options.keepsSource else { return }
    report.removed =
      report.moved + unfinished + (options.removesAlreadyMoved ? alreadyMoved : 0)
    report.left = report.read - report.removed
  }

  /// How many items would be written, those without a free place left out.
  private mutating func free(
    _ converted: (elements: [Element], failed: Set<Int>), _ plan: TransferPlan, _ items: Items
  ) throws -> Int {
    var batch = Batch(
      positions: plan.new.filter { !converted.failed.contains($0) }, elements: converted.elements)
    let run = self
    do {
      _ = try leavingConflicts(of: &batch, items) { batch in
        try run.acting("\(run.destination.name) could not be looked at.") {
          try run.destination.checkFree(batch.elements)
        }
      }
      return batch.positions.count
    } catch let error as TransferError where error.code == .conflict {
      report.failures += error.failures
      return 0
    }
  }

  // MARK: Steps

  private func readReceipt() throws -> TransferReceipt? {
    let receipt = try acting("The receipt in \(destination.name) could not be read.") {
      try destination.receipt(named: transfer.id)
    }
    guard let receipt, receipt.id != transfer.id else { return receipt }
    throw TransferError(
      code: .unsupported,
      message: "\(destination.name) has a receipt of another transfer in the place of this one's. "
        + "Give the transfer another name.")
  }

  private mutating func read() throws -> Items {
    try reporter.send(.reading, 0, of: nil)
    let items = try acting("\(source.name) could not be read.") { try source.read(reporter.send) }
    report.read = items.count
    report.left = items.count
    return items
  }

  private mutating func convert(
    _ new: [Int], of items: Items
  ) throws -> (elements: [Element], failed: Set<Int>) {
    var elements: [Element] = []
    var failed: Set<Int> = []
    for (done, index) in new.enumerated() {
      try reporter.send(.converting, done, of: new.count)
      let item = items[index]
      do {
        let element = try transfer.convert(item.value.get())
        try destination.check(element)
        elements.append(element)
      } catch let error as CancellationError {
        throw error
      } catch {
        failed.insert(index)
        report.failures.append(TransferFailure(item: item.name, becauseOf: error))
      }
    }
    try reporter.send(.converting, new.count, of: new.count)
    return (elements, failed)
  }

  /// Writes, and looks for a quicker run where something has the place of an element: that run may have
  /// put it there.
  private func writeUnlessOvertaken(
    _ elements: [Element], _ identities: [String], after receipt: TransferReceipt?
  ) throws -> TransferReceipt {
    do {
      return try write(elements, identities, after: receipt)
    } catch let error as TransferError where error.code == .conflict {
      guard try readReceipt() != receipt else { throw error }
      throw TransferError(
        code: .changed,
        message: "Another run of the transfer \(transfer.id) was quicker. Run it again to see what "
          + "is left.", cause: error)
    }
  }

  /// Returns the receipt that was written.
  private func write(
    _ elements: [Element], _ identities: [String], after receipt: TransferReceipt?
  ) throws -> TransferReceipt {
    let before = receipt ?? .empty(transfer.id, at: .now)
    var written = before
    try reporter.send(.writing, 0, of: elements.count)
    try acting("\(destination.name) could not be written. The source was left as it is.") {
      try destination.write(elements, reporter.send) { placements in
        guard placements.count == identities.count else {
          throw TransferError(
            code: .unsupported,
            message: "\(destination.name) has placed \(placements.count) of \(identities.count) "
              + "elements.")
        }
        try refuseOverlap(placements)
        let entries = zip(identities, placements).map {
          TransferReceipt.Entry(identity: $0, placement: $1)
        }
        written = before.written(entries, at: .now)
        return written
      }
    }
    return written
  }

  /// What was written would be removed again.
  private func refuseOverlap(_ placements: [TransferPlacement]) throws {
    guard !options.keepsSource, source.overlaps(placements, of: destination) else { return }
    throw TransferError(
      code: .conflict,
      message:
        "\(source.name) is itself where items would go, so nothing was moved. Move to another "
        + "place.")
  }

  /// Reads back what is pending, has the source give it up, and says so in the receipt.
  private mutating func finish(
    _ receipt: TransferReceipt, isResumed: Bool
  ) throws -> TransferReceipt {
    let lost = try verify(receipt.pending)
    if !lost.isEmpty {
      guard isResumed else { throw notVerified(lost) }
      let places = Set(lost)
      unverified = receipt.pending.filter { places.contains($0.placement) }
    }
    var entries = TransferPlan.removal(
      of: receipt.pending, unverified: lost, options, isRemovable: source.isRemovable)
    if isResumed, !entries.isEmpty, !source.hasUniqueIdentities {
      entries = TransferPlan.removal(of: entries, leftIn: try read().map(\.identity))
    }
    let removed = try remove(entries)
    report.removed += removed
    if isResumed {
      report.completed = receipt.pending.count - lost.count
    } else {
      report.left -= removed
      report.changedMeanwhile += entries.count - removed
    }
    return try replace(receipt, with: receipt.finished())
  }

  private func verify(_ entries: [TransferReceipt.Entry]) throws -> [TransferPlacement] {
    try reporter.send(.verifying, 0, of: entries.count)
    let lost = try acting(
      "What was written to \(destination.name) could not be read back, and stays in the source, "
        + "too. Run again."
    ) {
      try destination.verify(entries.map(\.placement), reporter.send)
    }
    try reporter.send(.verifying, entries.count, of: entries.count)
    return lost
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

  private func replace(
    _ receipt: TransferReceipt, with next: TransferReceipt
  ) throws -> TransferReceipt {
    do {
      try acting("The receipt in \(destination.name) could not be brought up to date. Run again.") {
        try destination.replace(next)
      }
      return next
    } catch let error as TransferError where error.code == .changed {
      // Another process has brought the same work to its end.
      guard let there = try readReceipt(), Set(there.moved).isSuperset(of: receipt.pending),
        !TransferPlan.isUnfinished(there)
      else { throw error }
      return there
    }
  }

  /// Counts what is in the source and in the destination, and has it removed where that is wanted.
  private mutating func take(_ plan: TransferPlan, _ items: Items) throws {
    let lost = Set(unverified)
    let (edited, moved) = plan.moved.reduce(into: ([TransferPlan.Match](), [TransferPlan.Match]()))
    { sorted, match in
      if lost.contains(match.entry) { sorted.0.append(match) } else { sorted.1.append(match) }
    }
    report.alreadyMoved = moved.count
    report.failures += edited.map { match in
      TransferFailure(
        item: items[match.item].name,
        reason:
          "It was written by a run that was cut off, and what is in the destination now is not "
          + "what was written. It stays in the source, and is not moved again.")
    }
    guard options.removesAlreadyMoved, source.isRemovable, !options.keepsSource, !moved.isEmpty
    else { return }
    let entries = moved.map(\.entry)
    let removal = TransferPlan.removal(
      of: entries, unverified: try verify(entries), options, isRemovable: source.isRemovable)
    let removed = try remove(removal)
    report.removed += removed
    report.left -= removed
  }

  // MARK: Errors

  /// Does what may fail, with a message for errors that are none of a transfer's own.
  private func acting<Result>(_ message: String, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as TransferError {
      throw error
    } catch let error as CancellationError {
      throw error
    } catch {
      throw TransferError(code: .failed, message: message, cause: error)
    }
  }

  /// - Parameter count: Without what an earlier run had written, which is among the failures, too.
  private func notConverted(_ count: Int) -> TransferError {
    TransferError(
      code: .notConverted,
      message: "\(count) of \(report.read) items of \(source.name) could not be "
        + "converted, so nothing was moved. Correct them, or accept a partial move.",
      failures: report.failures)
  }

  private func notVerified(_ lost: [TransferPlacement]) -> TransferError {
    TransferError(
      code: .notVerified,
      message:
        "\(lost.count) items do not read back from \(destination.name) as they were written. "
        + "The source was left as it is. Check the disk.",
      failures: lost.map {
        TransferFailure(item: $0.place, reason: "It does not hold what was written there.")
      })
  }
}
