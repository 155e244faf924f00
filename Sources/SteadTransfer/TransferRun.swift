import Foundation

/// One run of a transfer: carries out the decisions of ``TransferPlan``, and counts.
struct TransferRun<Value, Element> {
  typealias Batch = ItemBatch<Value, Element>
  typealias Survey = TransferSurvey<Value, Element>

  let transfer: Transfer<Value, Element>
  let reporter: ProgressReporter
  var report = TransferReport()
  /// Items of earlier runs that have changed or disappeared since, by their places in the receipt.
  var unverified: Set<Int> = []

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
      throw reporter.thrownError ?? error
    }
  }

  mutating func preview() throws -> TransferReport {
    do {
      try preparePreview()
      return report
    } catch {
      throw reporter.thrownError ?? error
    }
  }

  var source: any ItemSource<Value> { transfer.source.items }
  var destination: any ItemDestination<Element> { transfer.destination.items }
  var options: TransferOptions { transfer.options }
  var limit: Batch.Limit { destination.acceptsChunks ? transfer.limit : .none }
  var removesItems: Bool { source.isRemovable && !options.keepsSource }

  // MARK: - Steps

  private mutating func move() throws {
    var receipt = try readReceipt()
    switch receipt.state {
    case .writing: unverified = try Set(verifyPending(receipt).lost.map(\.entry))
    case .written: receipt = try finish(receipt, resumed: receipt.pendingCount)
    case .finished: break
    }
    let tag = try readVersionTag()
    if isUnchanged(receipt, tag) { return }
    let reading = try open()
    var survey = try survey(reading, receipt, checksConflicts: false)
    try removeAlreadyMoved(survey.moved, of: receipt)
    switch survey.plan.afterConversion(failed: survey.failedCount, options) {
    case .refuse: throw notConverted(survey.failedCount)
    case .nothing: try complete(receipt, receipt, tag)
    case .write:
      if let conflict = survey.conflict { throw conflict }
      try complete(write(&survey, reading, after: receipt), receipt, tag)
    }
  }

  /// Ends the run when all that there was to write is written.
  ///
  /// - Parameter before: The receipt before this run has written.
  private mutating func complete(
    _ receipt: TransferReceipt, _ before: TransferReceipt, _ tag: String?
  ) throws {
    let version = try confirmedVersion(tag)
    if receipt.pendingCount > 0 {
      _ = try finish(receipt, resumed: before.pendingCount, version)
    } else if let version, receipt.count > 0, receipt.sourceVersion != version {
      _ = try replace(receipt, with: receipt.recording(version))
    }
  }

  private mutating func preparePreview() throws {
    report.isPreview = true
    let receipt = try readReceipt()
    if receipt.state == .finished, isUnchanged(receipt, try readVersionTag()) { return }
    let survey = try survey(open(), receipt, checksConflicts: true)
    let isRefused = survey.plan.afterConversion(failed: survey.failedCount, options) == .refuse
    if !isRefused, survey.conflict == nil {
      (report.moved, report.kept) = (survey.writableCount, survey.keptCount)
      report.replaced = survey.replacedCount
    }
    if !isRefused { report.failures += survey.conflict?.failures ?? [] }
    report.completed = receipt.pendingCount
    let found = survey.plan.unfinishedCount
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

  func readReceipt() throws -> TransferReceipt {
    let receipt = try wrappingErrors("The receipt in \(destination.name) could not be read.") {
      try destination.receipt(named: transfer.id)
    }
    var known = receipt ?? .none(transfer.id)
    guard known.id == transfer.id else {
      throw TransferError(
        code: .unsupported,
        message:
          "\(destination.name) has a receipt of another transfer under this one's name. "
          + "Give the transfer another name.")
    }
    if known.count == 0 { known.source = source.stableName }
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

  /// Whether the source is as it was when all that it held had been moved; counts that then.
  private mutating func isUnchanged(_ receipt: TransferReceipt, _ tag: String?) -> Bool {
    guard let known = receipt.sourceVersion, known.tag == tag, unverified.isEmpty,
      !(options.removesAlreadyMoved && removesItems)
    else { return false }
    (report.read, report.alreadyMoved, report.left) = (known.count, known.count, known.count)
    return true
  }

  /// The mark of a source that has not changed since, and of which nothing is left to move.
  private func confirmedVersion(_ tag: String?) throws -> TransferReceipt.SourceVersion? {
    guard let tag, report.failures.isEmpty, !removesItems, try readVersionTag() == tag else {
      return nil
    }
    return TransferReceipt.SourceVersion(tag: tag, count: report.read)
  }

  func open() throws -> ItemReading<Value> {
    try reporter.send(.reading, 0, of: nil)
    return try wrappingErrors("\(source.name) could not be read.") {
      try source.open(reporter.send)
    }
  }

  func forEach(
    _ reading: ItemReading<Value>, _ body: (TransferItem<Value>) throws -> Void
  ) throws {
    try wrappingErrors("\(source.name) could not be read.") {
      try reading.forEach(reporter.send, body)
    }
  }

  // MARK: - Errors

  /// Runs a body that may fail, and gives foreign errors a message.
  func wrappingErrors<Result>(_ message: String, _ body: () throws -> Result) throws -> Result {
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
  func notConverted(_ count: Int) -> TransferError {
    TransferError(
      code: .notConverted,
      message: "\(count) of \(report.read) items of \(source.name) could not be "
        + "converted, so nothing was moved. Correct them, or accept a partial move.",
      failures: report.failures)
  }
}
