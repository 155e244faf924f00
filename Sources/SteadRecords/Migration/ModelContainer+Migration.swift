import Foundation

extension ModelContainer {
  /// Opens the stores of a schema.
  ///
  /// Throws `SwiftDataError` if a store cannot be opened, is not a store, needs a migration, or if the models
  /// contradict each other; the files are then unchanged. With a migration plan, the stages that the store needs run
  /// first on a copy of the store, and the result replaces the store's content at once.
  public convenience init(
    for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: [ModelConfiguration]
  ) throws {
    try self.init(
      for: schema, migrationPlan: migrationPlan, configurations: configurations,
      migrationProgress: { _ in })
  }

  /// Opens the stores of a schema; the default store without configurations.
  public convenience init(
    for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: ModelConfiguration...
  ) throws {
    try self.init(for: schema, migrationPlan: migrationPlan, configurations: configurations)
  }

  /// Opens the stores of some models, and of all models that these refer to.
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
  /// A migration plan applies to all of them: this library's stores follow it, and a custom one is opened with it.
  /// Throws `SwiftDataError` as the other initializers do; an error that a custom store throws is its cause.
  @_disfavoredOverload
  public convenience init(
    for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: [any DataStoreConfiguration]
  ) throws {
    try self.init(
      for: schema, migrationPlan: migrationPlan, anyOf: configurations,
      report: MigrationReporter())
  }

  /// Opens stores of any kind.
  ///
  /// Throws `SwiftDataError` as the other initializers do; an error that a custom store throws is its cause.
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
    try self.init(
      for: schema, migrationPlan: migrationPlan, configurations: configurations, report: report,
      isCurrent: isCurrent
    ) {
      guard let migrationPlan else { return nil }
      return try PlanMigration(
        plan: migrationPlan, schema: schema, configuration: $0, report: report
      ).run()
    }
  }
}
