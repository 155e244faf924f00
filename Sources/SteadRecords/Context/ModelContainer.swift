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
/// if it is on a local disk; they see each other's saves. A store is closed when its last container is released.
/// Contexts and live results keep their container.
public final class ModelContainer: Equatable, Sendable {
  /// The models, with those that relationships reach.
  public let schema: Schema
  /// The plan that the container was opened with; nil if it was opened without.
  public let migrationPlan: (any SchemaMigrationPlan.Type)?

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
  /// The store of each entity.
  let storeByEntity: [RecordStore]
  let planByEntity: EntityPlans
  private let configurationSet: Mutex<Set<ModelConfiguration>>
  /// The temporary directory of the stores, if they are copies that end with the container.
  private let past: ScratchDirectory?
  @MainActor private let main = MainContextBox()

  /// The configurations of this library's stores, without custom ones. Changing the set neither opens nor closes a
  /// store.
  public var configurations: Set<ModelConfiguration> {
    get { configurationSet.withLock { $0 } }
    set { configurationSet.withLock { $0 = newValue } }
  }

  private struct WeakContainer: Sendable {
    weak var container: ModelContainer?
  }
  private static let newest = Mutex(WeakContainer())

  /// The container that was opened last, while it is held; `@Query` reads it unless another is given.
  static var current: ModelContainer? { newest.withLock { $0.container } }

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
    self.schema = schema
    self.migrationPlan = migrationPlan
    self.past = past
    let configurations = configurations.isEmpty ? [ModelConfiguration()] : configurations
    let own = configurations.map { $0 as? ModelConfiguration }
    configurationSet = Mutex(Set(own.compactMap(\.self)))
    do {
      let used = zip(configurations, own).map { given, own in
        own ?? ModelConfiguration(mirroring: given)
      }
      for (given, own) in zip(configurations, own) where own == nil { try given.validate() }
      let layout = try StoreLayout(
        schema: schema, recordsReads: used.contains { $0.migration == .beforeCustomStage })
      self.layout = layout
      let assignment = try StoreAssignment(layout: layout, configurations: used)
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
      (self.stores, self.customStores) = (stores, own.contains { $0 == nil } ? customStores : [])
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
      if isCurrent { Self.newest.withLock { $0 = WeakContainer(container: self) } }
      schema.reportNotes()
    } catch {
      if error is CancellationError { throw error }
      throw SwiftDataError.ofOpening((error as? SchemaProblem)?.error ?? error)
    }
  }

  /// The main actor's context; it saves automatically at the end of a turn.
  ///
  /// Made at the first use, and the same from then on. Its objects belong to the main actor. Between turns of the main
  /// actor it applies other contexts' and processes' commits. Turn off ``ModelContext/autosaveEnabled`` to save only by
  /// ``ModelContext/save()``.
  ///
  /// It and the container hold each other: a container whose main context was used stays open until the process ends.
  /// On a server, and in tests that open many containers, make a `ModelContext(container)` instead.
  @MainActor public var mainContext: ModelContext {
    if let context = main.context { return context }
    let context = ModelContext(self)
    context.becomeMain()
    main.context = context
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
    for store in stores { try store.alone { _ in } }
    for (index, store) in stores.enumerated() {
      if !customStores.isEmpty, let custom = customStores[index] {
        try custom.erase()
      } else {
        try store.erase()
      }
    }
  }

  public static func == (left: ModelContainer, right: ModelContainer) -> Bool { left === right }
}

/// Holds the main actor's context, once it was asked for.
@MainActor private final class MainContextBox {
  var context: ModelContext?

  nonisolated init() {}
}

extension ModelConfiguration {
  /// A configuration of the in-memory rows that stand for a custom store's objects.
  fileprivate init(mirroring configuration: any DataStoreConfiguration) {
    self.init(configuration.name, schema: configuration.schema, isStoredInMemoryOnly: true)
    history = .off
  }
}
