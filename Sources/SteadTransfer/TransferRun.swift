import Foundation

/// One run of a transfer: carries out what ``TransferPlan`` decides, and counts.
///
/// The steps, and the file that has them:
///
/// 1. Read the receipt. If the last run didn't finish, verify and remove what it has written
/// (`TransferRun+Writing.swift`).
/// 2. Read the source, classify and convert its items, check for conflicts
/// (`TransferSurvey.swift`).
/// 3. Write elements and receipt, batch by batch.
/// 4. Read back, remove from the source, mark the receipt as finished.
///
/// Invariant after each step: every item is in the source or in the destination, and the receipt
/// lists each item in the destination. So the process may end anywhere.
struct TransferRun<Value, Element> {
  typealias Batch = ItemBatch<Value, Element>
  typealias Survey = TransferSurvey<Value, Element>

  /// What is moved.
  let transfer: Transfer<Value, Element>
  /// Reports progress to the caller.
  let reporter: ProgressReporter
  /// The report so far.
  var report = TransferReport()
  /// The entries of an interrupted run that don't read back as they were written, by index.
  /// Somebody has edited them since; they are neither written again nor removed from the source.
  var unverified: Set<Int> = []

  init(_ transfer: Transfer<Value, Element>, _ reporter: ProgressReporter) {
    self.transfer = transfer
    self.reporter = reporter
    report.source = transfer.source.name
  }

  /// Runs the transfer; an error of the caller's progress function is thrown as it is.
  mutating func run() throws -> TransferReport {
    do {
      try move()
      return report
    } catch {
      // A destination may have wrapped the caller's own error.
      throw reporter.thrownError ?? error
    }
  }

  /// Reports what ``run()`` would do, without a change to either store.
  mutating func preview() throws -> TransferReport {
    do {
      try preparePreview()
      return report
    } catch {
      throw reporter.thrownError ?? error
    }
  }

  /// The implementations behind the public types.
  var source: any ItemSource<Value> { transfer.source.items }
  var destination: any ItemDestination<Element> { transfer.destination.items }
  var options: TransferOptions { transfer.options }
  /// How much is written at once.
  var limit: Batch.Limit { destination.acceptsChunks ? transfer.limit : .none }
  /// Whether moved items leave the source.
  var removesItems: Bool { source.isRemovable && !options.keepsSource }

  // MARK: - Steps

  /// All steps of a run.
  private mutating func move() throws {
    var receipt = try readReceipt()
    switch receipt.state {
    // The source still has all items of that run. Those that are in the destination are unfinished
    // to the plan, and this run continues after them.
    case .writing: unverified = try Set(verifyPending(receipt).lost.map(\.entry))
    // The source may have removed the items already, so they come before anything new is read.
    case .written: receipt = try finish(receipt, resumed: receipt.pendingCount)
    case .finished: break
    }
    // Before reading: a change during the read then makes the tag differ at the end.
    let tag = try readVersionTag()
    if isUnchanged(receipt, tag) { return }
    let reading = try open()
    var survey = try survey(reading, receipt, checksConflicts: false)
    // Also if the new items are refused below: those that leave here were moved by earlier runs.
    try removeAlreadyMoved(survey.moved, of: receipt)
    switch survey.plan.afterConversion(failed: survey.failedCount, options) {
    // Nothing was written, so nothing has to be undone.
    case .refuse: throw notConverted(survey.failedCount)
    // Items of an interrupted run may be pending all the same.
    case .nothing: try complete(receipt, receipt, tag)
    case .write:
      // Only set if batches were checked before the first write.
      if let conflict = survey.conflict { throw conflict }
      try complete(write(&survey, reading, after: receipt), receipt, tag)
    }
  }

  /// Ends a run after everything is written.
  ///
  /// - Parameters:
  ///   - receipt: The receipt with everything that this run has written.
  ///   - before: The receipt before this run wrote anything.
  ///   - tag: The source's version tag before it was read.
  private mutating func complete(
    _ receipt: TransferReceipt, _ before: TransferReceipt, _ tag: String?
  ) throws {
    let version = try confirmedVersion(tag)
    if receipt.pendingCount > 0 {
      _ = try finish(receipt, resumed: before.pendingCount, version)
    } else if let version, receipt.count > 0, receipt.sourceVersion != version {
      // Nothing was written, but from now on a run can tell that the source is unchanged.
      _ = try replace(receipt, with: receipt.recording(version))
    }
  }

