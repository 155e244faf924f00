/// What a context has changed since its last save: which objects and which relationships.
///
/// A value without I/O.
///
/// Invariant: an object's flag for a list is set if, and only if, the list has it. An object leaves a list by its
/// flag alone, in constant time; its entry stays as a gap, and is dropped when the list is next read.
struct PendingChanges {
  /// Which list of objects.
  enum Kind: Int, CaseIterable {
    case inserted, changed, deleted

    var flag: UInt32 {
      switch self {
      case .inserted: _ModelFlags.inserted
      case .changed: _ModelFlags.changed
      case .deleted: _ModelFlags.deleted
      }
    }
  }

  /// A row of a join table to be inserted or deleted.
  struct Pair {
    let table: JoinTable
    /// The entity of the relationship, which determines the store of the table.
    let entity: Int
    let owner: any PersistentModel
    let target: any PersistentModel
    let isAdded: Bool
  }

  /// A to-many relationship that was changed.
  struct Side {
    let owner: any PersistentModel
    let index: Int
  }

  /// A changed property of a row without a registered object.
  struct OtherSide {
    let entity: Int
    let property: Int
    let row: Int64
  }

  /// A row of a join table, from whichever side it is changed.
  fileprivate struct PairKey: Hashable {
    let table: String
    let first: ObjectIdentifier
    let second: ObjectIdentifier

    init(_ table: JoinTable, _ owner: AnyObject, _ target: AnyObject) {
      self.table = table.name
      // The inverse has the table's two columns the other way round, so their names tell the direction.
      let isForward = table.owner < table.target
      let (owner, target) = (ObjectIdentifier(owner), ObjectIdentifier(target))
      (first, second) = isForward ? (owner, target) : (target, owner)
    }

    init(_ pair: Pair) { self.init(pair.table, pair.owner, pair.target) }
  }

  /// Something that a save cannot do.
  struct Misuse {
    let error: SwiftDataError
  }

  private var lists: [[any PersistentModel]] = [[], [], []]
  /// When each entry of the lists was made.
  private var stampLists: [[Int64]] = [[], [], []]
  private var hasGaps = [false, false, false]
  /// In the order of the changes, since a pair may come and go.
  private var madePairs: [Pair] = []
  /// How many pairs there were when all changes of one were forgotten, so that forgetting many costs no search for each.
  private var forgottenPairs: [PairKey: Int] = [:]
  private(set) var sides: [Side] = []
  /// Rows without a registered object whose relationships change along with those of others.
  private(set) var otherRows: [Int: Set<Int64>] = [:]
  /// The properties of such rows that change.
  private(set) var otherSides: [OtherSide] = []
  /// Calls that had no effect; the next save throws them.
  var misuses: [Misuse] = []
  /// The hierarchies that have pending changes, by their roots; may include some without any left.
  private(set) var roots: Set<Int> = []
  /// The hierarchies that changed since live results were last notified.
  private(set) var untoldRoots: Set<Int> = []
  private var lastRoot = -1
  /// What the rules of deleted objects have done to others.
  var ruleEffects = RuleEffects()

  // MARK: Reading

  /// The objects of one list.
  mutating func models(_ kind: Kind) -> [any PersistentModel] {
    if hasGaps[kind.rawValue] { close(kind) }
    return lists[kind.rawValue]
  }

  /// The stamps of the objects of one list, each of the first edit since the last save.
  mutating func stamps(_ kind: Kind) -> [Int64] {
    if hasGaps[kind.rawValue] { close(kind) }
    return stampLists[kind.rawValue]
  }

  /// Drops entries whose objects have left, and of several entries of an object that has left and returned all but
  /// the last: that is its place in the order of insertion.
  private mutating func close(_ kind: Kind) {
    var seen: Set<ObjectIdentifier> = []
    let list = lists[kind.rawValue]
    let kept = Array(
      list.indices.reversed().filter {
        list[$0].has(kind.flag) && seen.insert(ObjectIdentifier(list[$0])).inserted
      }.reversed())
    lists[kind.rawValue] = kept.map { list[$0] }
    stampLists[kind.rawValue] = kept.map { stampLists[kind.rawValue][$0] }
    hasGaps[kind.rawValue] = false
  }

  /// Whether a list has no entries; determined without looking at the objects.
  func isEmpty(_ kind: Kind) -> Bool { lists[kind.rawValue].isEmpty }

  var isEmpty: Bool { lists.allSatisfy(\.isEmpty) && madePairs.isEmpty && misuses.isEmpty }

  /// Whether a save has anything to do.
  var hasChanges: Bool {
    Kind.allCases.contains { kind in lists[kind.rawValue].contains { $0.has(kind.flag) } }
      || !misuses.isEmpty
  }

  /// How many objects were inserted, those that have left again included.
  var insertionCount: Int { lists[Kind.inserted.rawValue].count }

  // MARK: Objects

  /// Adds an object to a list, and sets its flag.
  mutating func add(_ model: any PersistentModel, to kind: Kind, root: Int, at stamp: Int64) {
    model._$statePointer.pointee.set(kind.flag)
    lists[kind.rawValue].append(model)
    stampLists[kind.rawValue].append(stamp)
    note(root)
  }

