import Foundation

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
