import RecordsTestSupport
import SteadTestSupport
import SwiftData
import Testing

/// A rule deleted a child, or cleared a reference, by the list that was loaded as `delete` was called, although another
/// context had led the child elsewhere by the time of the save.
@Suite("Deletions of what others move") struct ContestedDeletionTests {
  enum Arrival: CaseIterable { case save, fetch, turn, transaction }

  /// Estate 0 with all that it can have, and estate 1 with nothing.
  private func fill(_ context: ModelContext) throws {
    let (estate, house) = (Estate(0), House(0))
    context.insertAll(estate, Estate(1))
    (house.estate, estate.gate, estate.keeper) = (estate, Gate(0), Keeper(0))
    estate.trees = [Tree(0)]
    house.rooms = [Room(0)]
    (estate.paths, house.paths) = ([Path(0)], [Path(1)])
    try context.save()
  }

  private func move(_ context: ModelContext) throws {
    let estate = try context.only(Estate.self, where: #Predicate { $0.number == 1 })
    try context.only(House.self).estate = estate
    try context.only(Gate.self).estate = estate
    try context.only(Tree.self).estate = estate
    try context.only(Keeper.self).estate = estate
    try context.save()
  }

  @Test(arguments: StorePlace.allCases, Arrival.allCases)
  func `what another context has moved stays, wherever its commit arrives`(
    _ place: StorePlace, _ arrival: Arrival
  ) throws {
    for bits in 0..<8 {
      let (isLoaded, isBefore, hasUndo) = (bits & 1 > 0, bits & 2 > 0, bits & 4 > 0)
      let store = try TestStore(place, EstateMap.models)
      try fill(store.context())
      let context = store.context()
      // Another process, as far as the store knows.
      let other = place == .file ? ModelContext(try store.secondContainer()) : store.context()
      if hasUndo { context.undoManager = UndoManager() }
      let estate = try context.only(Estate.self, where: #Predicate { $0.number == 0 })
      if isLoaded {
        _ = try EstateMap(context)
      }
      if isBefore { try move(other) }
      func delete() throws {
        context.delete(estate)
        if !isBefore, arrival != .transaction { try move(other) }
      }
      if !isBefore, arrival == .transaction { try move(other) }
      let expected: EstateMap
      if arrival == .transaction {
        expected = try EstateMap(store.context())
        try context.transaction { try delete() }
      } else {
        try delete()
        expected = try EstateMap(store.context())
        if arrival == .fetch { _ = try context.all(Path.self) }
        if arrival == .turn { context.processPendingChanges() }
        try context.save()
      }
      let title: Comment = "loaded \(isLoaded), before \(isBefore), undo \(hasUndo)"
      let stored = try EstateMap(store.context())
      #expect(stored == expected.deleting(estates: [0], houses: [], rooms: []), title)
      #expect(stored.houses == [0: 1] && stored.rooms == [0: 0] && stored.gates == [0: 1], title)
      #expect(stored.trees == [0: 1] && stored.keepers == [0: 1], title)
      #expect(try EstateMap(context) == stored, title)
      #expect(try store.container.check().isSound, title)
    }
  }

  /// The program deleted the child itself, before or after the rule did, so it goes wherever it is.
  @Test(arguments: [false, true])
  func `a child that the program has deleted goes although another context has moved it`(
    isFirst: Bool
  ) throws {
    let store = try TestStore(.memory, EstateMap.models)
    try fill(store.context())
    let (context, other) = (store.context(), store.context())
    let estate = try context.only(Estate.self, where: #Predicate { $0.number == 0 })
    let house = try context.only(House.self)
    if isFirst { context.delete(house) }
    context.delete(estate)
    if !isFirst { context.delete(house) }
    try move(other)
    try context.save()
    let stored = try EstateMap(store.context())
    #expect(stored.houses.isEmpty && stored.rooms.isEmpty && stored.gates == [0: 1])
  }

  // MARK: Random

  /// A save deletes, by the rules, what they reach in the store at that moment, and nothing else.
  @Test(arguments: [false, true])
  func `random deletions beside another context's moves`(isFile: Bool) async throws {
    for seed in 0..<UInt64(Effort.times(isFile ? 8 : 25, long: 1000)) {
      var trial = try ContestedDeletionTrial(seed: seed, place: isFile ? .file : .memory)
      do {
        try trial.run()
      } catch {
        Issue.record("seed \(seed), \(trial.log): \(error)")
      }
      await Task.yield()
    }
  }
}

/// A context that deletes, undoes and redoes, and another one that moves what the first one deletes.
struct ContestedDeletionTrial {
  private struct Failure: Error { let description: String }
  private enum Step { case estate(Int), house(Int), room(Int) }

  private let store: TestStore
  private let context: ModelContext
  private let other: ModelContext
  private let manager = UndoManager()
  private var random: SplitMix
  /// What is deleted and not saved, and what of it was undone.
  private var (steps, undone): ([Step], [Step]) = ([], [])
  private var next = 10
  private(set) var log: [String] = []

  init(seed: UInt64, place: StorePlace) throws {
    random = SplitMix(seed: seed)
    store = try TestStore(place, EstateMap.models)
    context = store.context()
    other = place == .file ? ModelContext(try store.secondContainer()) : store.context()
    for number in 0..<4 {
      let (estate, house) = (Estate(number), House(number))
      other.insert(estate)
      (estate.gate, estate.keeper) = (Gate(number), Keeper(number))
      (estate.trees, estate.houses) = ([Tree(number)], [house, House(number + 4)])
      house.rooms = [Room(number), Room(number + 4)]
      (estate.paths, house.paths) = ([Path(number)], [Path(number + 4)])
    }
    try other.save()
    context.undoManager = manager
  }

  mutating func run() throws {
    for _ in 0..<30 {
      switch Int.random(in: 0..<12, using: &random) {
      case 0..<3: try delete()
      case 3: undo()
      case 4: redo()
      case 5: _ = try context.all(Path.self)
      case 6: _ = try EstateMap(context)
      case 7: try save()
      default: try move()
      }
    }
    try save()
  }

  private mutating func pick<T: PersistentModel>(_ context: ModelContext, _: T.Type) throws -> T? {
    try context.all(T.self).filter { !$0.isDeleted }
      .sorted { $0.persistentModelID < $1.persistentModelID }.randomElement(using: &random)
  }

  private mutating func delete() throws {
    let step: Step
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      guard let house = try pick(context, House.self) else { return }
      (step, log) = (.house(house.number), log + ["delete house \(house.number)"])
      context.delete(house)
    case 1:
      guard let room = try pick(context, Room.self) else { return }
      (step, log) = (.room(room.number), log + ["delete room \(room.number)"])
      context.delete(room)
    default:
      guard let estate = try pick(context, Estate.self) else { return }
      (step, log) = (.estate(estate.number), log + ["delete estate \(estate.number)"])
      context.delete(estate)
    }
    context.processPendingChanges()
    (steps, undone) = (steps + [step], [])
  }

  private mutating func undo() {
    guard let step = steps.popLast() else { return }
    log.append("undo")
    manager.undo()
    undone.append(step)
  }

  private mutating func redo() {
    guard let step = undone.popLast() else { return }
    log.append("redo")
    manager.redo()
    steps.append(step)
  }

  /// Has the other context lead something elsewhere, and save.
  private mutating func move() throws {
    let estate = Bool.random(using: &random) ? try pick(other, Estate.self) : nil
    let kind = Int.random(in: 0..<7, using: &random)
    log.append("move \(kind) to \(estate?.number ?? -1)")
    switch kind {
    case 0, 1: try pick(other, House.self)?.estate = estate
    case 2: try pick(other, Gate.self)?.estate = estate
    case 3: try pick(other, Tree.self)?.estate = estate
    case 4: try pick(other, Keeper.self)?.estate = estate
    case 5: try pick(other, Room.self)?.house = try pick(other, House.self)
    default:
      let house = House(next)
      house.rooms = [Room(next)]
      next += 1
      other.insert(house)
      house.estate = estate
    }
    try other.save()
  }

  private mutating func save() throws {
    log.append("save")
    let before = try EstateMap(store.context())
    var (estates, houses, rooms): (Set<Int>, Set<Int>, Set<Int>) = ([], [], [])
    for step in steps {
      switch step {
      case .estate(let number): estates.insert(number)
      case .house(let number): houses.insert(number)
      case .room(let number): rooms.insert(number)
      }
    }
    try context.save()
    (steps, undone) = ([], [])
    manager.removeAllActions()
    let stored = try EstateMap(store.context())
    let expected = before.deleting(estates: estates, houses: houses, rooms: rooms)
    guard stored == expected else {
      throw Failure(description: "the store has \(stored), and should have \(expected)")
    }
    let shown = try EstateMap(context)
    guard shown == stored, !context.hasChanges else {
      throw Failure(description: "the context shows \(shown), the store has \(stored)")
    }
    let check = try store.container.check()
    if !check.isSound { throw Failure(description: "\(check)") }
  }
}
