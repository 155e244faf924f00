import Foundation

/// One save's part for a custom store: its rows as snapshots, and the identifiers that come back.
///
/// Snapshots are made from the mirror's rows by an engine that reads the open transaction. So they include everything
/// that the save has written besides the objects' own changes.
struct CustomSave {
  private let store: CustomStore
  private let index: Int
  private let graph: ObjectGraph
  /// The version of the store's content that the save was checked against.
  private let version: Any?
  /// The objects that are about to be deleted, as they were.
  private let deleted: [any DataStoreSnapshot]

  init(
    to store: CustomStore, at index: Int, of graph: ObjectGraph, _ save: SaveResult,
    checkedAt version: Any?
  ) throws {
    self.store = store
    self.version = version
    self.index = index
    self.graph = graph
    let reader = Self.reader(of: graph, [:])
    // Its objects refer to each other, and would not be freed otherwise.
    defer { reader.abandon() }
    // Read now: the save deletes these rows before the store is called.
    let states = save.plan.states.deleted.filter { save.isIn(index, $0) }
    let rows = states.map {
      (graph.entities[Int($0.pointee.entity)].layout.rootIndex, $0.pointee.rowID)
    }
    deleted = store.snapshots(of: try Self.objects(rows, reader))
  }

  /// An engine that reads what the transaction has written so far.
  private static func reader(of graph: ObjectGraph, _ numbers: [Int64: Int64]) -> ObjectGraph {
    let reader = ObjectGraph(container: graph.container)
    reader.loader.observesModels = false
    reader.reader.temporaryRows = numbers
    return reader
  }

  /// The objects of rows, in their order; those without a row are left out.
  private static func objects(
    _ rows: [(root: Int, row: Int64)], _ graph: ObjectGraph
  ) throws -> [any PersistentModel] {
    var found: [Int: [Int64: any PersistentModel]] = [:]
    for (root, rows) in Dictionary(grouping: rows, by: \.root) {
      // One statement for all rows of a hierarchy.
      for model in try graph.reader.load(graph.layout.entities[root], rows: rows.map(\.row)) {
        found[root, default: [:]][model._$statePointer.pointee.rowID] = model
      }
    }
    return rows.compactMap { found[$0.root]?[$0.row] }
  }

  /// Passes the store what was written, and gives new rows the numbers of the identifiers that it returns.
  ///
  /// Invariant: the mirror's transaction is not committed before this returns, and what fails after the store has
  /// saved rolls it back. So an object has an identifier of the store's, or is pending.
  ///
  /// - Throws: `OutdatedSave` if the store has another version of its content, and what the store throws.
  func run(_ result: SaveResult) throws {
    let new = result.newRows(in: index)
    let rows = new.map { model, _ in
      let state = model._$statePointer
      return (
        root: graph.entities[Int(state.pointee.entity)].layout.rootIndex, row: state.pointee.rowID
      )
    }
    // A mirror's rows have numbers that are unique in the process, so the number alone is the key, whatever the
    // hierarchy.
    let numbers = Dictionary(
      uniqueKeysWithValues: zip(rows.map(\.row), new.map(\.temporary)))
    let reader = Self.reader(of: graph, numbers)
    defer { reader.abandon() }
    let inserted = store.snapshots(of: try Self.objects(rows, reader))
    let updated = store.snapshots(
      of: try Self.objects(updatedRows(result, but: Set(numbers.keys)), reader))
    // The store is not called for a save that has nothing for it.
    if inserted.isEmpty, updated.isEmpty, deleted.isEmpty { return }
    guard
      let saved = try store.save(
        inserted: inserted, updated: updated, deleted: deleted, for: graph.editingState, at: version
      )
    else { throw OutdatedSave(store: store.mirror.identity.identifier) }
    var byRoot: [Int: [Int64: Int64]] = [:]
    for ((root, row), (model, temporary)) in zip(rows, new) {
      let entity = graph.entity(of: model)
      byRoot[root, default: [:]][row] = try permanentRow(entity, temporary, saved)
    }
    for (root, numbers) in byRoot {
      try store.mirror.writer.joinTransaction { connection in
        try Renumbering(layout: graph.layout, connection: connection).run(root, numbers)
      }
      result.renumber(root, numbers)
    }
    // After the numbers, since the snapshots have permanent identifiers. Their values replace what the save has
    // written.
    let changed = try store.take(saved.changed, for: graph.editingState)
    result.noteRows(changed)
    if let token = saved.historyToken {
      result.historyTokens[store.mirror.identity.identifier] = token
    }
  }

