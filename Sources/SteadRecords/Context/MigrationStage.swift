/// One step from a version of a schema to the next.
///
/// Unchecked, since apps' closures aren't `@Sendable`: a stage is a constant of a migration plan, and only the thread
/// that opens the store calls its closures, one stage after another.
public enum MigrationStage: @unchecked Sendable {
  case lightweight(
    fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type)
  case custom(
    fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type,
    willMigrate: ((ModelContext) throws -> Void)?, didMigrate: ((ModelContext) throws -> Void)?)
}
