import Foundation
import Synchronization

/// An app's models and the stores that hold them.
///
/// Opening one makes or extends the stores' tables. A container is Sendable; make a ``ModelContext``
/// of it wherever you work with objects.
public final class ModelContainer: Equatable, Sendable {
  public let schema: Schema
  public let migrationPlan: (any SchemaMigrationPlan.Type)?

  let layout: StoreLayout
  let stores: [RecordStore]
  /// The store of each entity.
  let storeByEntity: [RecordStore]
  let planByEntity: EntityPlans
  private let configurationSet: Mutex<Set<ModelConfiguration>>
  @MainActor private let main = MainContextBox()

  /// The configurations of the stores. Changing the set does not open or close a store.
  public var configurations: Set<ModelConfiguration> {
    get { configurationSet.withLock { $0 } }
    set { configurationSet.withLock { $0 = newValue } }
  }

  private struct WeakContainer: Sendable {
    weak var container: ModelContainer?
  }
  private static let newest = Mutex(WeakContainer())

  /// The container that was opened last, while it is held; what `@Query` reads unless told otherwise.
  static var current: ModelContainer? { newest.withLock { $0.container } }

  /// Opens the stores of a schema.
  ///
  /// - Parameter prepare: What is done to each store before it is opened.
  init(
    for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)?,
    configurations: [ModelConfiguration], prepare: (ModelConfiguration) throws -> Void
  ) throws {
    self.schema = schema
    self.migrationPlan = migrationPlan
    let used = configurations.isEmpty ? [ModelConfiguration()] : configurations
    configurationSet = Mutex(Set(used))
    do {
      let layout = try StoreLayout(schema: schema)
      self.layout = layout
      let assignment = try StoreAssignment(layout: layout, configurations: used)
      for configuration in used { try prepare(configuration) }
      let stores = try zip(used, assignment.entities).map {
        try RecordStore(configuration: $0, layout: layout, entities: $1)
      }
      self.stores = stores
      let byEntity = try layout.entities.map { entity in
        guard let index = assignment.entities.firstIndex(where: { $0.contains(entity.index) }),
          let plan = stores[index].plans[entity.index]
        else {
          throw SwiftDataError(
            .configurationSchemaNotFoundInContainerSchema,
            "No configuration holds \(entity.name). Add it to the schema of one of them, or leave "
              + "one configuration without a schema, to hold all that is left.")
        }
        return (stores[index], plan)
      }
      storeByEntity = byEntity.map(\.0)
      planByEntity = EntityPlans(byEntity.map(\.1))
      Self.newest.withLock { $0 = WeakContainer(container: self) }
      schema.reportNotes()
    } catch {
      throw SwiftDataError.ofOpening((error as? SchemaProblem)?.error ?? error)
    }
  }

  /// Opens the stores of configurations of any kind; those of this package are supported.
  public convenience init(
    for schema: Schema, configurations: [any DataStoreConfiguration]
  ) throws {
    try self.init(for: schema, configurations: Self.supported(configurations))
  }

  /// Opens the stores of configurations of any kind; those of this package are supported.
  @_disfavoredOverload
  public convenience init(
    for types: any PersistentModel.Type..., configurations: any DataStoreConfiguration...
  ) throws {
    try self.init(for: Schema(types), configurations: Self.supported(configurations))
  }

  private static func supported(
    _ configurations: [any DataStoreConfiguration]
  ) throws -> [ModelConfiguration] {
    try configurations.map {
      guard let configuration = $0 as? ModelConfiguration else {
        throw SwiftDataError(
          .loadIssueModelContainer, "Stores of \(type(of: $0)) are not supported yet.")
      }
      return configuration
    }
  }

  /// The context of the main actor; it saves by itself at the end of a turn.
  @MainActor public var mainContext: ModelContext {
    if let context = main.context { return context }
    let context = ModelContext(self)
    context.becomeMain()
    main.context = context
    return context
  }

  /// As ``erase()``, with errors reported to `Stead.onProblem`.
  @available(*, deprecated, renamed: "erase()")
  public func deleteAllData() {
    do {
      try erase()
    } catch {
      Report.problem("The data was not deleted: \(error)")
    }
  }

  /// Removes all objects of all stores, the files of their large values, and the backups that migrations have made.
  ///
  /// No byte of what was stored is left in a file. The stores stay, empty, and can be used at once; other containers and processes
  /// that have them open find them empty. Undo, history and receipts of transfers are removed, too.
  ///
  /// Throws `SwiftDataError`, with the code `transactionOpen` within `transaction(block:)`.
  public func erase() throws {
    for store in stores { try store.erase() }
  }

  public static func == (left: ModelContainer, right: ModelContainer) -> Bool { left === right }
}

/// Holds the main actor's context, once it was asked for.
@MainActor private final class MainContextBox {
  var context: ModelContext?

  nonisolated init() {}
}
