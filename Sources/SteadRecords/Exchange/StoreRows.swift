import Foundation
import SteadFiles

/// Access to the rows of a container's store, below its objects, for code that moves data as a whole: SteadTransfer and
/// SteadSync.
///
/// ```swift
/// guard let rows = StoreRows(container, holding: "Trip"), let shape = rows.shapes["Trip"]
/// else { return }
/// try rows.apply(by: "sync") { transaction in
///   let number = try transaction.newNumber(in: shape)
///   try transaction.insert(shape.blankValues, as: number, of: shape)
/// }
/// ```
///
/// Rules of the models are the caller's business: nothing here checks required values, delete rules
/// or inverses.
package struct StoreRows: Sendable {
  let container: ModelContainer
  /// The entities' shapes by their names.
  package let shapes: [String: RowShape]
  private let store: RecordStore

  /// The store that holds an entity, or, without an entity, the only store.
  ///
  /// nil if the container does not have the entity, or, without an entity, if it has several stores.
  package init?(_ container: ModelContainer, holding name: String? = nil) {
    let store: RecordStore
    if let name {
      guard let entity = container.layout.entity(named: name),
        let holder = container.store(of: entity)
      else { return nil }
      store = holder
    } else {
      guard container.stores.count == 1 else { return nil }
      store = container.stores[0]
    }
    self.init(container, store)
  }

  /// The store of a configuration; nil if it is a custom one.
  package init?(_ container: ModelContainer, of configuration: ModelConfiguration) {
    let found = container.ownStores.first { store in
      store.configuration.name == configuration.name
        && store.configuration.url == configuration.url
    }
    guard let found else { return nil }
    self.init(container, found)
  }

  /// Describes the entities that the store holds. Costs a pass over their properties.
  private init(_ container: ModelContainer, _ store: RecordStore) {
    self.container = container
    self.store = store
    let shapes = container.layout.entities.filter { store.plans[$0.index] != nil }.map {
      ($0.name, RowShape($0, container.layout))
    }
    self.shapes = Dictionary(uniqueKeysWithValues: shapes)
  }

  /// The store's file; nil for a store in memory.
  private var url: URL? {
    store.configuration.isStoredInMemoryOnly ? nil : store.configuration.url
  }

  /// The store's own identifier, as in its objects' identifiers.
  package var identifier: String { store.identity.identifier }

  /// Runs a body on a snapshot of the committed data, past the caches of all contexts.
  ///
  /// - Throws: `storeFailure` for a custom store, errors of reading, and what the body throws.
  package func read<Result>(_ body: (RowTransaction) throws -> Result) throws -> Result {
    try requireRows()
    return try store.read(.newest) { connection, _ in
      try body(RowTransaction(self, store, connection))
    }
  }

  /// Runs a body in one transaction that survives a power loss once this returns; it is rolled back if the body throws.
  ///
  /// All contexts then read everything again: the changes are not listed row by row. Costs a disk sync besides the body's
  /// work.
  ///
  /// - Throws: `storeFailure` for a custom store, what ``StoreWriter/transact(isDurable:_:)`` throws,
  ///   and what the body throws.
  package func write<Result>(_ body: (RowTransaction) throws -> Result) throws -> Result {
    try requireRows()
    var dropped: Set<String> = []
    // Durable: what was moved here is removed from its source next.
    let result = try store.write(isDurable: true) { connection in
      let rows = RowTransaction(self, store, connection)
      let result = try body(rows)
      // Removed after the commit only: a transaction that is rolled back needs its files.
      dropped = rows.droppedFiles
      return result
    }
    store.removeFiles(dropped)
    return result
  }

  /// Runs a body in one transaction; it is rolled back if the body throws.
  ///
  /// Contexts treat as changed only what the body changes, however many rows exist. The commit survives the end of the
  /// process.
  ///
  /// - Parameter author: Who made the changes, for the history.
  package func apply<Result>(
    by author: String, _ body: (RowTransaction) throws -> Result
  ) throws -> Result {
    try requireRows()
    // Not `RecordStore.write`, which has all contexts read everything again.
    var dropped: Set<String> = []
    let result = try store.writer.transact { connection in
      connection.changes.author = author
      let rows = RowTransaction(self, store, connection)
      let result = try body(rows)
      dropped = rows.droppedFiles
      // Without an author, so that every context applies it. The changes that are recorded for the history, too, name
      // every row.
      try store.writer.commit(from: nil, rows: connection.changes.rows)
      return result
    }
    // `commit` leaves it to its callers, which may have locked several stores.
    store.trimIfDue()
    store.removeFiles(dropped)
    return result
  }

  /// Throws for a custom store: its mirror in memory lacks some of its data, and what is written there is not saved.
  private func requireRows() throws {
    guard container.customStores.contains(where: { $0?.mirror === store }) else { return }
    throw SwiftDataError(
      .storeFailure,
      "Data cannot be moved to or from the custom store \(store.identity.identifier) row by row. Fetch its objects "
        + "in a context, or use a ModelConfiguration.")
  }

  /// Makes all committed data survive a power loss, including commits of a process that was killed.
  package func makeDurable() throws {
    guard let url else { return }
    let disk = POSIXDisk()
    let log = url.path + "-wal"
    // Only the log: a checkpoint syncs the store's file itself. And closing another descriptor of that file would release
    // SQLite's locks on it (POSIX advisory locks are per process, see sqlite.org/howtocorrupt.html).
    if try disk.status(at: log) != nil {
      try disk.withDescriptor(log, O_RDONLY) { try disk.sync($0, path: log) }
    }
    // A new file is only found after a loss of power if its directory was synced.
    try disk.syncDirectory(url.deletingLastPathComponent().path)
  }

  /// Makes all contexts read everything again.
  ///
  /// By an empty transaction that names no rows. Costs a commit.
  package func notifyContexts() {
    do {
      try store.write { _ in }
    } catch {
      Report.problem("Other contexts were not notified of new files: \(error)")
    }
  }

  /// The identifier of a row's object.
  package func identifier(_ shape: RowShape, _ number: Int64) -> PersistentIdentifier {
    PersistentIdentifier(reference: container.plan(of: shape.index).reference, row: number)
  }

  /// The row of an identifier; nil if it is of another store, or of an object never saved.
  package func place(
    of identifier: PersistentIdentifier
  ) -> (entity: String, number: Int64)? {
    // A store may hold only some of the container's entities.
    guard identifier.storeIdentifier == self.identifier,
      shapes[identifier.entityName] != nil
    else { return nil }
    return (identifier.entityName, identifier.row)
  }

  /// The name of the stored property that a key path of a model reads.
  package func propertyName(
    of keyPath: AnyKeyPath, on type: any PersistentModel.Type
  ) -> String? {
    guard let entity = container.layout.entity(for: type) else { return nil }
    if let index = entity.propertyByKeyPath[keyPath] { return entity.properties[index].name }
    // A subclass's path to an inherited property is a different one with the same name; a computed property that reads
    // a stored one has another name.
    return entity.propertyIndex(of: keyPath).map { entity.properties[$0].name }.flatMap {
      $0 == KeyPathName.lastComponent(keyPath) ? $0 : nil
    }
  }

  /// The row of an object; during a save also of one that is being inserted.
  func place(of model: any PersistentModel) -> (entity: String, number: Int64)? {
    let state = model._$statePointer
    guard state.pointee.entity >= 0 else { return nil }
    let entity = container.layout.entities[Int(state.pointee.entity)]
    return shapes[entity.name] == nil ? nil : (entity.name, state.pointee.rowID)
  }
}

extension StoreRows {
  /// A registration for commits to the store, of this process and of others, that ends when it is released.
  package final class CommitWatch: Sendable {
    /// The log holds it weakly, so it ends with this object.
    private let listener = CommitListener()
    /// The log of the store's file.
    private let log: CommitLog

    fileprivate init(_ store: RecordStore, _ body: @escaping @Sendable () -> Void) {
      log = store.log
      listener.setTurn { [weak listener] in
        // Re-armed before the body runs, so that a commit during the body calls it again.
        listener?.turnBegins()
        body()
      }
      // The log announces commits only while a store has more than one context.
      log.addContext()
      log.listen(listener)
      store.watch()
    }

    deinit { log.removeContext() }
  }

  /// Calls a body after commits; one call may stand for several.
  ///
  /// The body is called by the thread that has committed, which may have the locks of other stores. So it must not
  /// wait for a lock or a store: it wakes the thread that does the work.
  package func watch(_ body: @escaping @Sendable () -> Void) -> CommitWatch {
    CommitWatch(store, body)
  }
}
