/// Passes progress on, and remembers the error that stopped it.
///
/// A destination may wrap an error that goes through it, a transaction for one; the caller gets their own
/// error back.
final class ProgressReporter {
  private let report: TransferProgress.Report
  private(set) var stop: (any Error)?

  init(_ report: @escaping TransferProgress.Report) { self.report = report }

  func send(_ progress: TransferProgress) throws {
    do {
      try Task.checkCancellation()
      try report(progress)
    } catch {
      stop = error
      throw error
    }
  }

  func send(_ phase: TransferProgress.Phase, _ completed: Int, of total: Int?) throws {
    try send(TransferProgress(phase: phase, completed: completed, total: total))
  }
}
