import Foundation
import SteadFiles
import Synchronization

/// An app's models and the stores that hold them.
///
/// Opening one creates or extends the stores' tables. A container is Sendable; make a ``ModelContext`` from it wherever
/// you work with objects.
///
/// ```swift
/// let configuration = ModelConfiguration(url: directory.appending(path: "trips.store"))
/// let container = try ModelContainer(for: Trip.self, configurations: configuration)
/// let context = ModelContext(container)
/// ```
///
/// Make one container for each set of stores, and keep it: for each store it holds a connection that writes, and up to
/// 8 idle ones that read, with their prepared statements. Several containers and several processes may open one store,
/// if it is on a local disk; they see each other's saves. A store is closed when its last container is released, and the
/// last context: contexts and live results keep their stores open.
public final class ModelContainer: Equatable, Sendable {
  /// The models, with those that relationships reach.
  public var schema: Schema { storeSet.schema }
  /// The plan that the container was opened with; nil if it was opened without.
  public var migrationPlan: (any SchemaMigrationPlan.Type)? { storeSet.migrationPlan }

  /// What the container shares with its contexts.
  let storeSet: StoreSet
  /// Holds the main context for as long as there is the container. The main context doesn't hold the container.
  private let main = MainContextHolder()

  /// The configurations of this library's stores, without custom ones. Changing the set neither opens nor closes a
  /// store.
  public var configurations: Set<ModelConfiguration> {
    get { storeSet.configurations.withLock { $0 } }
    set { storeSet.configurations.withLock { $0 = newValue } }
  }

  private struct WeakStoreSet: Sendable {
    weak var storeSet: StoreSet?
  }
  // Weak, so that the default of `@Query` keeps no store open.
  private static let newest = Mutex(WeakStoreSet())

  /// The container that was opened last, while it or one of its contexts is held; `@Query` reads it unless another is
  /// given.
  static var current: ModelContainer? { newest.withLock { $0.storeSet }?.container }

