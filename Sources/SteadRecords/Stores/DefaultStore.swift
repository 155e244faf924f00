import Foundation

/// This library's SQLite store, as a store that can be used on its own.
///
/// A container with a `ModelConfiguration` does not use it, but goes straight to the file. Each call uses a new
/// context, so a snapshot costs several times what an object of a context does.
///
/// For a store of your own that keeps its objects in SQLite and adds to that, such as a cache in front of a service: it
/// forwards what it does not handle itself.
///
/// ```swift
/// let store = try DefaultStore(
///   ModelConfiguration(schema: Schema([Trip.self]), url: url), migrationPlan: nil)
/// ```
///
/// Each call may come from any thread, but only from one at a time. Containers and other processes may have the file
/// open meanwhile.
public final class DefaultStore: DataStore, DataStoreBatching, DataStoreVersioning, HistoryProviding
{
  public typealias Configuration = ModelConfiguration
  public typealias Snapshot = DefaultSnapshot
  public typealias HistoryType = DefaultHistoryTransaction
  /// The type of ``DataStoreSaveChangesResult/historyToken`` in the results of saves.
  public typealias TokenType = DefaultHistoryToken
  /// The position of the last transaction in the store's history.
  public typealias Version = DefaultHistoryToken

  /// The configuration that the store was opened with.
  public let configuration: ModelConfiguration
  /// The configuration's schema.
  public let schema: Schema
  private let container: ModelContainer

  /// The configuration's name.
  public var name: String { configuration.name }
  /// The identifier that the file records.
  public var identifier: String { container.stores[0].identity.identifier }

  /// Opens the store; the configuration must have a schema.
  ///
  /// It does not become the container that `@Query` reads.
  ///
  /// - Throws: ``SwiftDataError/configurationSchemaNotFoundInContainerSchema`` without a schema, and what opening a
  ///   ``ModelContainer`` throws.
  public init(
    _ configuration: ModelConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?
  ) throws {
    guard let schema = configuration.schema else {
      throw SwiftDataError(
        .configurationSchemaNotFoundInContainerSchema,
        "The configuration \(configuration.name) has no schema. Give it one.")
    }
    self.configuration = configuration
    self.schema = schema
    container = try ModelContainer(
      for: schema, migrationPlan: migrationPlan, anyOf: [configuration], isCurrent: false,
      report: MigrationReporter())
  }

  /// A new context for each call: a context belongs to one thread, and calls come from several.
  private func context(for state: EditingState) -> ModelContext {
    let context = ModelContext(container)
    // Snapshots are made of the objects, and nothing observes them.
    context.observesModels = false
    context.author = state.author
    return context
  }

  // MARK: Fetching

