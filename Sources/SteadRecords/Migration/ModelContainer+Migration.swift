extension ModelContainer {
  /// Opens the stores of a schema.
  ///
  /// Throws `SwiftDataError` when a store cannot be opened, is not a store, needs a migration, or
  /// when the models contradict each other; the files are then as they were. With a migration plan the
  /// stages that the store needs are run first, on a store that was copied.
  public convenience init(
    for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: [ModelConfiguration]
  ) throws {
    try self.init(for: schema, migrationPlan: migrationPlan, configurations: configurations) {
      guard let migrationPlan else { return }
      try PlanMigration(plan: migrationPlan, configuration: $0).run()
    }
  }

  public convenience init(
    for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: ModelConfiguration...
  ) throws {
    try self.init(for: schema, migrationPlan: migrationPlan, configurations: configurations)
  }

  public convenience init(
    for types: any PersistentModel.Type..., migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: ModelConfiguration...
  ) throws {
    try self.init(
      for: Schema(types), migrationPlan: migrationPlan, configurations: configurations)
  }
}

extension ModelContainer {
  /// What opening this container has changed in its stores, one for each store that was made for other models.
  ///
  /// The stages of a migration plan open the store themselves, so after these it is empty.
  public var migrations: [StoreMigration] { stores.compactMap(\.migration) }
}
