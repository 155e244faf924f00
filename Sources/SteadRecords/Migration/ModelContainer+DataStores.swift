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
