import Foundation
import SteadFiles

/// The rows of a container's store, below its objects; for what moves data as a whole.
package struct StoreRows: Sendable {
  let container: ModelContainer
  /// The entities' shapes by their names.
  package let shapes: [String: RowShape]
  private let store: RecordStore

  /// The store that holds an entity, or, without one, all entities.
  ///
  /// nil when the container has no such entity, or, without one, several stores.
  package init?(_ container: ModelContainer, holding name: String? = nil) {
    let store: RecordStore
    if let name {
      guard let entity = container.layout.entity(named: name) else { return nil }
      store = container.storeByEntity[entity.index]
    } else {
      guard container.stores.count == 1 else { return nil }
      store = container.stores[0]
    }
    self.init(container, store)
  }

  /// The store of a configuration; nil where it is a custom one.
  package init?(_ container: ModelContainer, of configuration: ModelConfiguration) {
    let found = container.ownStores.first { store in
      store.configuration.name == configuration.name
        && store.configuration.url == configuration.url
    }
    guard let found else { return nil }
    self.init(container, found)
  }

  private init(_ container: ModelContainer, _ store: RecordStore) {
    self.container = container
    self.store = store
    let shapes = container.layout.entities.filter { store.plans[$0.index] != nil }.map {
      ($0.name, RowShape($0, container.layout))
    }
    self.shapes = Dictionary(uniqueKeysWithValues: shapes)
  }

  /// The store's file; where it is in memory, there is none.
  private var url: URL? {
    store.configuration.isStoredInMemoryOnly ? nil : store.configuration.url
  }

  /// The store's own identifier, as its objects' identifiers have it.
  package var identifier: String { store.identity.identifier }

  /// Runs a body on what is committed now, past the caches of all contexts.
  package func read<Result>(_ body: (RowTransaction) throws -> Result) throws -> Result {
    try requireRows()
    return try store.read(.newest) { connection, _ in
      try body(RowTransaction(self, store, connection))
    }
  }

  /// Runs a body in one transaction that survives a loss of power when this returns; it is rolled back
  /// when the body throws.
  ///
  /// All contexts then read everything again. Costs a sync of the disk beside the body's work.
  package func write<Result>(_ body: (RowTransaction) throws -> Result) throws -> Result {
    try requireRows()
    var dropped: Set<String> = []
    let result = try store.write(isDurable: true) { connection in
      let rows = RowTransaction(self, store, connection)
      let result = try body(rows)
      dropped = rows.droppedFiles
      return result
    }
    for reference in dropped { store.removeFile(reference, unlessUsedIn: container.layout) }
    return result
  }

  /// Runs a body in one transaction; it is rolled back when the body throws.
  ///
  /// Contexts take as changed what the body changes, and no more, however many rows there are. The commit survives
  /// the end of the process.
  ///
  /// - Parameter author: Who made the changes, for the history.
  package func apply<Result>(
    by author: String, _ body: (RowTransaction) throws -> Result
  ) throws -> Result {
    try requireRows()
    let connection = try store.begin()
    let result: Result
    let dropped: Set<String>
    let changed: CommitLog.Rows
    do {
      connection.changes.author = author
      let rows = RowTransaction(self, store, connection)
      result = try body(rows)
      dropped = rows.droppedFiles
      changed = connection.changes.rows
    } catch {
      store.rollBack()
      throw error
    }
    try store.commit(from: nil, rows: changed)
    store.trimIfDue()
    for reference in dropped { store.removeFile(reference, unlessUsedIn: container.layout) }
    return result
  }

  /// Throws for a custom store: what is in memory of it is not all that it has, and not where it keeps it.
  private func requireRows() throws {
    guard container.customStores.contains(where: { $0?.mirror === store }) else { return }
    throw SwiftDataError(
      .storeFailure,
      "Data cannot be moved to or from the custom store \(store.identity.identifier) row by row. Fetch its objects "
        + "in a context, or use a ModelConfiguration.")
  }

  /// Makes all that is committed survive a loss of power, also what a process that was killed has left.
  package func makeDurable() throws {
    guard let url else { return }
    let disk = POSIXDisk()
    let log = url.path + "-wal"
    // The log alone: what was moved from it to the store's file was synced there before. And closing
    // another descriptor of that file would end SQLite's locks on it.
    if try disk.status(at: log) != nil {
      try disk.withDescriptor(log, O_RDONLY) { try disk.sync($0, path: log) }
    }
    try disk.syncDirectory(url.deletingLastPathComponent().path)
  }

  /// Has all contexts read everything again.
  package func notifyContexts() {
    do {
      try store.write { _ in }
    } catch {
      Report.problem("Other contexts were not notified of new files: \(error)")
    }
  }

  /// The identifier of a row's object.
  package func identifier(_ shape: RowShape, _ number: Int64) -> PersistentIdentifier {
    PersistentIdentifier(
      reference: container.planByEntity[shape.index].reference, row: number)
  }

  /// The row of an identifier; nil when it is of another store, or of an object never saved.
  package func place(
    of identifier: PersistentIdentifier
  ) -> (entity: String, number: Int64)? {
    guard identifier.storeIdentifier == self.identifier,
      shapes[identifier.entityName] != nil
    else { return nil }
    return (identifier.entityName, identifier.row)
  }

  /// The stored property that a key path of a model reads, by its name.
  package func propertyName(
    of keyPath: AnyKeyPath, on type: any PersistentModel.Type
  ) -> String? {
    guard let entity = container.layout.entity(for: type) else { return nil }
    if let index = entity.propertyByKeyPath[keyPath] { return entity.properties[index].name }
    // A subclass's path to an inherited property is another one, but bears its name; a computed
    // property that reads a stored one does not.
    return entity.propertyIndex(of: keyPath).map { entity.properties[$0].name }.flatMap {
      $0 == KeyPathName.lastComponent(keyPath) ? $0 : nil
    }
  }

  /// Where an object is, or would be, once its save has numbered it.
  func place(of model: any PersistentModel) -> (entity: String, number: Int64)? {
    let state = model._$statePointer
    guard state.pointee.entity >= 0 else { return nil }
    let entity = container.layout.entities[Int(state.pointee.entity)]
    return shapes[entity.name] == nil ? nil : (entity.name, state.pointee.rowID)
  }
}

extension StoreRows {
  /// Hears of commits to the store, of this process and of others, until it is released.
  package final class CommitWatch: Sendable {
    private let listener = CommitListener()
    private let log: CommitLog

    fileprivate init(_ store: RecordStore, _ body: @escaping @Sendable () -> Void) {
      log = store.log
      listener.setTurn { [weak listener] in
        // Before the body, so that what is committed from now on is heard, too.
        listener?.turnBegins()
        body()
      }
      // Commits are told of only where several may want to know.
      log.addContext()
      log.listen(listener)
      store.watch()
    }

    deinit { log.removeContext() }
  }

  /// Calls a body after commits; several may be one call. The body may be called on any thread, and must be quick.
  package func watch(_ body: @escaping @Sendable () -> Void) -> CommitWatch {
    CommitWatch(store, body)
  }
}
