import Foundation

/// A store that an app wrote, and its mirror: rows in memory of the objects that it has returned so far.
///
/// Contexts read the mirror as they read any store, so that identity, pending changes, relationships, delete
/// rules and undo are the same. Each fetch asks the store first, and brings the mirror up to its answer with all
/// that this leads to. A save is written to the mirror, handed to the store, and committed when the store has
/// saved it.
final class CustomStore: @unchecked Sendable {
  // Sendable: the store is only called under the mirror's write lock, and the rest is immutable.
  let store: any DataStore
  let mirror: RecordStore

  /// Opens a store, with an empty mirror.
  ///
  /// - Parameter standIn: The configuration of a store in memory with the same name and schema.
  init<C: DataStoreConfiguration>(
    _ configuration: C, standIn: ModelConfiguration, layout: StoreLayout, entities: Set<Int>,
    migrationPlan: (any SchemaMigrationPlan.Type)?
  ) throws {
    var configuration = configuration
    if configuration.schema == nil {
      configuration.schema =
        entities.count == layout.entities.count
        ? layout.schema : Schema(entities.sorted().map { layout.entities[$0].type })
    }
    let store = try C.Store(configuration, migrationPlan: migrationPlan)
    self.store = store
    mirror = try RecordStore(
      configuration: standIn, layout: layout, entities: entities, mirroring: store.identifier)
  }

  // MARK: Fetching

  /// What a store has answered; its objects are in the mirror.
  struct Answer {
    let identifiers: [PersistentIdentifier]
    /// Whether they are in the descriptor's order, and within its limit.
    let isSorted: Bool
  }