  /// The rows that were written in addition to new and deleted ones.
  private func updatedRows(
    _ result: SaveResult, but new: Set<Int64>
  ) -> [(root: Int, row: Int64)] {
    result.rows(in: index).tables.flatMap { table -> [(root: Int, row: Int64)] in
      let entity = graph.layout.entities.first {
        $0.table == table.name && $0.index == $0.rootIndex
      }
      guard let root = entity?.index else { return [] }
      let deleted = Set(table.deleted)
      // A set, since a row may be named several times; sorted, so that the store gets them in one order each time.
      return Set(table.written).sorted().filter { !deleted.contains($0) && !new.contains($0) }
        .map { (root, $0) }
    }
  }

  /// The number of the identifier that the store gave a new object.
  ///
  /// - Throws: `storeFailure` if it gave none, or one of another store or entity.
  private func permanentRow(
    _ entity: EntityLayout, _ temporary: Int64, _ saved: CustomStore.Saved
  ) throws -> Int64 {
    let reference = EntityReference.temporary(entity.name)
    let name = store.mirror.identity.identifier
    guard
      let identifier = saved.identifiers[
        PersistentIdentifier(reference: reference, row: temporary)]
    else {
      throw SwiftDataError(
        .storeFailure,
        "The store \(name) saved a new \(entity.name) without an identifier. Have save(_:) return "
          + "remappedIdentifiers for all inserted snapshots.")
    }
    guard identifier.id.reference === graph.entities[entity.index].lazyPlan.plan.reference,
      identifier.row > 0
    else {
      throw SwiftDataError(
        .storeFailure,
        "The store \(name) gave a new \(entity.name) an identifier of \(identifier.entityName) in store "
          + "\(identifier.storeIdentifier ?? "(none)"). Create identifiers with the store's own identifier and the "
          + "entity name of the snapshot.")
    }
    return identifier.row
  }
}

// MARK: - Conflicts

/// Another program has changed a custom store since a save was checked against its content; nothing was saved there.
struct OutdatedSave: Error {
  let store: String
  /// Whether a custom store before it has saved, so that the save must not be repeated.
  var hasSavedOthers = false

  /// The error for the program.
  var reason: SwiftDataError {
    let end =
      hasSavedOthers
      ? "after other custom stores of the container had saved. All changes are still pending, and saving again would make the "
        + "new objects of those stores twice. Call rollback(), make the changes of the others again, and save."
      : "during each of \(Saver.saveAttempts) attempts to save. The changes are still pending; save again."
    return SwiftDataError(.storeLocked, "Other programs changed the store \(store) \(end)")
  }
}

// MARK: - Checks

/// What a save brings into the mirrors of custom stores before it is checked against them.
///
/// The checks run as SQL on the mirror, which has only what was fetched so far. A row that is missing there would let a
/// save through that breaks a rule.
struct CustomStoreCheck {
  private let graph: ObjectGraph

  init(_ graph: ObjectGraph) { self.graph = graph }

  /// Brings rows into the mirrors that may share unique values with new and changed objects, those whose
  /// relationships the save checks by SQL, and those that required relationships lead to.
  ///
  /// - Returns: The version that each store had, where something is checked and the store has versions.
  func prepare() throws -> [Int: Any] {
    var versions: [Int: Any] = [:]
    let (checked, ruled, targets) = (checkedRoots, ruledRoots, requiredTargets)
    for (index, store) in graph.customStores.enumerated() {
      guard let store else { continue }
      let constrained = graph.entities.filter { $0.layout.isConstrained && $0.storeIndex == index }
      let roots = Set(constrained.map(\.layout.rootIndex)).intersection(graph.pending.roots)
        .union(checked.union(targets.roots).filter { graph.entities[$0].storeIndex == index })
        .union(store.hasVersions ? ruled.filter { graph.entities[$0].storeIndex == index } : [])
      let identifiers = targets.identifiers[index] ?? []
      // Nothing is checked there: the store is not asked, and its part is saved without a version.
      if roots.isEmpty, identifiers.isEmpty { continue }
      versions[index] = try store.takeChecked(
        hierarchies: roots, identifiers, for: graph.editingState)
    }
    return versions
  }