  /// Fills in the report of a preview.
  private mutating func preparePreview() throws {
    report.isPreview = true
    let receipt = try readReceipt()
    if receipt.state == .finished, isUnchanged(receipt, try readVersionTag()) { return }
    let survey = try survey(open(), receipt, checksConflicts: true)
    let isRefused = survey.plan.afterConversion(failed: survey.failedCount, options) == .refuse
    // A refused run writes nothing, so the preview moves nothing.
    if !isRefused, survey.conflict == nil {
      (report.moved, report.kept) = (survey.writableCount, survey.keptCount)
      report.replaced = survey.replacedCount
    }
    if !isRefused { report.failures += survey.conflict?.failures ?? [] }
    // A run would first complete what an interrupted one has written.
    report.completed = receipt.pendingCount
    let found = survey.plan.unfinishedCount
    // As in `finish`: a run would remove the unfinished items only if all of them are still in the
    // source.
    let isCertain =
      source.hasUniqueIdentities || receipt.state == .writing || found == receipt.pendingCount
    let unfinished = isCertain ? found : 0
    report.alreadyMoved = survey.plan.movedCount + found - unfinished
    guard removesItems else { return }
    report.removed =
      report.moved + report.kept + unfinished
      + (options.removesAlreadyMoved ? report.alreadyMoved : 0)
    report.left = report.read - report.removed
  }

  // MARK: - Reading

  /// The stored receipt, or an empty one; throws if it belongs to another transfer or another
  /// source.
  func readReceipt() throws -> TransferReceipt {
    let receipt = try wrappingErrors("The receipt in \(destination.name) could not be read.") {
      try destination.receipt(named: transfer.id)
    }
    var known = receipt ?? .none(transfer.id)
    // A store that finds keys inexactly could return the receipt of another transfer.
    guard known.id == transfer.id else {
      throw TransferError(
        code: .unsupported,
        message:
          "\(destination.name) has a receipt of another transfer under this one's name. "
          + "Give the transfer another name.")
    }
    // Nothing was moved yet, so any source is the right one.
    if known.count == 0 { known.source = source.stableName }
    // Identities don't tell sources apart: an item of another source that equals a moved one would
    // be taken for it, and be lost.
    guard let before = known.source, let now = source.stableName, before != now else {
      return known
    }
    throw TransferError(
      code: .unsupported,
      message:
        "The transfer \(transfer.id) has moved items from \(before), and this is \(now). Its items could "
        + "be taken for those, so nothing was moved. Give each source a transfer of its own name. Where it is the "
        + "same source, give it its name back, or reset the receipt and move all that it holds.")
  }

  private func readVersionTag() throws -> String? {
    try wrappingErrors("\(source.name) could not be read.") { try source.versionTag() }
  }

  /// Whether the source is as it was when all of its items had been moved. Fills in the report if
  /// so.
  private mutating func isUnchanged(_ receipt: TransferReceipt, _ tag: String?) -> Bool {
    // With removesAlreadyMoved the source has to be read even if it is unchanged: its items are to
    // be removed.
    guard let known = receipt.sourceVersion, known.tag == tag, unverified.isEmpty,
      !(options.removesAlreadyMoved && removesItems)
    else { return false }
    (report.read, report.alreadyMoved, report.left) = (known.count, known.count, known.count)
    return true
  }

  /// The version to record: that of a source of which everything was moved, and which didn't change
  /// during the run.
  private func confirmedVersion(_ tag: String?) throws -> TransferReceipt.SourceVersion? {
    guard let tag, report.failures.isEmpty, !removesItems, try readVersionTag() == tag else {
      return nil
    }
    return TransferReceipt.SourceVersion(tag: tag, count: report.read)
  }

  /// Opens the source.
  func open() throws -> ItemReading<Value> {
    try reporter.send(.reading, 0, of: nil)
    return try wrappingErrors("\(source.name) could not be read.") {
      try source.open(reporter.send)
    }
  }

  /// Calls a body with each item of the source.
  func forEach(
    _ reading: ItemReading<Value>, _ body: (TransferItem<Value>) throws -> Void
  ) throws {
    try wrappingErrors("\(source.name) could not be read.") {
      try reading.forEach(reporter.send, body)
    }
  }

  // MARK: - Errors

  /// Runs a body, and gives foreign errors a message that says what failed. Errors of a transfer
  /// and cancellation pass unchanged.
  func wrappingErrors<Result>(_ message: String, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as TransferError {
      throw error
      // A cancelled task isn't a failure of the store.
    } catch let error as CancellationError {
      throw error
    } catch {
      throw TransferError(code: .failed, message: message, cause: error)
    }
  }

  /// The error for items that don't convert.
  ///
  /// - Parameter count: The number of new ones. The report's failures may also have items of an
  ///   interrupted run.
  func notConverted(_ count: Int) -> TransferError {
    TransferError(
      code: .notConverted,
      message: "\(count) of \(report.read) items of \(source.name) could not be "
        + "converted, so nothing was moved. Correct them, or accept a partial move.",
      failures: report.failures)
  }
}
