import Foundation

/// Migrates a copy of one store, and reports what changed in it.
struct DryRun {
  let schema: Schema
  let plan: (any SchemaMigrationPlan.Type)?
  let configuration: ModelConfiguration
  /// The other stores of the container, which hold models too.
  let others: [ModelConfiguration]
  var report: MigrationReporter

  /// nil if nothing would change.
  func run() throws -> StoreMigration? {
    guard !configuration.isStoredInMemoryOnly,
      FileManager.default.fileExists(atPath: configuration.url.path)
    else { return nil }
    let store = StoreFile(readOnly)
    try store.check()
    let connection = try store.open(writable: false)
    guard let stored = try connection.storedSchema() else { return nil }
    let stages =
      try plan.map { try PlanMigration.stages($0, of: connection, to: schema) } ?? []
    // A store records all models of its container.
    let difference = SchemaDifference(from: stored, to: schema)
    guard !stages.isEmpty || !difference.isEmpty else { return nil }
    let result = try rehearse(stored, stages, store)
    return StoreMigration(
      url: configuration.url, difference: difference, backup: nil,
      stages: steps(result, stages), counts: result.counts)
  }

  /// The store is read alone.
  private var readOnly: ModelConfiguration {
    ModelConfiguration(
      configuration.name, schema: configuration.schema, url: configuration.url, allowsSave: false)
  }

  private func rehearse(
    _ stored: Schema, _ stages: [MigrationStage], _ store: StoreFile
  ) throws -> Rehearsal.Result {
    let copy = StoreCopy(
      of: configuration,
      at: URL(
        filePath: configuration.url.path + StoreCopy.dryRunSuffix, directoryHint: .notDirectory))
    defer { try? copy.remove() }
    var report = report
    report.stages = stages.count
    let elsewhere = others.map {
      ModelConfiguration($0.name, schema: $0.schema, isStoredInMemoryOnly: true)
    }
    return try Rehearsal(
      plan: plan, stages: stages, stored: stored, store: store, copy: copy, report: report
    ).run { configuration in
      try report(.changing)
      _ = try ModelContainer(
        for: schema, migrationPlan: nil, configurations: [configuration] + elsewhere,
        isCurrent: false
      ) { _ in nil }
    }
  }

  /// The steps of the stages, and what the container's models differ in from the last one's.
  private func steps(
    _ result: Rehearsal.Result, _ stages: [MigrationStage]
  ) -> [StoreMigration.Stage] {
    guard let last = stages.last else { return result.stages }
    let rest = SchemaDifference(from: Schema(versionedSchema: last.to), to: schema)
    if rest.isEmpty { return result.stages }
    return result.stages + [
      .init(name: "\(last.to) to the container's models", isCustom: false, difference: rest)
    ]
  }
}