  /// The objects that match, filtered, sorted and limited by SQL. Loads the relationships of each, since a snapshot has
  /// their identifiers.
  ///
  /// - Throws: What ``ModelContext/fetch(_:)`` throws.
  public func fetch<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
    let context = context(for: request.editingState)
    let snapshots = try context.fetch(request.descriptor).map { Self.snapshot(of: $0) }
    return DataStoreFetchResult(descriptor: request.descriptor, fetchedSnapshots: snapshots)
  }

  /// The number of objects that match, by one `SELECT count(*)`.
  public func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
    try context(for: request.editingState).fetchCount(request.descriptor)
  }

  /// The identifiers of the objects that match, without making snapshots.
  ///
  /// - Throws: What ``ModelContext/fetchIdentifiers(_:)`` throws.
  public func fetchIdentifiers<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> [PersistentIdentifier] {
    try context(for: request.editingState).fetchIdentifiers(request.descriptor)
  }

  /// The objects with some identifiers, read from the file; those without a row are missing.
  public func cachedSnapshots(
    for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
  ) throws -> [PersistentIdentifier: DefaultSnapshot] {
    let graph = context(for: editingState).linkedGraph()
    let models = try FetchRunner(graph).models(persistentIdentifiers)
    let snapshots = models.map { Self.snapshot(of: $0) }
    return Dictionary(
      snapshots.map { ($0.persistentIdentifier, $0) }, uniquingKeysWith: { one, _ in one })
  }

  /// The snapshot of one object. Loads its relationships, since a snapshot has their identifiers.
  private static func snapshot<M: PersistentModel>(of model: M) -> DefaultSnapshot {
    var backings: [PersistentIdentifier: any BackingData] = [:]
    return DefaultSnapshot(from: ObjectBackingData(of: model), relatedBackingDatas: &backings)
  }

  // MARK: Saving

  /// Saves the changes in one transaction, with the checks and delete rules of a context.
  ///
  /// - Throws: ``SwiftDataError/foreignModel`` for a changed object that the store does not have, and what
  ///   ``ModelContext/save()`` throws. Nothing is saved then. A deleted object that the store does not have is ignored.
  public func save(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
  ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
    let context = context(for: request.editingState)
    var application = SnapshotApplication(context)
    let inserted = try application.run(request)
    let store = container.stores[0]
    // Under the write lock, so that the number is this save's, and not that of another thread's next one.
    let number = try store.writer.exclusively {
      try context.save()
      return store.writer.number
    }
    return result(of: inserted, number)
  }

  /// The token of the store's last transaction, other processes' included.
  ///
  /// Takes the write lock for a moment, so it waits for a writer.
  ///
  /// - Throws: ``SwiftDataError/storeLocked`` and ``SwiftDataError/readOnlyStore``, as a save does.
  public func version() throws -> DefaultHistoryToken {
    let store = container.stores[0]
    // A transaction, since only beginning one compares the store with the file: another process may have committed.
    return try store.writer.transact { _ in
      DefaultHistoryToken(store: identifier, number: store.writer.number)
    }
  }

  /// Saves the changes if no transaction was committed since a version, compared under the write lock; otherwise nil.
  public func save(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>, at version: DefaultHistoryToken
  ) throws -> DataStoreSaveChangesResult<DefaultSnapshot>? {
    let context = context(for: request.editingState)
    let store = container.stores[0]
    // Around the transaction, so that the number that is read after it is still this one's.
    return try store.writer.exclusively {
      var inserted: [PersistentIdentifier: any PersistentModel]?
      try context.transaction {
        // Compared with the write lock, so that nobody can commit between this and the save below.
        guard version.number(in: identifier) == store.writer.number else { return }
        var application = SnapshotApplication(context)
        inserted = try application.run(request)
      }
      return inserted.map { result(of: $0, store.writer.number) }
    }
  }

  private func result(
    of inserted: [PersistentIdentifier: any PersistentModel], _ number: Int64
  ) -> DataStoreSaveChangesResult<DefaultSnapshot> {
    DataStoreSaveChangesResult(
      for: identifier, remappedIdentifiers: inserted.mapValues { $0.persistentModelID },
      historyToken: DefaultHistoryToken(store: identifier, number: number))
  }

  /// Deletes the objects that match, as `ModelContext.delete(model:where:includeSubclasses:)` does.
  ///
  /// Commits at once; ``ModelContext/delete(model:where:includeSubclasses:)`` says what it costs and throws.
  public func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws {
    try context(for: request.editingState).delete(
      model: T.self, where: request.predicate, includeSubclasses: request.includeSubclasses)
  }

  /// Removes all objects; the store itself stays.
  public func erase() throws { try container.erase() }

  // MARK: History

  /// The store's transactions that match; see ``ModelContext/fetchHistory(_:)``.
  public func fetchHistory(
    _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
  ) throws -> [DefaultHistoryTransaction] { try ModelContext(container).fetchHistory(descriptor) }

  /// Deletes the store's transactions that match; see ``ModelContext/deleteHistory(_:)``.
  public func deleteHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
    try ModelContext(container).deleteHistory(descriptor)
  }
}

extension ModelConfiguration: DataStoreConfiguration {
  /// The store that `DataStoreConfiguration` requires. A container with this configuration opens the file without it.
  public typealias Store = DefaultStore
}

// MARK: - Applying snapshots

/// Makes the changes of a save's snapshots in a context.
struct SnapshotApplication {
  private let graph: ObjectGraph
  private let context: ModelContext
  /// The objects by the snapshots' identifiers.
  private var models: [PersistentIdentifier: any PersistentModel] = [:]
  private let defaults = PropertyDefaults()

  init(_ context: ModelContext) {
    self.context = context
    graph = context.linkedGraph()
  }

