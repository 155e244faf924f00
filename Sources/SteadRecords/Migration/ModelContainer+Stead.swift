import Foundation

extension ModelContainer {
  /// Opens the stores of a schema, and reports the progress of their migrations.
  ///
  /// A migration ends if `migrationProgress` throws, or if the task that runs this is cancelled. The store is then
  /// unchanged. Otherwise the same as the initializer without it.
  ///
  /// ```swift
  /// let container = try ModelContainer(
  ///   for: schema, migrationPlan: Plan.self, configurations: [configuration],
  ///   migrationProgress: { print($0.phase, $0.completed, $0.total ?? 0) })
  /// ```
  ///
  /// - Parameters:
  ///   - schema: The models.
  ///   - migrationPlan: The versions of the models, and the stages between them.
  ///   - configurations: The stores; the default one if empty.
  ///   - migrationProgress: Called on this thread, and not for stores that need no migration.
  /// - Throws: `CancellationError` if that is thrown or the task is cancelled; otherwise `SwiftDataError`, with any
  ///   other error of `migrationProgress` as its cause.
  public convenience init(
    for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: [ModelConfiguration],
    migrationProgress: @escaping MigrationProgress.Report
  ) throws {
    try self.init(
      for: schema, migrationPlan: migrationPlan, anyOf: configurations,
      report: MigrationReporter(migrationProgress))
  }

  /// What opening this container changed in its stores: one migration for each store that ran stages of a migration
  /// plan, then one for each that followed its models automatically.
  ///
  /// Empty if all stores had these models already. Log it: each names its backup, and what was dropped or converted.
  ///
  /// ```swift
  /// for migration in container.migrations { log.notice("\(migration)") }
  /// ```
  public var migrations: [StoreMigration] { storeSet.planned + stores.compactMap(\.migration) }

  /// Reports what opening stores would change in them, and changes nothing.
  ///
  /// Each store is copied, and the copy is opened as the store would be, with the stages of the plan. The copy is next
  /// to the store as `<store>.dry-run` and is removed at the end. Costs the space of the store, the time of its
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
  ///   - configurations: The stores; the default one if empty.
  ///   - progress: Called on this thread; stops the run by throwing.
  /// - Returns: A migration for each store that would change.
  /// - Throws: What opening the stores would throw.
  public static func dryRun(
    for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: [ModelConfiguration], progress: @escaping MigrationProgress.Report = { _ in }
  ) throws -> [StoreMigration] {
    let used = configurations.isEmpty ? [ModelConfiguration()] : configurations
    // One store at a time: the copies exist one after the other, so the disk needs space for the
    // largest alone.
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
