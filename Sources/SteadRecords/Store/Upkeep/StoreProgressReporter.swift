/// Passes progress on, unless the task is cancelled.
struct StoreProgressReporter {
  let report: StoreProgress.Report

  init(_ report: @escaping StoreProgress.Report) { self.report = report }

  func send(_ phase: StoreProgress.Phase, _ completed: Int, of total: Int?) throws {
    try Task.checkCancellation()
    try report(StoreProgress(phase: phase, completed: completed, total: total))
  }
}