  /// Opens the stores of a schema.
  ///
  /// Invariant: all configurations are validated, and models are assigned to them, before the first store is opened, so
  /// that a contradiction between them changes no file. A model that no configuration holds is found last. The stores
  /// are opened one after the other: if a later one throws, those before it have followed their models already. What is
  /// thrown is marked as an error of opening, so that `catch SwiftDataError.loadIssueModelContainer` matches it; a
  /// cancellation is passed on as it is.
  ///
  /// - Parameters:
  ///   - isCurrent: Whether it becomes the current container.
  ///   - past: A directory to hold for as long as the container.
  ///   - prepare: What to do to each store of this library before it is opened; returns what this changed.
  init(
    for schema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)?,
    configurations: [any DataStoreConfiguration], report: MigrationReporter = MigrationReporter(),
    isCurrent: Bool = true, past: ScratchDirectory? = nil,
    prepare: (ModelConfiguration) throws -> StoreMigration?
  ) throws {
    storeSet = try StoreSet(
      for: schema, migrationPlan: migrationPlan, configurations: configurations, report: report,
      past: past, prepare: prepare)
    // First: who finds these stores as the current ones must get this container, and not a second one.
    storeSet.adopt(self)
    if isCurrent { Self.newest.withLock { $0 = WeakStoreSet(storeSet: storeSet) } }
    schema.reportNotes()
  }

  /// Another container of stores that are open, for a context that has outlived its container.
  init(_ storeSet: StoreSet) { self.storeSet = storeSet }

  deinit { main.release() }

  /// The main actor's context; it saves automatically at the end of a turn.
  ///
  /// Made at the first use, and the same from then on. Its objects belong to the main actor. Between turns of the main
  /// actor it applies other contexts' and processes' commits. Turn off ``ModelContext/autosaveEnabled`` to save only by
  /// ``ModelContext/save()``.
  ///
  /// The container holds it; it holds the stores, which stay open as long as there is either. Released with unsaved
  /// changes, it still saves at the end of the turn, unless ``ModelContext/autosaveEnabled`` is false.
  ///
  /// ```swift
  /// @MainActor func rename(_ id: PersistentIdentifier, to name: String) {
  ///   guard let trip = container.mainContext.model(for: id) as? Trip else { return }
  ///   trip.name = name  // saved at the end of the turn
  /// }
  /// ```
  @MainActor public var mainContext: ModelContext {
    if let context = main.context { return context }
    // Another container object of the same open stores may have made it (`StoreSet.container`).
    let context = storeSet.mainContext ?? ModelContext(mainOf: self)
    main.hold(context)
    storeSet.mainContext = context
    return context
  }

  /// Like ``erase()``, but an error is reported to `Stead.onProblem`, so that the caller does not learn of it.
  @available(*, deprecated, renamed: "erase()")
  public func deleteAllData() {
    do {
      try erase()
    } catch {
      Report.problem("The data was not deleted: \(error)")
    }
  }

  /// Removes all objects of all stores, the files of their large values, and the backups that migrations made.
  ///
  /// No byte of the stored data is left in a file, unless a reader keeps the log for more than five seconds; that is
  /// reported to `Stead.onProblem`. The stores remain, empty and usable at once; other containers and processes that
  /// have them open find them empty. Undo, history and receipts of transfers are removed, too. It cannot be undone.
  ///
  /// Blocks until no thread of this process has a transaction of the store open. Stores are erased one after the other;
  /// if one throws, those before it are empty.
  ///
  /// - Throws: ``SwiftDataError/transactionOpen`` within `transaction(block:)`, ``SwiftDataError/readOnlyStore`` for a
  ///   store that may not be written, and ``SwiftDataError/unreadableStore`` for one whose file was moved away: nothing
  ///   is erased then. ``SwiftDataError/storeLocked`` if another process holds the lock for 60 seconds. What a custom
  ///   store's `erase()` throws, by default ``DataStoreError/unsupportedFeature``.
  public func erase() throws {
    // Before the first is erased, each is asked whether it can be.
    for store in stores { try store.writer.alone { _ in } }
    for (index, store) in stores.enumerated() {
      if !customStores.isEmpty, let custom = customStores[index] {
        try custom.erase()
      } else {
        try store.erase()
      }
    }
  }

  /// Whether both are the same object. Two containers of one file are different.
  public static func == (left: ModelContainer, right: ModelContainer) -> Bool { left === right }
}

/// Holds the main actor's context, once it was asked for.
// Sendable: `context` is used on the main actor's queue alone, and `isUsed` is atomic.
private final class MainContextHolder: @unchecked Sendable {
  private(set) var context: ModelContext?
  private let isUsed = Atomic<Bool>(false)

  @MainActor func hold(_ context: ModelContext) {
    self.context = context
    isUsed.store(true, ordering: .releasing)
  }

  /// Lets the context go on the main actor, where its objects are used: at once there, and otherwise in a turn.
  func release() {
    guard isUsed.load(ordering: .acquiring) else { return }
    if MainQueue.isCurrent {
      context = nil
    } else {
      // The task holds this object, and not the container, which is being deallocated.
      Task { @MainActor in self.context = nil }
    }
  }
}

extension ModelContainer {
  /// All entities of the schema, with their tables and relationships.
  var layout: StoreLayout { storeSet.layout }
  /// The stores in the order of their configurations, the mirrors of custom ones included. Locks are taken in this
  /// order.
  var stores: [RecordStore] { storeSet.stores }
  var customStores: [CustomStore?] { storeSet.customStores }
  var ownStores: [RecordStore] { storeSet.ownStores }

  /// The store that holds an entity; nil if the container has none for it.
  func store(of entity: EntityLayout) -> RecordStore? {
    entity.index < storeSet.places.count
      ? stores[storeSet.places[entity.index].storeIndex] : nil
  }

  /// The SQL of an entity's rows, by the entity's index.
  func plan(of entity: Int) -> EntityPlan { storeSet.places[entity].lazyPlan.plan }
}

// MARK: - Stores

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
