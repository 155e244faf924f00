import Foundation

extension ModelContainer {
  /// Opens the stores of a schema, and tells how far their migrations have come.
  ///
  /// A migration ends when `migrationProgress` throws, or when the task is cancelled that this runs in. The store is
  /// then as it was.
  ///
  /// - Parameters:
  ///   - schema: The models.
  ///   - migrationPlan: The versions of the models, and the stages between them.
  ///   - configurations: The stores; the default one where there is none.
  ///   - migrationProgress: Called on this thread, and not for stores that need no migration.
  /// - Throws: `CancellationError` when that is thrown or the task is cancelled; otherwise `SwiftDataError`, whose cause
  ///   another error of `migrationProgress` is.
  public convenience init(
    for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: [ModelConfiguration],
    migrationProgress: @escaping MigrationProgress.Report
  ) throws {
    try self.init(
      for: schema, migrationPlan: migrationPlan, anyOf: configurations,
      report: MigrationReporter(migrationProgress))
  }

  /// What opening this container has changed in its stores: one for each store that a migration plan's stages were
  /// run on, then one for each that has followed its models by itself.
  public var migrations: [StoreMigration] { planned + stores.compactMap(\.migration) }

  /// Tells what opening stores would change in them, and changes nothing.
  ///
  /// Each store is copied, and its copy is opened as the store would be, with the stages of the plan. The copy lies
  /// beside the store as `<store>.dry-run` and is removed at the end. Costs the space of the store, the time of its
  /// migration, and two counts of all objects.
  ///
  /// ```swift
  /// for migration in try ModelContainer.dryRun(for: schema, migrationPlan: Plan.self, configurations: [configuration]) {
  ///   print(migration)    // what changes, and the number of objects before and afterwards
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - schema: The models.
  ///   - migrationPlan: The versions of the models, and the stages between them.
  ///   - configurations: The stores; the default one where there is none.
  ///   - progress: Called on this thread; stops the run by throwing.
  /// - Returns: A migration for each store that would change.
  /// - Throws: What opening the stores would throw.
  public static func dryRun(
    for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: [ModelConfiguration], progress: @escaping MigrationProgress.Report = { _ in }
  ) throws -> [StoreMigration] {
    let used = configurations.isEmpty ? [ModelConfiguration()] : configurations
    return try used.indices.compactMap { index in
      var others = used
      let configuration = others.remove(at: index)
      return try DryRun(
        schema: schema, plan: migrationPlan, configuration: configuration, others: others,
        report: MigrationReporter(progress)
      ).run()
    }
  }
}
