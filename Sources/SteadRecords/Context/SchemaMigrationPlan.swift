/// The versions of an app's schema, and the stages from each to the next.
///
/// ```swift
/// enum LibraryPlan: SchemaMigrationPlan {
///   static var schemas: [any VersionedSchema.Type] { [LibraryV1.self, LibraryV2.self] }
///   static var stages: [MigrationStage] {
///     [.lightweight(fromVersion: LibraryV1.self, toVersion: LibraryV2.self)]
///   }
/// }
/// let container = try ModelContainer(for: Book.self, migrationPlan: LibraryPlan.self)
/// ```
///
/// Most changes of models need no plan: Documentation/Migration.md lists those that do. Opening a container finds the
/// store's version by its models, and by its number if several have them, and runs the fewest stages that lead to the
/// container's models, on a copy of the store. If several versions have these, a schema made of a ``VersionedSchema``
/// means that version, and one made of classes the newest. If a stage throws, the store is unchanged.
/// ``ModelContainer/dryRun(for:migrationPlan:configurations:progress:)`` tries it, and ``SchemaLock`` keeps shipped
/// versions from being edited.
public protocol SchemaMigrationPlan: SendableMetatype {
  /// The versions, in ascending order of their numbers, which all differ. Otherwise opening a container throws
  /// ``SwiftDataError/loadIssueModelContainer``.
  static var schemas: [any VersionedSchema.Type] { get }
  /// The stages. Each run asks for them again, so closures of a stage may share a variable that is made with it.
  static var stages: [MigrationStage] { get }
  /// What custom stages may drop without reading it: entities and properties that are gone, such as `Book` and
  /// `Author.age`; empty by default.
  ///
  /// A custom stage fails if it drops other data that `willMigrate` has not looked at: a model of which it has fetched
  /// no object; a property of another type now that it has not read, and whose values are not converted; and a property
  /// that is gone and that it has not read, while the new version adds a model or a property. A lightweight stage, and
  /// a custom one without closures, drops what its models do not have. SwiftData has no such property; a plan that is
  /// to stay as it is leaves it to ``ModelConfiguration/discardedData``.
  static var discardedData: Set<String> { get }
}

extension SchemaMigrationPlan {
  /// Nothing.
  public static var discardedData: Set<String> { [] }
}

// MARK: - Stages

/// One step from a version of a schema to the next.
///
/// Unchecked, since apps' closures aren't `@Sendable`: a stage is a constant of a migration plan, and only the thread
/// that opens the store calls its closures, one stage after another.
public enum MigrationStage: @unchecked Sendable {
  /// The tables follow the models, as they would without a plan: for a step in a plan that needs no code.
  ///
  /// Data that the new models do not have is dropped. Opening the store throws if it cannot follow.
  case lightweight(
    fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type)
  /// Code runs before and after the tables follow the models.
  ///
  /// `willMigrate` gets a context with the objects of the old version: read what would be lost, remove what is in the
  /// way. `didMigrate` gets one with the objects of the new version: set what is new. Pass values from one to the other
  /// in a variable that both closures capture, by identifier:
  ///
  /// ```swift
  /// static var lengths: MigrationStage {
  ///   var names: [PersistentIdentifier: String] = [:]
  ///   return .custom(
  ///     fromVersion: V1.self, toVersion: V2.self,
  ///     willMigrate: { context in
  ///       try context.enumerate(FetchDescriptor<V1.Trip>()) { names[$0.persistentModelID] = $0.name }
  ///     },
  ///     didMigrate: { context in
  ///       for trip in try context.fetch(FetchDescriptor<V2.Trip>()) {
  ///         trip.length = names[trip.persistentModelID]?.count ?? 0
  ///       }
  ///     })
  /// }
  /// ```
  ///
  /// What a closure has not saved is saved after it. If it throws, opening the container throws
  /// ``SwiftDataError/loadIssueModelContainer`` with the error as its cause, and the store is unchanged. Until
  /// `didMigrate` sets a new required property, reading it gives a placeholder, or ends the program if its type has
  /// none. The stage fails if it drops data that `willMigrate` has not read (``SchemaMigrationPlan/discardedData``), or
  /// leaves a required property without a value. Without closures it does what a lightweight stage does.
  case custom(
    fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type,
    willMigrate: ((ModelContext) throws -> Void)?, didMigrate: ((ModelContext) throws -> Void)?)
}
