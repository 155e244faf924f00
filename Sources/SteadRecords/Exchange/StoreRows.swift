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
    if let name {
      guard let entity = container.layout.entity(named: name) else { return nil }
      store = container.storeByEntity[entity.index]
    } else {
      guard container.stores.count == 1 else { return nil }
      store = container.stores[0]
    }
    self.container = container
    let store = store
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
