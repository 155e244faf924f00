import Foundation

/// Copies a store and runs the stages of a migration plan on the copy. The store itself is only read.
struct Rehearsal {
  let plan: (any SchemaMigrationPlan.Type)?
  let stages: [MigrationStage]
  /// The schema that the store was opened with last.
  let stored: Schema
  let store: StoreFile
  let copy: StoreCopy
  let report: MigrationReporter
  /// Throws if the store that is to be copied is no longer the one at its path.
  var check: () throws -> Void = {}

  /// What the stages have changed in the copy.
  struct Result {
    /// From the store's models to those of the last stage, or to what the copy records without
    /// stages.
    let difference: SchemaDifference
    let stages: [StoreMigration.Stage]
    let counts: [StoreMigration.Count]
  }

  /// Copies the store, runs the stages, and counts the objects before and afterwards.
  ///
  /// - Parameter open: Opens the copy at the end, with the models that it is meant for.
  /// - Throws: The error of a stage, in an error that names the stage.
  func run(_ open: (ModelConfiguration) throws -> Void = { _ in }) throws -> Result {
    try check()
    try copy.make(from: store) { try report(.copying, $0, of: $1) }
    // Again: the path may have become another store's while the pages were copied.
    try check()
    // In the copy, which nobody else changes.
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

  /// What each stage changes. The first schema compared with the last would not show it: a later stage may add a
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

  /// Runs the stages one after the other; an error names its stage.
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

// MARK: - Counts

/// Counts a store's objects by the schema that is recorded in the store.
struct ObjectCount {
  let connection: StoreConnection
  let schema: Schema

  /// The number of objects of each entity that the store has a table for. Reads each table once.
  func run(_ report: MigrationReporter) throws -> [String: Int] {
    let tables = try StoreCatalog(connection).columns
    var counts: [String: Int] = [:]
    for (index, entity) in schema.entities.enumerated() {
      try report(.counting, index, of: schema.entities.count)
      // The recorded schema is the whole container's, and other stores have the tables of their models.
      guard let columns = tables[entity.root.name] else { continue }
      // A class's number in `_entity` is its place by name, from 1: a schema has its entities in that order.
      let only = columns["_entity"] == nil ? "" : " WHERE \"_entity\" = \(index + 1)"
      counts[entity.name] = try connection.integer(
        "SELECT count(*) FROM \(entity.root.name.sqlName)\(only)"
      ).map(Int.init)
    }
    return counts
  }

  /// The counts before and afterwards, by the entity's name.
  static func compare(_ before: [String: Int], _ after: [String: Int]) -> [StoreMigration.Count] {
    Set(before.keys).union(after.keys).sorted().map {
      StoreMigration.Count(entity: $0, before: before[$0], after: after[$0])
    }
  }
}

// MARK: - Dry runs

/// Migrates a copy of one store, and reports what would change in the store.
struct DryRun {
  let schema: Schema
  let plan: (any SchemaMigrationPlan.Type)?
  let configuration: ModelConfiguration
  /// The other stores of the container: a schema is opened as a whole, so their models need stores, too.
  let others: [ModelConfiguration]
  /// Reports progress.
  var report: MigrationReporter

  /// What opening the store would change; nil if nothing.
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

  /// The configuration that opens the store without writing to it.
  private var readOnly: ModelConfiguration {
    ModelConfiguration(
      configuration.name, schema: configuration.schema, url: configuration.url, allowsSave: false)
  }

  /// Runs the stages on a copy that is removed afterwards, and opens the copy with the container's models.
  private func rehearse(
    _ stored: Schema, _ stages: [MigrationStage], _ store: StoreFile
  ) throws -> Rehearsal.Result {
    let copy = StoreCopy(
      of: configuration,
      at: URL(
        filePath: configuration.url.path + StoreCopy.dryRunSuffix, directoryHint: .notDirectory))
    // On every path. A failure leaves a file that only takes up space, and the result is still
    // right.
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

  /// The stages, and a last step if the container's models differ from the plan's last version.
  private func steps(
    _ result: Rehearsal.Result, _ stages: [MigrationStage]
  ) -> [StoreMigration.Stage] {
    // Without stages the difference of the whole migration says it.
    guard let last = stages.last else { return result.stages }
    let rest = SchemaDifference(from: Schema(versionedSchema: last.to), to: schema)
    if rest.isEmpty { return result.stages }
    return result.stages + [
      .init(name: "\(last.to) to the container's models", isCustom: false, difference: rest)
    ]
  }
}
