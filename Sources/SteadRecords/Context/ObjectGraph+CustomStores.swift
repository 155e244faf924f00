import Foundation

// Fetches from stores that an app wrote: the store answers, and the objects are made of the mirror's rows.
extension ObjectGraph {
  /// The objects of a fetch; nil if the mirror has all rows that it reads, so that it can run there.
  func fetch<T>(_ plan: FetchPlan<T>, from store: CustomStore) throws -> [T]? {
    let descriptor = plan.descriptor
    if !descriptor.includePendingChanges, !pending.roots.isEmpty {
      return try fetchStored(descriptor)
    }
    var request = descriptor
    if plan.mergesPending { (request.fetchLimit, request.fetchOffset) = (nil, nil) }
    guard let answer = try store.fetch(request, plan.entity, editingState) else {
      try mirrorRelated(plan, in: store)
      return nil
    }
    var models = try objects(answer.identifiers, of: plan)
    if plan.mergesPending {
      let dirty = _ModelFlags.changed | _ModelFlags.deleted
      models.removeAll { $0.has(dirty) }
      models += try pendingModels(matching: descriptor.predicate)
    }
    if !plan.mergesPending, answer.isSorted { return models }
    if !descriptor.sortBy.isEmpty { models = models.sorted(using: descriptor.sortBy) }
    let rest = models.dropFirst(descriptor.fetchOffset ?? 0)
    return Array(descriptor.fetchLimit.map { rest.prefix($0) } ?? rest)
  }

