/// What one save writes: a value, made from the pending changes once nothing can change them any more.
struct SavePlan {
  typealias State = UnsafeMutablePointer<_ModelState>

  let inserted: [any PersistentModel]
  let updated: [any PersistentModel]
  let deleted: [any PersistentModel]
  let pairs: [PendingChanges.Pair]
  /// The to-many relationships that changed, with their members.
  let sides: [Side]
  /// Rows whose relationships change and that have no registered object, by hierarchy.
  let otherRows: [Int: Set<Int64>]
  /// The properties of such rows that change.
  let otherSides: [PendingChanges.OtherSide]
  /// The objects' states. Code that needs nothing else uses them, so that the objects' references are not retained and
  /// released; the arrays above keep them alive.
  let states: (inserted: [State], updated: [State], deleted: [State])
  /// When the objects were first edited since the last save.
  let stamps: (inserted: [Int64], updated: [Int64], deleted: [Int64])

  /// A to-many relationship whose members' positions are written.
  struct Side {
    let owner: any PersistentModel
    let property: PropertyLayout
    /// What came in, in that order.
    let additions: [any PersistentModel]
    /// All members if they were reordered, else the added ones.
    let members: [any PersistentModel]
    let isOrdered: Bool
  }

  init(_ pending: inout PendingChanges, sides: [Side]) {
    let (newOnes, changed, gone) = (
      Self.pick(&pending, .inserted) { !$0.has(_ModelFlags.deleted) },
      Self.pick(&pending, .changed) { !$0.has(_ModelFlags.deleted) },
      Self.pick(&pending, .deleted) { $0._$statePointer.pointee.rowID > 0 }
    )
    (inserted, updated, deleted) = (newOnes.models, changed.models, gone.models)
    stamps = (newOnes.stamps, changed.stamps, gone.stamps)
    pairs = pending.pairs
    otherRows = pending.otherRows
    otherSides = pending.otherSides
    self.sides = sides
    states = (
      inserted.map { $0._$statePointer }, updated.map { $0._$statePointer },
      deleted.map { $0._$statePointer }
    )
  }

  /// The changes of join tables, in an order in which objects of one row don't take back each other's.
  ///
  /// - Parameter upserted: The new objects whose row another object has, too.
  func pairs(upserted: Set<ObjectIdentifier>) -> [PendingChanges.Pair] {
    if upserted.isEmpty { return pairs }
    /// A row of a join table, from whichever side it was changed.
    struct Key: Hashable {
      let table: String
      let first: ObjectIdentifier
      let second: ObjectIdentifier

      init(_ pair: PendingChanges.Pair) {
        table = pair.table.name
        let (owner, target) = (ObjectIdentifier(pair.owner), ObjectIdentifier(pair.target))
        let isForward = pair.table.owner < pair.table.target
        (first, second) = isForward ? (owner, target) : (target, owner)
      }
    }
    var removals: [PendingChanges.Pair] = []
    var places: [Key: Int] = [:]
    for (place, pair) in pairs.enumerated() where !pair.isAdded {
      let key = Key(pair)
      places[key] = place
      // A new object gives up only what it has added itself; what its row has stays.
      if !upserted.contains(key.first), !upserted.contains(key.second) { removals.append(pair) }
    }
    let additions = pairs.enumerated().filter { place, pair in
      pair.isAdded && place > places[Key(pair)] ?? -1
    }
    return removals + additions.map(\.element)
  }

  /// The models that pass, with their stamps; the arrays themselves if all pass, which is usual.
  private static func pick(
    _ pending: inout PendingChanges, _ kind: PendingChanges.Kind,
    _ test: (any PersistentModel) -> Bool
  ) -> (models: [any PersistentModel], stamps: [Int64]) {
    let (models, stamps) = (pending.models(kind), pending.stamps(kind))
    if models.allSatisfy(test) { return (models, stamps) }
    let places = models.indices.filter { test(models[$0]) }
    return (places.map { models[$0] }, places.map { stamps[$0] })
  }
}