  /// Asks for the objects of a fetch; nil if the mirror already has all objects of the hierarchy, so that the fetch can
  /// run there.
  func fetch<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, _ entity: EntityLayout, _ state: EditingState
  ) throws -> Answer? {
    try update(for: state) { update in
      // In a hierarchy it is open whether a store's answer has the objects of subclasses, so all classes are fetched.
      if entity.discriminator == nil {
        if let answer = try ask(store, descriptor, state, &update) { return answer }
      }
      try update.takeAll([entity.rootIndex])
      return nil
    }
  }

  /// Asks the store for a fetch, and again with less if it leaves sorting to the context; nil if it leaves filtering
  /// to the context.
  ///
  /// An answer to a fetch without predicate and limit is all that the store has, so rows that it lacks are deleted. A
  /// limit goes with the order: the first objects of an unsorted result are others.
  private func ask<S: DataStore, T: PersistentModel>(
    _ store: S, _ descriptor: FetchDescriptor<T>, _ state: EditingState,
    _ update: inout MirrorUpdate
  ) throws -> Answer? {
    var (descriptor, isSorted) = (descriptor, true)
    while true {
      do {
        let request = DataStoreFetchRequest(descriptor: descriptor, editingState: state)
        let result = try store.fetch(request)
        try update.take(result.fetchedSnapshots)
        try update.take(result.relatedSnapshots.values)
        if descriptor.predicate == nil, descriptor.fetchLimit == nil, descriptor.fetchOffset == nil,
          let root = mirror.layout.entity(for: T.self)?.rootIndex
        {
          try update.removeUnseen(of: root)
        }
        return Answer(
          identifiers: result.fetchedSnapshots.map(\.persistentIdentifier), isSorted: isSorted)
      } catch DataStoreError.preferInMemorySort where isSorted {
        // Once: if the store refuses the request without an order, too, its error reaches the program.
        isSorted = false
        descriptor.sortBy = []
        descriptor.fetchLimit = nil
        descriptor.fetchOffset = nil
      } catch DataStoreError.preferInMemoryFilter where descriptor.predicate != nil {
        return nil
      }
    }
  }

  /// The number of objects that match; nil when the store leaves filtering to the context, and all objects are in
  /// the mirror.
  func fetchCount<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, _ entity: EntityLayout, _ state: EditingState
  ) throws -> Int? {
    try asking(descriptor, entity, state) { try count($0, $1) }
  }

  /// The identifiers of the objects that match; nil when the store leaves filtering or sorting to the context.
  func fetchIdentifiers<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, _ entity: EntityLayout, _ state: EditingState
  ) throws -> [PersistentIdentifier]? {
    try asking(descriptor, entity, state) { try identifiers($0, $1) }
  }

  /// Asks the store for something other than objects, which changes nothing in the mirror; nil if it leaves that to
  /// the context, after all objects of the hierarchy were brought into the mirror.
  private func asking<T: PersistentModel, Result>(
    _ descriptor: FetchDescriptor<T>, _ entity: EntityLayout, _ state: EditingState,
    _ body: (any DataStore, DataStoreFetchRequest<T>) throws -> Result
  ) throws -> Result? {
    if entity.discriminator == nil {
      do {
        // The lock without a transaction: the answer has no objects that the mirror would get.
        return try mirror.writer.exclusively {
          try body(store, DataStoreFetchRequest(descriptor: descriptor, editingState: state))
        }
      } catch DataStoreError.preferInMemoryFilter {
      } catch DataStoreError.preferInMemorySort {}
    }
    try take(hierarchies: [entity.rootIndex], for: state)
    return nil
  }

  private func count<S: DataStore, T: PersistentModel>(
    _ store: S, _ request: DataStoreFetchRequest<T>
  ) throws -> Int { try store.fetchCount(request) }

  private func identifiers<S: DataStore, T: PersistentModel>(
    _ store: S, _ request: DataStoreFetchRequest<T>
  ) throws -> [PersistentIdentifier] { try store.fetchIdentifiers(request) }

  // MARK: The mirror

  /// Brings all objects of some hierarchies into the mirror.
  func take(hierarchies: some Sequence<Int>, for state: EditingState) throws {
    try update(for: state) { try $0.takeAll(hierarchies) }
  }

  /// Brings what a save is checked against into the mirror: all objects of some hierarchies, and those with some
  /// identifiers as far as the store still has them.
  ///
  /// - Returns: The version that the content had before that, or a later one; nil if the store has no versions.
  func takeChecked(
    hierarchies: Set<Int>, _ identifiers: Set<PersistentIdentifier>, for state: EditingState
  ) throws -> Any? {
    func version<S: DataStoreVersioning>(of store: S) throws -> Any { try store.version() }
    return try update(for: state) { update in
      // Before the fetch: a version that is too old costs another attempt, one that is too new would hide a change.
      let version = try (store as? any DataStoreVersioning).map { try version(of: $0) }
      try update.takeAll(hierarchies)
      try update.renew(identifiers)
      return version
    }
  }

  /// Whether the store saves only to the content that a save was checked against.
  var hasVersions: Bool { store is any DataStoreVersioning }

  /// Brings the objects with some identifiers into the mirror unless they are already in it.
  func take(_ identifiers: [PersistentIdentifier], for state: EditingState) throws {
    let layout = mirror.layout
    let missing = try mirror.read(.newest) { connection, _ in
      try identifiers.filter { identifier in
        guard
          let plan = layout.entity(named: identifier.entityName).flatMap({
            mirror.plans[$0.index]
          })?.plan, plan.reference === identifier.id.reference
        else { return false }
        return try !connection.hasRow(identifier.row, in: plan)
      }
    }
    // Nothing to ask for: no write lock is taken, and the store is not called.
    guard !missing.isEmpty else { return }
    try update(for: state) { try $0.take(missing) }
  }

  /// Runs a transaction on the mirror with the store; it is committed if it has changed a row.
  ///
  /// The mirror's write lock is held while the store is called. So the store is called by one thread at a time, and
  /// no other context sees the mirror between two answers.
  private func update<Result>(
    for state: EditingState, _ body: (inout MirrorUpdate) throws -> Result
  ) throws -> Result {
    try mirror.writer.transact { connection in
      var update = MirrorUpdate(of: store, in: mirror, connection, for: state)
      let result = try body(&update)
      // In the same transaction, so that no context sees a reference in the mirror whose row is still to come.
      try update.finish()
      let rows = update.writer.rows
      // Without an author: the context that asked applies it as the others do.
      if !rows.tables.isEmpty { try mirror.writer.commit(from: nil, rows: rows) }
      return result
    }
  }

  // MARK: Saving

  /// What the store returned for a save.
  struct Saved {
    let identifiers: [PersistentIdentifier: PersistentIdentifier]
    /// What it keeps with other values than it was given.
    let changed: [any DataStoreSnapshot]
    let historyToken: (any HistoryToken)?
  }

  /// The snapshots of objects, of the store's own type.
  func snapshots(of models: [any PersistentModel]) -> [any DataStoreSnapshot] {
    func make<S: DataStore>(_ store: S) -> [any DataStoreSnapshot] {
      var backings: [PersistentIdentifier: any BackingData] = [:]
      for model in models { backings[model.persistentModelID] = Self.backing(of: model) }
      return models.map { model in
        S.Snapshot(from: Self.backing(of: model), relatedBackingDatas: &backings)
      }
    }
    return make(store)
  }

  private static func backing<M: PersistentModel>(of model: M) -> any BackingData {
    ObjectBackingData(of: model)
  }

  /// Hands the store the changes of one save; within the mirror's transaction.
  ///
  /// The store's types are only known to its own generic code, so each step opens the existential.
  ///
  /// Invariant: the store's content is changed at most once, and with a version only if the store still has it.
  ///
  /// - Parameter version: What ``takeChecked(hierarchies:_:for:)`` returned for the save; nil saves to any content.
  /// - Returns: Nil if the store has another version, and saved nothing.
  func save(
    inserted: [any DataStoreSnapshot], updated: [any DataStoreSnapshot],
    deleted: [any DataStoreSnapshot], for state: EditingState, at version: Any?
  ) throws -> Saved? {
    func save<S: DataStoreVersioning>(
      _ store: S, _ request: Any
    ) throws -> Any? {
      guard let request = request as? DataStoreSaveChangesRequest<S.Snapshot>,
        let version = version as? S.Version
      else { return nil }
      return try store.save(request, at: version)
    }
    func run<S: DataStore>(_ store: S) throws -> Saved? {
      // The casts succeed, since `snapshots(of:)` has made all snapshots of the store's type.
      let request = DataStoreSaveChangesRequest(
        inserted: inserted.compactMap { $0 as? S.Snapshot },
        updated: updated.compactMap { $0 as? S.Snapshot },
        deleted: deleted.compactMap { $0 as? S.Snapshot }, editingState: state)
      var result: DataStoreSaveChangesResult<S.Snapshot>?
      if version != nil, let versioned = store as? any DataStoreVersioning {
        result = try save(versioned, request) as? DataStoreSaveChangesResult<S.Snapshot>
      } else {
        result = try store.save(request)
      }
      guard let result else { return nil }
      return Saved(
        identifiers: result.remappedIdentifiers,
        changed: result.snapshotsToReregister.values.map { $0 },
        historyToken: result.historyToken)
    }
    return try run(store)
  }

  /// Brings the mirror up to snapshots, and returns the rows that this has changed, by hierarchy.
  func take(
    _ snapshots: [any DataStoreSnapshot], for state: EditingState
  ) throws -> [Int: Set<Int64>] {
    guard !snapshots.isEmpty else { return [:] }
    func take<S: DataStoreSnapshot>(_ snapshot: S, _ update: inout MirrorUpdate) throws {
      try update.take(CollectionOfOne(snapshot))
    }
    return try update(for: state) { update in
      for snapshot in snapshots { try take(snapshot, &update) }
      try update.finish()
      return update.writer.written
    }
  }

  // MARK: Deleting

  /// Has the store delete what matches; returns false when it leaves that to the context.
  func delete<T: PersistentModel>(
    _ request: DataStoreBatchDeleteRequest<T>, of entity: EntityLayout
  ) throws -> Bool {
    guard let store = store as? any DataStoreBatching else { return false }
    func run<S: DataStoreBatching>(_ store: S) throws { try store.delete(request) }
    do {
      try mirror.writer.exclusively { try run(store) }
    } catch is DataStoreError {
      return false
    }
    // The store has not named what it deleted.
    try take(hierarchies: [entity.rootIndex], for: request.editingState)
    return true
  }

  /// Removes all objects of the store and all rows of the mirror.
  ///
  /// - Throws: `transactionOpen` within a transaction of the thread, and what the store throws; the mirror then keeps
  ///   its rows.
  func erase() throws {
    try mirror.writer.alone { _ in
      // The store first: if it throws, the mirror still has what the store has.
      try store.erase()
      try mirror.erase()
    }
  }

  // MARK: Contexts

  /// Tells the store of a new context. Waits for a call of the store that is under way.
  func initializeState(for state: EditingState) {
    mirror.writer.exclusively { store.initializeState(for: state) }
  }

  /// Tells the store of the end of a context; on the thread that released it.
  func invalidateState(for state: EditingState) {
    mirror.writer.exclusively { store.invalidateState(for: state) }
  }
}
