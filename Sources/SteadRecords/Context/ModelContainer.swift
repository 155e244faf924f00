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
  let planByEntity: [EntityPlan]
  let exchange = StoreExchange.shared
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
  /// Throws `SwiftDataError` when a store cannot be opened, is not a store, needs a migration, or
  /// when the models contradict each other; the files are then as they were. With a migration plan the
  /// stages that the store needs are run first, on a store that was copied.
  public init(
    for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: [ModelConfiguration]
  ) throws {
    self.schema = schema
    self.migrationPlan = migrationPlan
    let used = configurations.isEmpty ? [ModelConfiguration()] : configurations
    configurationSet = Mutex(Set(used))
    do {
      let layout = try StoreLayout(schema: schema)
      self.layout = layout
      let assignment = try StoreAssignment(layout: layout, configurations: used)
      if let migrationPlan {
        for configuration in used {
          try StoreMigration(plan: migrationPlan, configuration: configuration).run()
        }
      }
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
      planByEntity = byEntity.map(\.1)
      Self.newest.withLock { $0 = WeakContainer(container: self) }
    } catch let problem as InverseFinder.Problem {
      throw SwiftDataError(.ambiguousInverse, problem.message)
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

  /// Removes all objects of all stores, and their files.
  @available(*, deprecated, renamed: "erase()")
  public func deleteAllData() {
    do {
      try erase()
    } catch {
      Report.problem("The data was not deleted: \(error)")
    }
  }

  /// Removes all objects of all stores, and their files.
  public func erase() throws {
    for store in stores {
      try store.erase()
      exchange.post(StoreChanges(store: store.identity, rows: nil), from: nil)
    }
  }

  public static func == (left: ModelContainer, right: ModelContainer) -> Bool { left === right }
}

/// Holds the main actor's context, once it was asked for.
@MainActor private final class MainContextBox {
  var context: ModelContext?

  nonisolated init() {}
}

/// Which configuration holds which entities.
struct StoreAssignment {
  /// For each configuration the indices of its entities.
  let entities: [Set<Int>]

  init(layout: StoreLayout, configurations: [ModelConfiguration]) throws {
    var names: Set<String> = []
    var files: Set<URL> = []
    for configuration in configurations {
      try configuration.validate()
      let isNew =
        names.insert(configuration.name).inserted
        && (configuration.isStoredInMemoryOnly || files.insert(configuration.url).inserted)
      guard isNew || configurations.count == 1 else {
        throw SwiftDataError(
          .duplicateConfiguration,
          "Two configurations are named \(configuration.name) or share a file. Give each a name "
            + "of its own.")
      }
    }
    var taken: Set<Int> = []
    var result: [Set<Int>] = []
    for configuration in configurations {
      guard let schema = configuration.schema else {
        result.append([])
        continue
      }
      let indices = try schema.entities.map { entity in
        guard let found = layout.entity(named: entity.name) else {
          throw SwiftDataError(
            .configurationSchemaNotFoundInContainerSchema,
            "\(entity.name) of configuration \(configuration.name) is not in the container's "
              + "schema.")
        }
        return found.index
      }
      result.append(Set(indices).subtracting(taken))
      taken.formUnion(indices)
    }
    // A configuration without a schema holds what the others leave.
    for (index, configuration) in configurations.enumerated() where configuration.schema == nil {
      result[index] = Set(layout.entities.indices).subtracting(taken)
      taken.formUnion(layout.entities.indices)
    }
    entities = result
  }
}
