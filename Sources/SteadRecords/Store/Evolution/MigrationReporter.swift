/// The receiver of a migration's progress.
struct MigrationReporter {
  let report: MigrationProgress.Report
  var stage = 0
  var stages = 0

  init(_ report: @escaping MigrationProgress.Report = { _ in }) { self.report = report }

  /// Reports progress, and throws if the migration should stop.
  func callAsFunction(
    _ phase: MigrationProgress.Phase, _ completed: Int = 0, of total: Int? = nil
  ) throws {
    try Task.checkCancellation()
    try report(
      MigrationProgress(
        phase: phase, stage: stage, stages: stages, completed: completed, total: total))
  }
}
