/// Copies a store, and runs the stages of a migration plan on the copy.
struct Rehearsal {
  let plan: (any SchemaMigrationPlan.Type)?
  let stages: [MigrationStage]
  /// The schema that the store was opened with last.
  let stored: Schema
  let store: StoreFile
  let copy: StoreCopy
  let report: MigrationReporter
  /// Throws if the store that is to be copied isn't the one at its path.
  var check: () throws -> Void = {}

  struct Result {
    let difference: SchemaDifference
    let stages: [StoreMigration.Stage]
    let counts: [StoreMigration.Count]
  }

  /// - Parameter open: Opens the copy at the end, with the models that it is meant for.
  /// - Throws: The error of a stage, in an error that names the stage.
  func run(_ open: (ModelConfiguration) throws -> Void = { _ in }) throws -> Result {
    try check()
    try copy.make(from: store) { try report(.copying, $0, of: $1) }
    try check()
    let before = try ObjectCount(connection: copy.file.open(writable: false), schema: stored)
      .run(report)
    if let plan { try run(plan) }
    try open(copy.file.configuration)
    let connection = try copy.file.open(writable: false)
    let now = try connection.storedSchema() ?? stored
    return Result(
      difference: SchemaDifference(
        from: stored, to: stages.last.map { Schema(versionedSchema: $0.to) } ?? now),
      stages: described(),
      counts: ObjectCount.compare(
        before, try ObjectCount(connection: connection, schema: now).run(report)))
  }

  /// What each stage changes. Comparing only the first schema and the last would not do: a later stage may add a
  /// property again whose values an earlier one has dropped.
  private func described() -> [StoreMigration.Stage] {
    var before = stored
    return stages.map { stage in
      let after = Schema(versionedSchema: stage.to)
      defer { before = after }
      return StoreMigration.Stage(
        name: StageRun.name(stage), isCustom: stage.isCustom,
        difference: SchemaDifference(from: before, to: after))
    }
  }

  private func run(_ plan: any SchemaMigrationPlan.Type) throws {
    for (number, stage) in stages.enumerated() {
      var report = report
      report.stage = number + 1
      do {
        try StageRun(
          stage: stage, plan: plan, configuration: copy.file.configuration, report: report
        ).run()
      } catch let error where !(error is CancellationError) {
        throw SwiftDataError(
          .loadIssueModelContainer,
          "The migration stage from \(StageRun.name(stage)) failed, and the store was left as it was: "
            + SwiftDataError.text(of: error),
          cause: error)
      }
    }
  }
}