  /// The number of objects that match; nil if the mirror has all rows that the fetch reads.
  func fetchCount<T>(_ plan: FetchPlan<T>, from store: CustomStore) throws -> Int? {
    if plan.mergesPending || !plan.descriptor.includePendingChanges {
      return try fetch(plan, from: store)?.count
    }
    if let count = try store.fetchCount(plan.descriptor, plan.entity, editingState) {
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
    if let found = try store.fetchIdentifiers(plan.descriptor, plan.entity, editingState) {
      return found
    }
    try mirrorRelated(plan, in: store)
    return nil
  }

  /// The objects of identifiers that are all in the mirror, in their order.
  private func objects<T>(
    _ identifiers: [PersistentIdentifier], of plan: FetchPlan<T>
  ) throws -> [T] {
    let entityPlan = plans[plan.entity.index]
    let models = try readNewest(of: storeIndex[plan.entity.index]) { connection in
      let statement = try connection.statement(entityPlan.selectionOfRows)
      statement.reset()
      defer { statement.reset() }
      statement.bind(.text(identifiers.map { Int($0.row) }.jsonText), at: 1)
      return try loader.collectAny(statement, entityPlan)
    }
    let byRow = Dictionary(
      models.map { ($0._$statePointer.pointee.rowID, $0) }, uniquingKeysWith: { one, _ in one })
    return identifiers.compactMap { byRow[$0.row] as? T }
  }

  /// Brings all rows into the mirror that a fetch may read besides those of its own hierarchy.
  private func mirrorRelated<T>(_ plan: FetchPlan<T>, in store: CustomStore) throws {
    guard plan.descriptor.predicate != nil || !plan.descriptor.sortBy.isEmpty else { return }
    let related =
      plan.isExact
      ? Set(plan.query.relatedEntities.map { traits[$0].root }) : reachable(from: plan.entity)
    let rest = related.subtracting([plan.entity.rootIndex]).filter {
      customStores[storeIndex[$0]] === store
    }
    if !rest.isEmpty { try store.take(hierarchies: rest, for: editingState) }
  }

  /// The hierarchies that the relationships of a hierarchy lead to, on any path.
  private func reachable(from entity: EntityLayout) -> Set<Int> {
    var (found, queue) = (Set([entity.rootIndex]), [entity.rootIndex])
    while let root = queue.popLast() {
      for entity in layout.entities where entity.rootIndex == root {
        for index in entity.relationships {
          guard let destination = entity.properties[index].destination else { continue }
          let next = traits[destination].root
          if found.insert(next).inserted { queue.append(next) }
        }
      }
    }
    return found
  }

  /// Brings all objects of custom stores into the mirror that SQL may read for a query of an entity.
  func mirror(_ entity: EntityLayout) throws {
    guard let store = customStore(of: entity) else { return }
    let roots = reachable(from: entity).filter { customStores[storeIndex[$0]] === store }
    try store.take(hierarchies: roots, for: editingState)
  }

  // MARK: Saving

  /// Brings rows into the mirrors that may share unique values with new and changed objects, those whose
  /// relationships the save checks by SQL, and those that required relationships lead to.
  ///
  /// - Returns: The version that each store had, where something is checked and the store has versions.
  func prepareCustomStores() throws -> [Int: Any] {
    var versions: [Int: Any] = [:]
    let (checked, ruled, targets) = (checkedRoots, ruledRoots, requiredTargets)
    for (index, store) in customStores.enumerated() {
      guard let store else { continue }
      let constrained = traits.indices.filter {
        traits[$0].isConstrained && storeIndex[$0] == index
      }
      let roots = Set(constrained.map { traits[$0].root }).intersection(pending.roots)
        .union(checked.union(targets.roots).filter { storeIndex[$0] == index })
        .union(store.hasVersions ? ruled.filter { storeIndex[$0] == index } : [])
      let identifiers = targets.identifiers[index] ?? []
      if roots.isEmpty, identifiers.isEmpty { continue }
      versions[index] = try store.takeChecked(hierarchies: roots, identifiers, for: editingState)
    }
    return versions
  }

  /// The stored objects that required relationships of new and changed objects lead to, and those changed objects, which
  /// may have been deleted with them: identifiers by store, or the hierarchies of classes whose objects may be of a subclass.
  private var requiredTargets: (roots: Set<Int>, identifiers: [Int: Set<PersistentIdentifier>]) {
    var (roots, identifiers): (Set<Int>, [Int: Set<PersistentIdentifier>]) = ([], [:])
    func note(_ row: Int64, of entity: EntityLayout) {
      guard entity.discriminator == nil else {
        roots.insert(entity.rootIndex)
        return
      }
      identifiers[storeIndex[entity.index], default: []].insert(
        PersistentIdentifier(reference: plans[entity.index].reference, row: row))
    }
    for kind in [PendingChanges.Kind.inserted, .changed] {
      for model in pending.models(kind) where !model.has(_ModelFlags.deleted) {
        let entity = entity(of: model)
        guard customStore(of: entity) != nil else { continue }
        for index in entity.relationships where entity.properties[index].isRequiredReference {
          guard let row = storedTarget(of: model, index),
            let target = entity.properties[index].destination.map({ layout.entities[$0] })
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
    case .toOne(.model(let target)) where isHere(target):
      let row = target._$statePointer.pointee.rowID
      return target.has(_ModelFlags.inserted) || row <= 0 ? nil : row
    default: return nil
    }
  }

  /// The hierarchies whose objects the rules of the pending deletions may concern: others may have linked some to a
  /// deleted object.
  private var ruledRoots: Set<Int> {
    var queue = Array(Set(pending.models(.deleted).map { entity(of: $0).rootIndex }))
    var (found, visited): (Set<Int>, Set<Int>) = ([], Set(queue))
    while let root = queue.popLast() {
      for entity in layout.entities where entity.rootIndex == root {
        for property in entity.relationships.map({ entity.properties[$0] }) {
          guard let next = property.destination.map({ traits[$0].root }) else { continue }
          found.insert(next)
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
    for limit in layout.memberLimits {
      let ends = [limit.owner.rootIndex, limit.destination.rootIndex]
      if !pending.roots.isDisjoint(with: ends) { roots.formUnion(ends) }
    }
    guard !pending.isEmpty(.deleted) else { return roots }
    for root in pending.roots {
      for reference in layout.oneWay[root]
      where layout.entities[reference.entity].properties[reference.property].isRequiredReference {
        roots.insert(traits[reference.entity].root)
      }
    }
    return roots
  }

  /// What a save hands to custom stores, begun before it writes a row.
  func customSaves(
    of writer: SaveWriter, checkedAt versions: [Int: Any]
  ) throws -> [CustomSave] {
    if customStores.isEmpty { return [] }
    return try writer.stores.compactMap { index in
      try customStores[index].map {
        try CustomSave(to: $0, at: index, of: self, writer, checkedAt: versions[index])
      }
    }
  }
}
