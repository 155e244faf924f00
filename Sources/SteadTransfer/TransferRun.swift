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
  var source: any ItemSource<Value> { transfer.source.items }
  var destination: any ItemDestination<Element> { transfer.destination.items }
  var options: TransferOptions { transfer.options }
  var limit: Batch.Limit { destination.takesChunks ? transfer.limit : .none }
  var removes: Bool { source.isRemovable && !options.keepsSource }

  private mutating func move() throws {
    var receipt = try readReceipt()
    switch receipt.state {
    case .writing: unverified = try Set(verifyPending(receipt).lost.map(\.entry))
    case .written: receipt = try finish(receipt, resumed: receipt.pendingCount)
    case .finished: break
    }
    let mark = try readMark()
    if isUnchanged(receipt, mark) { return }
    let reading = try open()
    var survey = try survey(reading, receipt, checksPlaces: false)
    try takeOut(survey.moved, of: receipt)
    switch survey.plan.afterConversion(failed: survey.failedCount, options) {
    case .refuse: throw notConverted(survey.failedCount)
    case .nothing: try settle(receipt, receipt, mark)
    case .write:
      if let conflict = survey.conflict { throw conflict }
      try settle(write(&survey, reading, after: receipt), receipt, mark)
    }
  }

  /// Ends the run when all that there was to write is written.
  ///
  /// - Parameter before: The receipt before this run has written.
  private mutating func settle(
    _ receipt: TransferReceipt, _ before: TransferReceipt, _ mark: String?
  ) throws {
    let mark = try certain(mark)
    if receipt.pendingCount > 0 {
      _ = try finish(receipt, resumed: before.pendingCount, mark)
    } else if let mark, receipt.count > 0, receipt.mark != mark {
      _ = try replace(receipt, with: receipt.marked(mark))
    }
  }

  private mutating func look() throws {
    report.isPreview = true
    let receipt = try readReceipt()
    if receipt.state == .finished, isUnchanged(receipt, try readMark()) { return }
    let survey = try survey(open(), receipt, checksPlaces: true)
    let isRefused = survey.plan.afterConversion(failed: survey.failedCount, options) == .refuse
    if !isRefused, survey.conflict == nil {
      (report.moved, report.kept) = (survey.freeCount, survey.keptCount)
      report.replaced = survey.replacedCount
    }
    if !isRefused { report.failures += survey.conflict?.failures ?? [] }
    report.completed = receipt.pendingCount
    let found = survey.plan.unfinishedCount
    let isCertain =
      source.hasUniqueIdentities || receipt.state == .writing || found == receipt.pendingCount
    let unfinished = isCertain ? found : 0
    report.alreadyMoved = survey.plan.movedCount + found - unfinished
    guard removes else { return }
    report.removed =
      report.moved + report.kept + unfinished
      + (options.removesAlreadyMoved ? report.alreadyMoved : 0)
    report.left = report.read - report.removed
  }

  // MARK: Reading

  func readReceipt() throws -> TransferReceipt {
    let receipt = try acting("The receipt in \(destination.name) could not be read.") {
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
    if known.count == 0 { known.source = source.lastingName }
    guard let before = known.source, let now = source.lastingName, before != now else {
      return known
    }
    throw TransferError(
      code: .unsupported,
      message:
        "The transfer \(transfer.id) has moved items from \(before), and this is \(now). Its items could "
        + "be taken for those, so nothing was moved. Give each source a transfer of its own name. Where it is the "
        + "same source, give it its name back, or reset the receipt and move all that it holds.")
  }

  private func readMark() throws -> String? {
    try acting("\(source.name) could not be read.") { try source.mark() }
  }

  /// Whether the source is as it was when all that it held had been moved; counts that then.
  private mutating func isUnchanged(_ receipt: TransferReceipt, _ mark: String?) -> Bool {
    guard let known = receipt.mark, known.text == mark, unverified.isEmpty,
      !(options.removesAlreadyMoved && removes)
    else { return false }
    (report.read, report.alreadyMoved, report.left) = (known.count, known.count, known.count)
    return true
  }

  /// The mark of a source that has not changed since, and of which nothing is left to move.
  private func certain(_ mark: String?) throws -> TransferReceipt.Mark? {
    guard let mark, report.failures.isEmpty, !removes, try readMark() == mark else { return nil }
    return TransferReceipt.Mark(text: mark, count: report.read)
  }

  func open() throws -> ItemReading<Value> {
    try reporter.send(.reading, 0, of: nil)
    return try acting("\(source.name) could not be read.") { try source.open(reporter.send) }
  }

  func forEach(
    _ reading: ItemReading<Value>, _ body: (TransferItem<Value>) throws -> Void
  ) throws {
    try acting("\(source.name) could not be read.") { try reading.forEach(reporter.send, body) }
  }

  // MARK: Errors

  /// Runs a body that may fail, and gives foreign errors a message.
  func acting<Result>(_ message: String, _ body: () throws -> Result) throws -> Result {
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
