/// A limit that holds for one storage of lists, and for what is loaded, said little about the others.
@Suite("Limits of random lists") struct LimitedListTests {
  enum Kind: CaseIterable, CustomTestStringConvertible {
    case reference, pairs, oneWay, subclasses, subclassPairs

    var testDescription: String { "\(self)" }
  }

  @Test(arguments: Kind.allCases, StorePlace.allCases)
  func `no save leaves a list with too few or too many objects, and none is refused without need`(
    kind: Kind, place: StorePlace
  ) async throws {
    // A store on file, with a container for each context, takes several times as long.
    for seed in 0..<UInt64(Effort.times(place == .memory ? 7 : 1)) {
      switch kind {
      case .reference: try run(.ofReference, seed, TestStore(place, Crew.self, Sailor.self))
      case .pairs: try run(.ofPairs, seed, TestStore(place, Shelf.self, Tome.self))
      case .oneWay: try run(.oneWay, seed, TestStore(place, Trip.self, Patient.self, Infant.self))
      case .subclasses:
        try run(.ofSubclasses, seed, TestStore(place, Ward.self, Clinic.self, Infant.self))
      case .subclassPairs: try run(.ofSubclassPairs, seed, TestStore(place, Panel.self))
      }
      await Task.yield()
    }
  }

  private func run<Owner, Member>(
    _ list: LimitedList<Owner, Member>, _ seed: UInt64, _ store: TestStore
  ) throws {
    var trial = try LimitTrial(list, seed: Effort.seed &* 1_000 &+ seed, store)
    for _ in 0..<8 { try trial.round() }
  }
}

/// What a store has, or what a context shows: numbers of owners and members, and who is in whose list.
private struct ListState: Equatable {
  struct Pair: Hashable, Comparable {
    var owner: Int
    var member: Int

    static func < (one: Self, other: Self) -> Bool {
      (one.owner, one.member) < (other.owner, other.member)
    }
  }

  var owners: Set<Int> = []
  var members: Set<Int> = []
  var pairs: Set<Pair> = []

  mutating func removeLoosePairs() {
    pairs = pairs.filter { owners.contains($0.owner) && members.contains($0.member) }
  }

  func keeps(_ limits: ClosedRange<Int>) -> Bool {
    owners.allSatisfy { owner in limits.contains(pairs.count { $0.owner == owner }) }
  }
}

/// A context, what it had after its last save, and what it shows.
private final class ListView {
  private(set) var context: ModelContext
  var base: ListState
  var shown: ListState
  /// The members whose reference was set, if only to what it was.
  var led: Set<Int> = []

  init(_ context: ModelContext, _ state: ListState) {
    self.context = context
    (base, shown) = (state, state)
  }

  /// Goes on with a context that has nothing unsaved.
  func begin(_ context: ModelContext, _ state: ListState) {
    self.context = context
    (base, shown, led) = (state, state, [])
  }

  /// What a save makes of what is stored.
  func saved(over stored: ListState, isReference: Bool) -> ListState {
    var after = stored
    after.owners.formUnion(shown.owners.subtracting(base.owners))
    after.owners.subtract(base.owners.subtracting(shown.owners))
    after.members.formUnion(shown.members.subtracting(base.members))
    after.members.subtract(base.members.subtracting(shown.members))
    if isReference {
      after.pairs = after.pairs.filter { !led.contains($0.member) }
      after.pairs.formUnion(shown.pairs.filter { led.contains($0.member) })
    } else {
      after.pairs.formUnion(shown.pairs.subtracting(base.pairs))
      after.pairs.subtract(base.pairs.subtracting(shown.pairs))
    }
    after.removeLoosePairs()
    return after
  }
}

/// A store whose lists two contexts change at random, and what it holds.
private struct LimitTrial<Owner: PersistentModel, Member: PersistentModel> {
  private typealias Pair = ListState.Pair

  private let list: LimitedList<Owner, Member>
  private let store: TestStore
  private let seed: UInt64
  private var random: SplitMix
  private var state = ListState()
  private var next = 1
  private let mine: ListView
  private let others: ListView

  init(_ list: LimitedList<Owner, Member>, seed: UInt64, _ store: TestStore) throws {
    (self.list, self.store, self.seed) = (list, store, seed)
    random = SplitMix(seed: seed)
    mine = ListView(store.context(), ListState())
    others = ListView(try store.reopened(), ListState())
    for _ in 0..<3 { insertOwner(mine, members: Int.random(in: list.limits, using: &random)) }
    try save(mine)
  }

  private var note: Comment { "seed \(seed), \(Owner.self)" }

  mutating func round() throws {
    try begin(mine, store.context)
    try begin(others, store.reopened)
    for _ in 0..<Int.random(in: 1...3, using: &random) { try change(mine) }
    switch Int.random(in: 0..<4, using: &random) {
    case 0: try deleteAtOnce(others.context)
    case 1, 2:
      for _ in 0..<2 { try change(others) }
      try save(others)
    default: break
    }
    try save(mine)
  }

  /// Goes on with a context, which then has what others have saved, or with a new one, which has loaded nothing.
  private mutating func begin(_ view: ListView, _ new: () throws -> ModelContext) throws {
    if Bool.random(using: &random) {
      view.context.processPendingChanges()
      view.begin(view.context, state)
    } else {
      view.begin(try new(), state)
    }
  }

  // MARK: Changes

