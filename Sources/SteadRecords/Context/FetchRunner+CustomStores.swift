import Foundation

// Fetches from stores that an app wrote: the store answers, and the objects are made of the mirror's rows.
extension FetchRunner {
  /// The objects of a fetch; nil if the mirror has all rows that it reads, so that it can run there.
  func fetch<T>(_ plan: FetchPlan<T>, from store: CustomStore) throws -> [T]? {
    let descriptor = plan.descriptor
    if !descriptor.includePendingChanges, !graph.pending.roots.isEmpty {
      return try fetchStored(descriptor)
    }
    var request = descriptor
    // The limit applies after the pending changes are merged, which the store doesn't know.
    if plan.mergesPending { (request.fetchLimit, request.fetchOffset) = (nil, nil) }
    guard let answer = try store.fetch(request, plan.entity, graph.editingState) else {
      try mirrorRelated(plan, in: store)
      return nil
    }
    var models = try objects(answer.identifiers, of: plan)
    if plan.mergesPending {
      let dirty = _ModelFlags.changed | _ModelFlags.deleted
      models.removeAll { $0.has(dirty) }
      models += try pendingModels(matching: descriptor.predicate)
    }
    // The store has sorted and limited the objects itself.
    if !plan.mergesPending, answer.isSorted { return models }
    if !descriptor.sortBy.isEmpty { models = MemoryOrder(descriptor.sortBy).sorted(models) }
    let rest = models.dropFirst(descriptor.fetchOffset ?? 0)
    return Array(descriptor.fetchLimit.map { rest.prefix($0) } ?? rest)
  }

  /// The number of objects that match; nil if the mirror has all rows that the fetch reads.
  func fetchCount<T>(_ plan: FetchPlan<T>, from store: CustomStore) throws -> Int? {
    if plan.mergesPending || !plan.descriptor.includePendingChanges {
      return try fetch(plan, from: store)?.count
    }
    if let count = try store.fetchCount(plan.descriptor, plan.entity, graph.editingState) {
      return count
    }
    try mirrorRelated(plan, in: store)
    return nil
  }

  /// The identifiers of the objects that match; nil if the mirror has all rows that the fetch reads.
  func fetchIdentifiers<T>(
    _ plan: FetchPlan<T>, from store: CustomStore
  ) throws -> [PersistentIdentifier]? {
    if plan.mergesPending {
      return try fetch(plan, from: store)?.map(\.persistentModelID)
    }
    if let found = try store.fetchIdentifiers(plan.descriptor, plan.entity, graph.editingState) {
      return found
    }
    try mirrorRelated(plan, in: store)
    return nil
  }

  /// The objects of identifiers that are all in the mirror, in their order.
  private func objects<T>(
    _ identifiers: [PersistentIdentifier], of plan: FetchPlan<T>
  ) throws -> [T] {
    let entityPlan = graph.entities[plan.entity.index].lazyPlan.plan
    let models = try graph.commits.readNewest(of: graph.entities[plan.entity.index].storeIndex) {
      connection in
      let statement = try connection.statement(entityPlan.selectionOfRows)
      statement.reset()
      defer { statement.reset() }
      statement.bind(.text(identifiers.map { Int($0.row) }.jsonText), at: 1)
      return try graph.loader.collectAny(statement, entityPlan)
    }
    // The statement returns the rows in the table's order, and the answer's order is the store's.
    let byRow = Dictionary(
      models.map { ($0._$statePointer.pointee.rowID, $0) }, uniquingKeysWith: { one, _ in one })
    return identifiers.compactMap { byRow[$0.row] as? T }
  }

  /// Brings all rows into the mirror that a fetch may read besides those of its own hierarchy.
  private func mirrorRelated<T>(_ plan: FetchPlan<T>, in store: CustomStore) throws {
    guard plan.descriptor.predicate != nil || !plan.descriptor.sortBy.isEmpty else { return }
    // If a part is evaluated in memory, it may read any object that the class leads to.
    let related =
      plan.isExact
      ? Set(plan.query.relatedEntities.map { graph.entities[$0].layout.rootIndex })
      : reachable(from: plan.entity)
    let rest = related.subtracting([plan.entity.rootIndex]).filter {
      graph.customStores[graph.entities[$0].storeIndex] === store
    }
    if !rest.isEmpty { try store.take(hierarchies: rest, for: graph.editingState) }
  }

  /// The hierarchies that the relationships of a hierarchy lead to, on any path.
  private func reachable(from entity: EntityLayout) -> Set<Int> {
    var (found, queue) = (Set([entity.rootIndex]), [entity.rootIndex])
    while let root = queue.popLast() {
      for entity in graph.layout.entities where entity.rootIndex == root {
        for index in entity.relationships {
          guard let destination = entity.properties[index].destination else { continue }
          let next = graph.entities[destination].layout.rootIndex
          if found.insert(next).inserted { queue.append(next) }
        }
      }
    }
    return found
  }

  /// Brings all objects of custom stores into the mirror that SQL may read for a query of an entity.
  func mirror(_ entity: EntityLayout) throws {
    guard let store = graph.customStore(of: entity) else { return }
    let roots = reachable(from: entity).filter {
      graph.customStores[graph.entities[$0].storeIndex] === store
    }
    try store.take(hierarchies: roots, for: graph.editingState)
  }
}
