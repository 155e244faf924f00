import Foundation

/// One transaction that brings a mirror up to snapshots, and to all that these lead to.
///
/// Invariant: the first snapshot of an object is the one that counts, and each object is written once, however often
/// the store returns it.
struct MirrorUpdate {
  private let layout: StoreLayout
  private let store: any DataStore
  private let state: EditingState
  private let connection: StoreConnection
  private(set) var writer: SnapshotWriter
  /// What the store gave, or did not have, in this transaction.
  private var seen: Set<PersistentIdentifier> = []
  /// What the store gave.
  private var given: Set<PersistentIdentifier> = []
  /// The hierarchies that were fetched as a whole.
  private var whole: Set<Int> = []
  /// The rows that applied snapshots refer to, whose objects are still to be fetched.
  private var leads: [SnapshotWriter.AffectedRow] = []

  init(
    of store: any DataStore, in mirror: RecordStore, _ connection: StoreConnection,
    for state: EditingState
  ) {
    layout = mirror.layout
    self.store = store
    self.state = state
    self.connection = connection
    writer = SnapshotWriter(mirror.layout, mirror.plans, connection)
  }

  /// Applies snapshots, except those of objects that came earlier.
  mutating func take<S: DataStoreSnapshot>(_ snapshots: some Sequence<S>) throws {
    for snapshot in snapshots {
      let identifier = snapshot.persistentIdentifier
      guard given.insert(identifier).inserted else { continue }
      seen.insert(identifier)
      guard identifier.row > 0, identifier.storeIdentifier == store.identifier,
        let entity = layout.entity(named: identifier.entityName),
        writer.plans[entity.index] != nil
      else {
        throw SwiftDataError(
          .unreadableValue,
          "The store \(store.identifier) returned a snapshot of \(identifier.entityName) in store "
            + "\(identifier.storeIdentifier ?? "(none)"). Create identifiers with the store's own identifier and the "
            + "names of its models.")
      }
      leads += try writer.write(SnapshotValues(snapshot), of: entity)
    }
  }

  /// Fetches all objects of some hierarchies, and deletes the rows of any others.
  mutating func takeAll(_ roots: some Sequence<Int>) throws {
    for root in roots where whole.insert(root).inserted {
      // All classes of the hierarchy, one request for each: a store need not return objects of subclasses.
      let family = layout.entities.filter {
        $0.rootIndex == root && writer.plans[$0.index] != nil
      }
      for entity in family { try takeAll(entity.type) }
      try removeUnseen(of: root)
    }
  }

  /// Deletes the rows of a hierarchy that the store has not given, after it has given all that it has: other programs
  /// have deleted these objects.
  mutating func removeUnseen(of root: Int) throws {
    // The answer was complete, so the hierarchy need not be fetched again in this transaction.
    whole.insert(root)
    let kind = layout.entities[root].discriminator == nil ? "0" : "\"_entity\""
    let rows = try connection.rows(
      "SELECT \"_id\", \(kind) FROM \(layout.entities[root].table.sqlName)")
    let gone = rows.compactMap { columns -> Int64? in
      guard case .integer(let row) = columns[0], case .integer(let kind) = columns[1] else {
        return nil
      }
      let entity =
        kind == 0 ? layout.entities[root] : layout.entity(discriminator: Int(kind), root: root)
      guard let plan = entity.flatMap({ writer.plans[$0.index] })?.plan else { return nil }
      let identifier = PersistentIdentifier(reference: plan.reference, row: row)
      return seen.contains(identifier) ? nil : row
    }
    try writer.delete(gone, of: layout.entities[root])
  }

  private mutating func takeAll<T: PersistentModel>(_ type: T.Type) throws {
    func fetch<S: DataStore>(_ store: S, _ update: inout MirrorUpdate) throws {
      let request = DataStoreFetchRequest(
        descriptor: FetchDescriptor<T>(), editingState: update.state)
      let result = try store.fetch(request)
      try update.take(result.fetchedSnapshots)
      try update.take(result.relatedSnapshots.values)
    }
    try fetch(store, &self)
  }

  /// Applies the snapshots of the objects with some identifiers, as far as the store has them.
  ///
  /// Asks for cached snapshots first, and fetches the rest, class by class.
  mutating func take(_ identifiers: [PersistentIdentifier]) throws {
    let wanted = identifiers.filter { !seen.contains($0) }
    guard !wanted.isEmpty else { return }
    func cached<S: DataStore>(_ store: S, _ update: inout MirrorUpdate) throws {
      try update.take(
        store.cachedSnapshots(for: wanted, editingState: update.state).values)
    }
    try cached(store, &self)
    let groups = Dictionary(grouping: wanted.filter { !seen.contains($0) }, by: \.entityName)
    // By name, since a dictionary's order varies: the store gets the same requests each time.
    for (name, identifiers) in groups.sorted(by: { $0.key < $1.key }) {
      guard let entity = layout.entity(named: name) else { continue }
      try fetch(identifiers, of: entity.type, root: entity.rootIndex)
      // Those that the store lacks, too: whatever leads to them, they are asked for once.
      seen.formUnion(identifiers)
    }
  }

  /// Applies the snapshots of the objects with some identifiers, and deletes the rows of those that the store lacks.
  mutating func renew(_ identifiers: some Collection<PersistentIdentifier>) throws {
    try take(Array(identifiers))
    for identifier in identifiers where !given.contains(identifier) {
      guard let entity = layout.entity(named: identifier.entityName) else { continue }
      try writer.delete([identifier.row], of: layout.entities[entity.rootIndex])
    }
  }

  /// Fetches objects by their identifiers, or, from a store that does not evaluate the predicate, the whole
  /// hierarchy.
  private mutating func fetch<T: PersistentModel>(
    _ identifiers: [PersistentIdentifier], of type: T.Type, root: Int
  ) throws {
    func ask<S: DataStore>(_ store: S, _ update: inout MirrorUpdate) throws {
      let descriptor = FetchDescriptor<T>(
        predicate: #Predicate { identifiers.contains($0.persistentModelID) })
      let result = try store.fetch(
        DataStoreFetchRequest(descriptor: descriptor, editingState: update.state))
      try update.take(result.fetchedSnapshots)
      try update.take(result.relatedSnapshots.values)
    }
    do {
      try ask(store, &self)
    } catch is DataStoreError {
      // A store that ignores identifiers returns everything it has.
      try takeAll([root])
    }
  }

  /// Fetches the objects that changed objects lead to, until nothing is left to fetch.
  ///
  /// Ends, since an identifier that the store was asked for is not asked for again.
  mutating func finish() throws {
    while !leads.isEmpty {
      let found = try leads.compactMap { lead -> PersistentIdentifier? in
        let entity = try connection.entity(of: lead.row, in: lead.entity, layout) ?? lead.entity
        guard let plan = writer.plans[entity.index]?.plan else { return nil }
        return PersistentIdentifier(reference: plan.reference, row: lead.row)
      }
      // Before the next fetch, which may find further ones.
      leads = []
      try take(Array(Set(found)))
    }
    try writer.finish()
  }
}
