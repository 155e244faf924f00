import Foundation
import SteadFiles

extension ModelContainer {
  /// Opens the stores of a schema.
  ///
  /// A missing file is created, with the directories above it. If a store has the container's models, opening it costs
  /// a few reads, without the write lock. Otherwise its tables follow the models, in one transaction, as far as the data
  /// allows without a plan. With a migration plan, the stages that the store needs run first on a copy of the store,
  /// and the result replaces the store's content at once. Before data is lost, a copy of a store of up to 1 GiB is kept
  /// as `<store>.backup`.
  ///
  /// **Name all models of a store.** Rows of models that the schema lacks are removed, as by SwiftData. To look at a
  /// part of a store, open it with ``ModelConfiguration/allowsSave`` false.
  ///
  /// ```swift
  /// do {
  ///   container = try ModelContainer(for: schema, migrationPlan: Plan.self, configurations: [configuration])
  /// } catch SwiftDataError.backwardMigration {
  ///   // A newer version of the app has written the store: ask for an update. The store is unchanged.
  /// }
  /// ```
  ///
  /// Blocks this thread: at most 60 seconds for another process that writes, and as long as a migration takes. The new
  /// container is the one that `@Query` reads by default.
  ///
  /// - Parameters:
  ///   - schema: The models.
  ///   - migrationPlan: The versions of the models, and the stages between them; nil if the stores can follow without.
  ///   - configurations: The stores; the default one if empty. The first one without a schema gets the models that no
  ///     other has.
  /// - Throws: ``SwiftDataError``. `catch SwiftDataError.loadIssueModelContainer` matches all of these; compare
  ///   ``SwiftDataError/code`` to tell them apart. A store that throws is unchanged; those opened before it may have
  ///   followed their models.
  ///   - ``SwiftDataError/loadIssueModelContainer`` if data does not fit the models without a plan, or a stage throws.
  ///   - ``SwiftDataError/backwardMigration`` and ``SwiftDataError/unknownSchema`` for a store of a later version, or
  ///     of one that the plan lacks.
  ///   - ``SwiftDataError/unreadableStore`` for a file that is damaged, another program's, or separated from its log.
  ///   - ``SwiftDataError/invalidInverse``, ``SwiftDataError/duplicateModel``, ``SwiftDataError/unknownProperty`` and
  ///     ``SwiftDataError/nameClash`` if the models contradict each other.
  ///   - ``SwiftDataError/duplicateConfiguration``,
  ///     ``SwiftDataError/configurationSchemaNotFoundInContainerSchema``,
  ///     ``SwiftDataError/configurationFileNameTooLong`` and
  ///     ``SwiftDataError/configurationFileNameContainsInvalidCharacters`` for the configurations.
  ///   - ``SwiftDataError/storageFull``, ``SwiftDataError/storageFailure``, ``SwiftDataError/readOnlyStore`` and
  ///     ``SwiftDataError/storeLocked`` for the disk and for other processes.
  ///   - `CancellationError` if the task is cancelled while a store is migrated.
  public convenience init(
    for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: [ModelConfiguration]
  ) throws {
    try self.init(
      for: schema, migrationPlan: migrationPlan, configurations: configurations,
      migrationProgress: { _ in })
  }

  /// Opens the stores of a schema; the default store without configurations.
  ///
  /// The same as the initializer that takes an array: see there for what opening costs, changes and throws.
  public convenience init(
    for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: ModelConfiguration...
  ) throws {
    try self.init(for: schema, migrationPlan: migrationPlan, configurations: configurations)
  }

  /// Opens the stores of some models, and of all models that these refer to.
  ///
  /// ```swift
  /// let container = try ModelContainer(for: Trip.self, configurations: ModelConfiguration(url: url))
  /// ```
  ///
  /// Without configurations the store is `default.store` in the data directory of a program of this name
  /// (``ModelConfiguration/init(_:schema:isStoredInMemoryOnly:allowsSave:groupContainer:cloudKitDatabase:)``). Costs,
  /// changes and throws what opening the stores of a ``Schema`` does.
  public convenience init(
    for types: any PersistentModel.Type..., migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: ModelConfiguration...
  ) throws {
    try self.init(
      for: Schema(types), migrationPlan: migrationPlan, configurations: configurations)
  }
}

// MARK: - Stores of any kind

extension ModelContainer {
  /// Opens stores of any kind.
  ///
  /// A container may have stores of several kinds: ``ModelConfiguration``, ``JSONStoreConfiguration`` and your own
  /// types. A migration plan applies to all of them: this library's stores follow it, and a custom one is opened with
  /// it.
  ///
  /// - Throws: ``SwiftDataError`` as the other initializers do; an error of another type that a custom store throws is
  ///   the ``SwiftDataError/cause`` of ``SwiftDataError/loadIssueModelContainer``.
  @_disfavoredOverload
  public convenience init(
    for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: [any DataStoreConfiguration]
  ) throws {
    try self.init(
      for: schema, migrationPlan: migrationPlan, anyOf: configurations,
      report: MigrationReporter())
  }

  /// Opens stores of any kind, for some models and all that these refer to.
  ///
  /// - Throws: ``SwiftDataError`` as the other initializers do; an error of another type that a custom store throws is
  ///   the ``SwiftDataError/cause`` of ``SwiftDataError/loadIssueModelContainer``.
  @_disfavoredOverload
  public convenience init(
    for types: any PersistentModel.Type..., migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: any DataStoreConfiguration...
  ) throws {
    try self.init(
      for: Schema(types), migrationPlan: migrationPlan, configurations: configurations)
  }

  /// Opens stores, running the migration stages first that this library's stores need.
  convenience init(
    for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)?,
    anyOf configurations: [any DataStoreConfiguration], isCurrent: Bool = true,
    report: MigrationReporter
  ) throws {
    let given = configurations.isEmpty ? [ModelConfiguration()] : configurations
    let used = given.map { configuration -> any DataStoreConfiguration in
      guard var own = configuration as? ModelConfiguration else { return configuration }
      own.newVersion = migrationPlan.flatMap { own.numberOfNewStore(of: schema, $0) }
      return own
    }
    try self.init(
      for: schema, migrationPlan: migrationPlan, configurations: used, report: report,
      isCurrent: isCurrent
    ) {
      guard let migrationPlan else { return nil }
      return try PlanMigration(
        plan: migrationPlan, schema: schema, configuration: $0, report: report
      ).run()
    }
  }
}

extension ModelConfiguration {
  /// The version that a store which does not exist yet gets by a plan; nil for one that exists.
  fileprivate func numberOfNewStore(
    of schema: Schema, _ plan: any SchemaMigrationPlan.Type
  ) -> Schema.Version? {
    // Most stores exist, and their version is their own. An empty file is a new store.
    let size = (try? POSIXDisk().status(at: url.path))?.size ?? 0
    guard !isStoredInMemoryOnly, size == 0 else { return nil }
    // A plan that cannot be used is an error of the stores that it has to migrate, and a new one needs no stage.
    return try? MigrationPath(plan).numberOfNewStore(of: schema)
  }
}
