import SteadFiles
import Synchronization

/// A container's schema and its open stores, which its contexts share. The stores are closed when it is released.
///
/// Contexts hold it, and all but the main one hold the container, too. The container holds the main context, so that one
/// must not hold the container.
final class StoreSet: Sendable {
  let schema: Schema
  let migrationPlan: (any SchemaMigrationPlan.Type)?
  let layout: StoreLayout
  let stores: [RecordStore]
  /// What a migration plan's stages have changed.
  let planned: [StoreMigration]
  /// The custom store that each of `stores` mirrors, where one does; empty where none does.
  let customStores: [CustomStore?]
  /// The stores without the mirrors of custom ones.
  var ownStores: [RecordStore] {
    customStores.isEmpty ? stores : zip(stores, customStores).filter { $1 == nil }.map(\.0)
  }
  /// Where the rows of each entity are, by the entity's index.
  let places: [EntityPlace]
  let configurations: Mutex<Set<ModelConfiguration>>
  /// The temporary directory of the stores, if they are copies that end with this object.
  private let past: ScratchDirectory?
  /// The main actor's context, while there is one.
  @MainActor weak var mainContext: ModelContext?

  /// Where an entity's rows are.
  struct EntityPlace: Sendable {
    /// The place of the store in `stores`.
    let storeIndex: Int
    /// The SQL of the rows in that store.
    let lazyPlan: EntityPlan.Lazy
  }

  private struct WeakContainer: Sendable {
    weak var container: ModelContainer?
  }
  private let opened = Mutex(WeakContainer())

  /// The container: the one that opened the stores, or, once that was released, another one with the same stores.
  var container: ModelContainer {
    opened.withLock { opened in
      if let container = opened.container { return container }
      // The program has released its own, and a context still needs one: the same stores, opened once.
      let container = ModelContainer(self)
      opened.container = container
      return container
    }
  }

  /// Records the container that has opened the stores.
  func adopt(_ container: ModelContainer) { opened.withLock { $0.container = container } }

  /// Opens the stores of a schema; ``ModelContainer`` says in what order, and what it throws.
  init(
    for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)?,
    configurations: [any DataStoreConfiguration], report: MigrationReporter,
    past: ScratchDirectory?, prepare: (ModelConfiguration) throws -> StoreMigration?
  ) throws {
    self.schema = schema
    self.migrationPlan = migrationPlan
    self.past = past
    let configurations = configurations.isEmpty ? [ModelConfiguration()] : configurations
    let own = configurations.map { $0 as? ModelConfiguration }
    self.configurations = Mutex(Set(own.compactMap(\.self)))
    do {
      let used = zip(configurations, own).map { given, own in
        own ?? ModelConfiguration(mirroring: given)
      }
      // `StoreAssignment` validates those of this library.
      for (given, own) in zip(configurations, own) where own == nil { try given.validate() }
      let layout = try StoreLayout(
        schema: schema, recordsReads: used.contains { $0.migration == .beforeCustomStage })
      self.layout = layout
      let assignment = try StoreAssignment(layout: layout, configurations: used)
      // Not for a migration's stages: an earlier version that has such models is opened, so that its data can be had.
      for (configuration, entities) in zip(used, assignment.entities)
      where configuration.migration == .none {
        try IndexNames(entities.map { layout.entities[$0] }).check()
      }
      // From here on files may change: all that contradicts in the configurations was found above.
      planned = try own.compactMap { try $0.flatMap(prepare) }
      var (stores, customStores): ([RecordStore], [CustomStore?]) = ([], [])
      for (index, entities) in assignment.entities.enumerated() {
        var custom: CustomStore?
        if own[index] == nil {
          custom = try CustomStore(
            configurations[index], standIn: used[index], layout: layout, entities: entities,
            migrationPlan: migrationPlan)
        }
        customStores.append(custom)
        stores.append(
          try custom?.mirror
            ?? RecordStore(
              configuration: used[index], layout: layout, entities: entities, report: report))
      }
      // Empty without custom stores, so that each fetch finds that out by one check.
      (self.stores, self.customStores) = (stores, own.contains { $0 == nil } ? customStores : [])
      places = try layout.entities.map { entity in
        guard let index = assignment.entities.firstIndex(where: { $0.contains(entity.index) }),
          let plan = stores[index].plans[entity.index]
        else {
          throw SwiftDataError(
            .configurationSchemaNotFoundInContainerSchema,
            "No configuration holds \(entity.name). Add it to the schema of one of them, or leave "
              + "one configuration without a schema, to hold all that is left.")
        }
        return EntityPlace(storeIndex: index, lazyPlan: plan)
      }
    } catch {
      // As it is, so that the caller recognizes its own cancellation.
      if error is CancellationError { throw error }
      throw SwiftDataError.ofOpening((error as? SchemaProblem)?.error ?? error)
    }
  }

  /// The entities for a new context, by their index.
  func contextEntities() -> [ContextEntity] {
    zip(layout.entities, places).map { entity, place in
      ContextEntity(
        entity, in: stores[place.storeIndex], at: place.storeIndex, place.lazyPlan)
    }
  }
}

extension ModelConfiguration {
  /// A configuration of the in-memory rows that stand for a custom store's objects.
  fileprivate init(mirroring configuration: any DataStoreConfiguration) {
    self.init(configuration.name, schema: configuration.schema, isStoredInMemoryOnly: true)
    // The mirror ends with the process. A custom store that keeps a history provides its own.
    history = .off
  }
}
