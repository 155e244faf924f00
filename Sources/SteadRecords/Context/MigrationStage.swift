/// One step from a version of a schema to the next.
///
/// Unchecked, since the closures of apps aren't `@Sendable`: a stage is a constant of a migration plan,
/// and its closures are called only by the thread that opens the store, one stage after another.
public enum MigrationStage: @unchecked Sendable {
  case lightweight(
    fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type)
  case custom(
    fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type,
    willMigrate: ((ModelContext) throws -> Void)?, didMigrate: ((ModelContext) throws -> Void)?)
}