  /// Makes the changes without saving them, and returns the new objects by their temporary identifiers.
  ///
  /// Attributes first and relationships afterwards, when every object exists that a snapshot may refer to; deletions
  /// last, so that the delete rules see the relationships as they are to be saved.
  ///
  /// Invariant: if it throws, the context has changes that must not be saved. Each call of the store has a context of
  /// its own, which is dropped then.
  mutating func run(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
  ) throws -> [PersistentIdentifier: any PersistentModel] {
    let values = try (request.inserted + request.updated).map { try SnapshotValues($0) }
    for values in values.prefix(request.inserted.count) {
      models[values.identifier] = try make(values)
    }
    // What was made so far, by the identifiers of the request: the caller maps them to permanent ones.
    let inserted = models
    for values in values.dropFirst(request.inserted.count) {
      let model = try existing(values.identifier)
      try SlotFiller.fill(model, of: graph.entity(of: model), with: values, defaults)
      // The slots are filled without the accessors, which would note the changes for the save.
      for property in graph.entity(of: model).properties {
        if case .attribute = property.kind { graph.markChanged(model, at: property.index) }
      }
    }
    for values in values { try link(values) }
    for snapshot in request.deleted {
      // An object that is gone already needs no deletion, unlike one that is to be updated.
      if let model = try find(snapshot.persistentIdentifier) { DeleteRules(graph).delete(model) }
    }
    return inserted
  }

  /// The entity with a name.
  ///
  /// - Throws: `unknownModel` if the schema lacks it.
  private func entity(_ name: String) throws -> EntityLayout {
    if let entity = graph.layout.entity(named: name) { return entity }
    throw SwiftDataError(
      .unknownModel, "The store has no model named \(name). Name it in the configuration's schema.")
  }

  /// Inserts a new object with the attributes of a snapshot.
  private func make(_ values: SnapshotValues) throws -> any PersistentModel {
    let entity = try entity(values.identifier.entityName)
    // Not by an initializer of the app's, which would have other parameters and side effects.
    let model = entity.type.init(_row: .empty)
    try SlotFiller.fill(model, of: entity, with: values, defaults)
    graph.editor.insert(model)
    return model
  }

  /// The object of an identifier: a new one of this request, or a stored one.
  private func find(_ identifier: PersistentIdentifier) throws -> (any PersistentModel)? {
    if let model = models[identifier] { return model }
    guard identifier.row > 0, let entity = graph.entity(of: identifier) else { return nil }
    return try graph.reader.object(entity, row: identifier.row)
  }

  /// The object of an identifier.
  ///
  /// - Throws: `foreignModel` if the store does not have it, and errors of reading its row.
  private func existing(_ identifier: PersistentIdentifier) throws -> any PersistentModel {
    if let model = try find(identifier) { return model }
    throw SwiftDataError(
      .foreignModel,
      "A snapshot of \(identifier.entityName) does not match an object in the store. Fetch its objects again."
    )
  }

  /// Sets the relationships that a snapshot has, with their inverses.
  private func link(_ values: SnapshotValues) throws {
    let model = try existing(values.identifier)
    for index in graph.entity(of: model).relationships {
      let property = graph.entity(of: model).properties[index]
      // A property that the snapshot lacks keeps what it has.
      guard values.has(property.name) else { continue }
      let targets = try values.identifiers(of: property.name).compactMap { try find($0) }
      if property.isToMany {
        // Loaded first: `didSetToMany` updates the inverses of members that have left.
        _ = graph.reader.members(of: model, at: index)
        guard case .toMany(let old) = model.content(at: index) else { continue }
        if (old.loaded ?? []).elementsEqual(targets, by: { $0 === $1 }) { continue }
        model.setContent(.toMany(_Targets(loaded: targets)), at: index)
        graph.editor.didSetToMany(model, index, old)
      } else {
        let current = graph.reader.destination(of: model, at: index)
        guard current !== targets.first, case .toOne(let old) = model.content(at: index) else {
          continue
        }
        model.setContent(.toOne(targets.first.map { .model($0) } ?? .none), at: index)
        graph.editor.didSetToOne(model, index, old, targets.first)
      }
      graph.markChanged(model, at: index)
    }
  }
}