  /// Takes an object out of one list.
  mutating func remove(_ model: any PersistentModel, from kind: Kind) {
    guard model.has(kind.flag) else { return }
    model._$statePointer.pointee.clear(kind.flag)
    hasGaps[kind.rawValue] = true
  }

  /// Takes an object out of all lists.
  mutating func remove(_ model: any PersistentModel) {
    remove(model._$statePointer)
  }

  /// Takes the object of a state out of all lists, without retaining it: a save does this for each of its objects.
  mutating func remove(_ state: UnsafeMutablePointer<_ModelState>) {
    if state.pointee.has(_ModelFlags.pending) {
      if state.pointee.has(_ModelFlags.inserted) { hasGaps[Kind.inserted.rawValue] = true }
      if state.pointee.has(_ModelFlags.changed) { hasGaps[Kind.changed.rawValue] = true }
      if state.pointee.has(_ModelFlags.deleted) { hasGaps[Kind.deleted.rawValue] = true }
      state.pointee.clear(_ModelFlags.pending)
    }
    // Also of an object that was not pending: changes of ephemeral properties alone are marked, too.
    state.pointee.changes = PropertySet()
  }

  /// Records that a hierarchy has pending changes.
  mutating func note(_ root: Int) {
    // Most changes are of the hierarchy of the change before; this is called for each.
    if root == lastRoot { return }
    lastRoot = root
    roots.insert(root)
    untoldRoots.insert(root)
  }

  /// Records that live results have to be told of all hierarchies with pending changes again, since these are discarded.
  mutating func noteAll() { untoldRoots.formUnion(roots) }

  // MARK: Relationships

  /// The rows of join tables to be inserted and deleted.
  var pairs: [Pair] {
    if forgottenPairs.isEmpty { return madePairs }
    return madePairs.enumerated().filter { place, pair in
      forgottenPairs[PairKey(pair)].map { place >= $0 } ?? true
    }.map(\.element)
  }

  mutating func addPair(_ pair: Pair) { madePairs.append(pair) }

  /// Takes back the last removal of a pair from a table.
  mutating func removeLastRemoval(
    from table: String, _ owner: any PersistentModel, _ target: AnyObject
  ) {
    dropForgottenPairs()
    let last = madePairs.lastIndex {
      !$0.isAdded && $0.owner === owner && $0.target === target && $0.table.name == table
    }
    if let last { madePairs.remove(at: last) }
  }

  /// Forgets all changes of an owner's pairs with some objects, from whichever side they were made.
  mutating func removePairs(
    of table: JoinTable, _ owner: any PersistentModel, _ targets: [any PersistentModel]
  ) {
    if madePairs.isEmpty { return }
    for target in targets { forgottenPairs[PairKey(table, owner, target)] = madePairs.count }
  }

  /// Takes the forgotten pairs out of the list.
  private mutating func dropForgottenPairs() {
    (madePairs, forgottenPairs) = (pairs, [:])
  }

  mutating func addSide(_ side: Side) { sides.append(side) }

  /// Takes a relationship out of those that were changed.
  mutating func removeSide(of owner: any PersistentModel, at index: Int) {
    // Undo comes to the latest change first.
    if let last = sides.lastIndex(where: { $0.owner === owner && $0.index == index }) {
      sides.remove(at: last)
    }
  }

  mutating func addOtherRow(_ row: Int64, root: Int, _ side: OtherSide?) {
    otherRows[root, default: []].insert(row)
    if let side { otherSides.append(side) }
  }

  // MARK: Ends

  /// Forgets everything except which hierarchies live results have to be notified of. The caller clears the objects'
  /// flags.
  mutating func removeAll() {
    let untold = untoldRoots
    self = PendingChanges()
    untoldRoots = untold
  }

  /// The hierarchies that changed since the last call.
  mutating func takeUnreportedRoots() -> Set<Int> {
    // So that the next change of that hierarchy is recorded again.
    lastRoot = -1
    defer { untoldRoots = [] }
    return untoldRoots
  }
}

// MARK: - Plans

/// What one save writes: a value, made from the pending changes when nothing can change them any more.
///
/// An object that is new and deleted is in none of the lists, one that is changed and deleted in `deleted` alone.
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
    // What is new and deleted leaves nothing to write, and what never had a row leaves none to delete.
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

  /// Whether an object is in the context and stays.
  static func isAlive(_ model: any PersistentModel) -> Bool {
    model._$statePointer.pointee.home != nil && !model.has(_ModelFlags.deleted)
  }

  /// The changes of join tables, in an order in which objects of one row don't take back each other's.
  ///
  /// Invariant: removals come first, and an addition counts only if the same two objects were not separated after it.
  ///
  /// - Parameter upserted: The new objects whose row another object has, too.
  func pairs(upserted: Set<ObjectIdentifier>) -> [PendingChanges.Pair] {
    // Each object then has a row of its own, and the order of the changes is right as it is.
    if upserted.isEmpty { return pairs }
    typealias Key = PendingChanges.PairKey
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