  private mutating func change(_ view: ListView) throws {
    let action = Int.random(in: 0..<12, using: &random)
    if action == 0 {
      return insertOwner(
        view, members: Int.random(in: 0...list.limits.upperBound + 1, using: &random))
    }
    guard let number = view.shown.owners.sorted().randomElement(using: &random) else { return }
    if action == 1 {
      view.context.delete(try owner(number, view.context))
      view.led.formUnion(view.shown.pairs.filter { $0.owner == number }.map(\.member))
      view.shown.owners.remove(number)
      return view.shown.removeLoosePairs()
    }
    if action < 4 {
      let new = insertMember(view)
      return try link(Pair(owner: number, member: new.number), new.member, view)
    }
    guard let found = view.shown.members.sorted().randomElement(using: &random) else { return }
    let member = try member(found, view.context)
    switch action {
    case 4, 5, 6:
      view.context.delete(member)
      view.shown.members.remove(found)
      view.shown.removeLoosePairs()
    case 7, 8:
      let pairs = view.shown.pairs.filter { $0.member == found }.sorted()
      guard let pair = pairs.randomElement(using: &random) else { return }
      try unlink(pair, member, view)
    default:
      // To another list; with pairs sometimes into it, too.
      let old = view.shown.pairs.filter { $0.member == found && $0.owner != number }
      if !list.isReference, action > 9, let pair = old.sorted().randomElement(using: &random) {
        try unlink(pair, member, view)
      }
      try link(Pair(owner: number, member: found), member, view)
    }
  }

  private mutating func insertMember(_ view: ListView) -> (number: Int, member: Member) {
    let member = list.makeMember(next)
    view.context.insert(member)
    view.shown.members.insert(next)
    defer { next += 1 }
    return (next, member)
  }

  private mutating func insertOwner(_ view: ListView, members count: Int) {
    let (number, owner) = (next, list.makeOwner(next))
    next += 1
    view.context.insert(owner)
    view.shown.owners.insert(number)
    for _ in 0..<count {
      let new = insertMember(view)
      owner[keyPath: list.list].append(new.member)
      view.shown.pairs.insert(Pair(owner: number, member: new.number))
      view.led.insert(new.number)
    }
  }

  private mutating func link(_ pair: Pair, _ member: Member, _ view: ListView) throws {
    guard !view.shown.pairs.contains(pair) else { return }
    let owner = try owner(pair.owner, view.context)
    switch (list.otherSide, Int.random(in: 0..<4, using: &random)) {
    case (.reference(let side), 0...1): member[keyPath: side] = owner
    case (.list(let side), 0...1): member[keyPath: side].append(owner)
    case (_, 2): owner[keyPath: list.list] = owner[keyPath: list.list] + [member]
    default: owner[keyPath: list.list].append(member)
    }
    if list.isReference {
      view.shown.pairs = view.shown.pairs.filter { $0.member != pair.member }
      view.led.insert(pair.member)
    }
    view.shown.pairs.insert(pair)
  }

  private mutating func unlink(_ pair: Pair, _ member: Member, _ view: ListView) throws {
    let owner = try owner(pair.owner, view.context)
    switch (list.otherSide, Bool.random(using: &random)) {
    case (.reference(let side), true): member[keyPath: side] = nil
    case (.list(let side), true): member[keyPath: side].removeAll { $0 === owner }
    default: owner[keyPath: list.list].removeAll { $0 === member }
    }
    view.shown.pairs.remove(pair)
    view.led.insert(pair.member)
  }

  // MARK: Objects

  private mutating func owner(_ number: Int, _ context: ModelContext) throws -> Owner {
    let owner = try context.only(where: list.owner(number))
    if Int.random(in: 0..<4, using: &random) == 0 { _ = owner[keyPath: list.list].count }
    return owner
  }

  private mutating func member(_ number: Int, _ context: ModelContext) throws -> Member {
    let member = try context.only(where: list.members([number]))
    guard Int.random(in: 0..<4, using: &random) == 0 else { return member }
    switch list.otherSide {
    case .none: break
    case .reference(let side): _ = member[keyPath: side].map { $0[keyPath: list.list].count }
    case .list(let side): for owner in member[keyPath: side] { _ = owner[keyPath: list.list].count }
    }
    return member
  }

  // MARK: Saves

  private mutating func save(_ view: ListView) throws {
    let after = view.saved(over: state, isReference: list.isReference)
    if Int.random(in: 0..<4, using: &random) == 0 {
      try commit(after) { try view.context.transaction {} }
    } else {
      try commit(after) { try view.context.save() }
    }
    view.context.rollback()
  }

  private mutating func deleteAtOnce(_ context: ModelContext) throws {
    let count = Int.random(in: 1...2, using: &random)
    let numbers = Array(state.members.sorted().shuffled(using: &random).prefix(count))
    var after = state
    after.members.subtract(numbers)
    after.removeLoosePairs()
    let predicate = list.members(numbers)
    try commit(after) { try context.delete(model: Member.self, where: predicate) }
    context.rollback()
  }

  /// Expects a commit to be refused if a list would break its limits, and looks at what is stored then.
  private mutating func commit(_ after: ListState, _ body: () throws -> Void) throws {
    let isAllowed = after.keeps(list.limits)
    do {
      try body()
      #expect(isAllowed, note)
    } catch let error as SwiftDataError {
      #expect(!isAllowed && error == .modelValidationFailure, "\(note): \(error)")
    }
    if isAllowed { state = after }
    let reader = store.context()
    var found = ListState()
    for owner in try reader.all(Owner.self) {
      let number = owner[keyPath: list.ownerNumber]
      found.owners.insert(number)
      for member in owner[keyPath: list.list] {
        found.pairs.insert(Pair(owner: number, member: member[keyPath: list.memberNumber]))
      }
    }
    found.members = Set(try reader.all(Member.self).map { $0[keyPath: list.memberNumber] })
    #expect(found == state, note)
  }
}