  /// The stored objects that required relationships of new and changed objects lead to, and those changed objects, which
  /// may have been deleted with them: identifiers by store, or the hierarchies of classes whose objects may be of a subclass.
  private var requiredTargets: (roots: Set<Int>, identifiers: [Int: Set<PersistentIdentifier>]) {
    var (roots, identifiers): (Set<Int>, [Int: Set<PersistentIdentifier>]) = ([], [:])
    func note(_ row: Int64, of entity: EntityLayout) {
      // The identifier needs the name of the object's own class, which may be a subclass.
      guard entity.discriminator == nil else {
        roots.insert(entity.rootIndex)
        return
      }
      identifiers[graph.entities[entity.index].storeIndex, default: []].insert(
        PersistentIdentifier(
          reference: graph.entities[entity.index].lazyPlan.plan.reference, row: row))
    }
    for kind in [PendingChanges.Kind.inserted, .changed] {
      for model in graph.pending.models(kind) where !model.has(_ModelFlags.deleted) {
        let entity = graph.entity(of: model)
        guard graph.customStore(of: entity) != nil else { continue }
        for index in entity.relationships where entity.properties[index].isRequiredReference {
          guard let row = storedTarget(of: model, index),
            let target = entity.properties[index].destination.map({ graph.layout.entities[$0] })
          else { continue }
          note(row, of: target)
          if kind == .changed { note(model._$statePointer.pointee.rowID, of: entity) }
        }
      }
    }
    return (roots, identifiers)
  }

  /// The row that a to-one relationship leads to, if it is not that of a new object.
  private func storedTarget(of model: any PersistentModel, _ index: Int) -> Int64? {
    switch model.content(at: index) {
    case .toOne(.row(let row)) where row > 0: return row
    case .toOne(.model(let target)) where graph.isHere(target):
      let row = target._$statePointer.pointee.rowID
      return target.has(_ModelFlags.inserted) || row <= 0 ? nil : row
    default: return nil
    }
  }

  /// The hierarchies whose objects the rules of the pending deletions may concern: others may have linked some to a
  /// deleted object.
  private var ruledRoots: Set<Int> {
    var queue = Array(Set(graph.pending.models(.deleted).map { graph.entity(of: $0).rootIndex }))
    var (found, visited): (Set<Int>, Set<Int>) = ([], Set(queue))
    while let root = queue.popLast() {
      for entity in graph.layout.entities where entity.rootIndex == root {
        for property in entity.relationships.map({ entity.properties[$0] }) {
          guard let next = property.destination.map({ graph.entities[$0].layout.rootIndex }) else {
            continue
          }
          found.insert(next)
          // Only a cascade deletes what it reaches, so that the rules of that apply, too.
          guard property.relationship?.deleteRule == .cascade else { continue }
          if visited.insert(next).inserted { queue.append(next) }
        }
      }
    }
    return found
  }

  /// The hierarchies whose rows determine whether the pending changes keep to the models' limits.
  private var checkedRoots: Set<Int> {
    var roots: Set<Int> = []
    for limit in graph.layout.memberLimits {
      // Members are counted in the rows, and either side's change may change the number.
      let ends = [limit.owner.rootIndex, limit.destination.rootIndex]
      if !graph.pending.roots.isDisjoint(with: ends) { roots.formUnion(ends) }
    }
    // Only a deletion can take the destination of a required reference away.
    guard !graph.pending.isEmpty(.deleted) else { return roots }
    for root in graph.pending.roots {
      for reference in graph.layout.oneWay[root]
      where graph.layout.entities[reference.entity].properties[reference.property]
        .isRequiredReference
      {
        roots.insert(graph.entities[reference.entity].layout.rootIndex)
      }
    }
    return roots
  }
}
