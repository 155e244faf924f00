import Foundation

/// Migrates a copy of one store, and tells what has changed in it.
struct DryRun {
  /// What follows the store's name in the name of the copy.
  static let suffix = ".dry-run"

  let schema: Schema
  let plan: (any SchemaMigrationPlan.Type)?
  let configuration: ModelConfiguration
  var report: MigrationReporter

  /// nil when nothing would change.
  func run() throws -> StoreMigration? {
    guard !configuration.isStoredInMemoryOnly,
      FileManager.default.fileExists(atPath: configuration.url.path)
    else { return nil }
    let store = StoreFile(readOnly)
    try store.check()
    let connection = try store.open(writable: false)
    guard let stored = try connection.storedSchema() else { return nil }
    let stages = try plan.map { try PlanMigration.stages($0, of: connection) } ?? []
    let held = configuration.schema ?? schema
    guard !stages.isEmpty || !SchemaDifference(from: stored, to: held).isEmpty else { return nil }
    return try rehearse(stored, stages, store, held)
  }

  /// The store is read alone.
  private var readOnly: ModelConfiguration {
    ModelConfiguration(
      configuration.name, schema: configuration.schema, url: configuration.url, allowsSave: false)
  }

  private func rehearse(
    _ stored: Schema, _ stages: [MigrationStage], _ store: StoreFile, _ held: Schema
  ) throws -> StoreMigration? {
    let copy = StoreCopy(
      of: configuration,
      at: URL(filePath: configuration.url.path + Self.suffix, directoryHint: .notDirectory))
    defer { try? copy.remove() }
    var report = report
    report.stages = stages.count
    let result = try Rehearsal(
      plan: plan, stages: stages, stored: stored, store: store, copy: copy, report: report
    ).run { configuration in
      try report(.changing)
      _ = try ModelContainer(for: held, configurations: configuration)
    }
    var steps = result.stages
    if let last = stages.last {
      let rest = SchemaDifference(from: Schema(versionedSchema: last.to), to: held)
      if !rest.isEmpty {
        steps.append(
          .init(name: "\(last.to) to the container's models", isCustom: false, difference: rest))
      }
    }
    return StoreMigration(
      url: configuration.url, difference: SchemaDifference(from: stored, to: held), backup: nil,
      stages: steps, counts: result.counts)
  }
}
