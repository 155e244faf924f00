import Foundation

extension ModelContainer {
  /// Opens the stores of a schema.
  ///
  /// Throws `SwiftDataError` when a store cannot be opened, is not a store, needs a migration, or
  /// when the models contradict each other; the files are then as they were. With a migration plan the
  /// stages that the store needs are run first, on a copy of the store, which takes over the result at once.
  public convenience init(
    for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: [ModelConfiguration]
  ) throws {
    try self.init(
      for: schema, migrationPlan: migrationPlan, configurations: configurations,
      migrationProgress: { _ in })
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
