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
