/// The versions of an app's schema, and the stages from each to the next.
public protocol SchemaMigrationPlan: SendableMetatype {
  static var schemas: [any VersionedSchema.Type] { get }
  static var stages: [MigrationStage] { get }
  /// What custom stages may drop without reading it: entities and properties that are gone, such as `Book` and
  /// `Author.age`; empty by default.
  ///
  /// A custom stage fails if it drops other data that `willMigrate` has not looked at: a model of which it has fetched no
  /// object; a property of another type now that it has not read, and whose values are not converted; and a property that
  /// is gone and that it has not read, while the new version adds a model or a property. A lightweight stage, and a custom
  /// one without closures, drops what its models do not have. SwiftData has no such property; a plan that is to stay as
  /// it is leaves it to ``ModelConfiguration/discardedData``.
  static var discardedData: Set<String> { get }
}

extension SchemaMigrationPlan {
  public static var discardedData: Set<String> { [] }
}

// MARK: - Stages

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
