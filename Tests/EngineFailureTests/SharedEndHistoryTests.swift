/// What a context must make of its changes and another one's: where each bee is, and which bee is each hive's queen. The
/// two sides of a queen are apart, since each context may have changed one of them last.
private struct HiveReference {
  var base = Bees()
  /// The bees that this context moved, and the hives whose queen it changed, each with the last value.
  var moved: [String: Bees.Place?] = [:]
  var queens: [String: String?] = [:]
  /// New hives with the key of a row, each with the row's name.
  var copies: [String: String] = [:]
  var deletedHives: Set<String> = []
  var deletedBees: Set<String> = []

  func place(_ bee: String) -> Bees.Place? { moved[bee] ?? base.places[bee] }

  func queen(_ hive: String) -> String? {
    queens[hive] ?? base.places.first { $0.value == .init(hive: hive, end: .queen) }?.key
  }

  /// Whether a bee's own side and the hive's agree.
  private func isQueen(_ bee: String, _ hive: String) -> Bool {
    place(bee) == .init(hive: hive, end: .queen) && queen(hive) == bee
  }

  mutating func move(_ bee: String, to new: Bees.Place?) {
    if place(bee) == new, new?.end != .queen || new.map({ isQueen(bee, $0.hive) }) == true {
      return
    }
    if let old = place(bee), old.end == .queen, isQueen(bee, old.hive) {
      queens[old.hive] = .some(nil)
    }
    if let new, new.end == .queen {
      if let before = queen(new.hive), before != bee, isQueen(before, new.hive) {
        moved[before] = .some(nil)
      }
      queens[new.hive] = bee
    }
    moved[bee] = .some(new)
  }

  mutating func clearQueen(_ hive: String) {
    guard let bee = queen(hive) else { return }
    if isQueen(bee, hive) { moved[bee] = .some(nil) }
    queens[hive] = .some(nil)
  }

  mutating func delete(bee: String) {
    move(bee, to: nil)
    deletedBees.insert(bee)
  }

  mutating func delete(hive: String) {
    deletedHives.insert(hive)
    if let queen = queen(hive), isQueen(queen, hive) { delete(bee: queen) }
    // What only another context has made its queen is found by the save.
    for bee in base.bees where place(bee)?.hive == hive && place(bee)?.end != .queen {
      move(bee, to: nil)
    }
    queens[hive] = .some(nil)
  }

  /// What the store becomes.
  mutating func save() -> Bees {
    for (copy, hive) in copies.sorted(by: { $0.key < $1.key }) {
      let queen = queen(copy)
      for bee in base.bees.sorted() where place(bee)?.hive == copy && place(bee)?.end != .queen {
        move(bee, to: place(bee).map { .init(hive: hive, end: $0.end) })
      }
      if let queen { move(queen, to: .init(hive: hive, end: .queen)) } else { setNoQueen(hive) }
      queens[copy] = nil
    }
    // What another context has led to a deleted hive goes with it.
    for bee in base.bees.sorted() where !deletedBees.contains(bee) {
      guard let place = place(bee), deletedHives.contains(place.hive) else { continue }
      if place.end == .queen { deletedBees.insert(bee) }
      moved[bee] = .some(nil)
    }
    var result = base
    for (bee, place) in moved { result.places[bee] = place }
    for (hive, queen) in queens {
      for (bee, place) in result.places where place == .init(hive: hive, end: .queen) {
        if bee != queen { result.places[bee] = nil }
      }
    }
    for bee in deletedBees {
      result.bees.remove(bee)
      result.places[bee] = nil
    }
    result.hives.subtract(deletedHives)
    self = HiveReference(base: result)
    return result
  }

  /// Also where no bee is known here: another context's goes, too.
  private mutating func setNoQueen(_ hive: String) {
    clearQueen(hive)
    queens[hive] = .some(nil)
  }
}

/// The context under test, beside the reference.
private struct HiveTrial {
  let store: TestStore
  let context: ModelContext
  let other: ModelContext
  var reference = HiveReference()
  var log: [String] = []
  /// The program's references, which keep objects loaded.
  private var held: [any PersistentModel] = []
  private var identifiers: [String: PersistentIdentifier] = [:]
  private var counter = 0

  init(holdsObjects: Bool, _ place: StorePlace) throws {
    store = try TestStore(place, Hive.self, Bee.self)
    (context, other) = (store.context(), store.context())
    let first = store.context()
    for name in ["A", "B"] { first.insert(Hive(name: name)) }
    for name in ["1", "2", "3", "4"] { first.insert(Bee(name: name)) }
    try first.save()
    for hive in try first.all(Hive.self) { identifiers[hive.name] = hive.persistentModelID }
    for bee in try first.all(Bee.self) { identifiers[bee.name] = bee.persistentModelID }
    if holdsObjects {
      held = try context.all(Hive.self)
      held += try context.all(Bee.self)
      _ = try Bees(context)
    }
    reference.base = try Bees(first)
  }

  // By identifiers, since a new hive may have the name of a stored one.

  private func hive(_ name: String, _ context: ModelContext) throws -> Hive {
    let id = try #require(identifiers[name])
    return try #require(context.model(for: id) as? Hive)
  }

  private func bee(_ name: String, _ context: ModelContext) throws -> Bee {
    let id = try #require(identifiers[name])
    return try #require(context.model(for: id) as? Bee)
  }

  private static let places = ["A", "B"].flatMap { hive in
    HiveEnd.allCases.map { Bees.Place(hive: hive, end: $0) }
  }

  /// What the other context does, and saves.
  mutating func actElsewhere(_ random: inout SplitMix) throws {
    var elsewhere = HiveReference(base: reference.base)
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      guard let bee = elsewhere.base.bees.sorted().randomElement(using: &random) else { break }
      let place = Self.places.filter { elsewhere.base.hives.contains($0.hive) }
        .randomElement(using: &random)
      log.append("elsewhere: \(bee) to \(place.map { "\($0.hive).\($0.end)" } ?? "nil")")
      elsewhere.move(bee, to: place)
      try lead(self.bee(bee, other), to: place, other)
    }
    try other.save()
    reference.base = elsewhere.save()
    context.processPendingChanges()
  }

  private func lead(_ bee: Bee, to place: Bees.Place?, _ context: ModelContext) throws {
    guard let place else { return bee.hive = nil }
    place.end.lead(try hive(place.hive, context), to: bee)
  }

  mutating func act(_ random: inout SplitMix) throws {
    let bees = reference.base.bees.subtracting(reference.deletedBees).sorted()
    let hives = reference.base.hives.subtracting(reference.deletedHives).sorted()
    guard let bee = bees.randomElement(using: &random),
      let hive = hives.randomElement(using: &random)
    else { return }
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<10:
      let end = HiveEnd.allCases[Int.random(in: 0..<3, using: &random)]
      // What a property shows already is no change, whichever side the other context has changed.
      if end == .queen, reference.queen(hive) == bee { return }
      try move(bee, to: .init(hive: hive, end: end))
    case 10, 11: try move(bee, to: nil)
    case 12..<15:
      log.append("\(hive).queen = nil")
      reference.clearQueen(hive)
      try self.hive(hive, context).queen = nil
    case 15, 16: try takeRow(of: hive, &random)
    case 17:
      log.append("delete bee \(bee)")
      reference.delete(bee: bee)
      context.delete(try self.bee(bee, context))
    case 18:
      guard !reference.copies.values.contains(hive) else { return }
      log.append("delete hive \(hive)")
      reference.delete(hive: hive)
      context.delete(try self.hive(hive, context))
    default:
      log.append("rollback")
      reference = HiveReference(base: reference.base)
      context.rollback()
    }
  }

  private mutating func move(_ bee: String, to place: Bees.Place?) throws {
    log.append("\(bee) to \(place.map { "\($0.hive).\($0.end)" } ?? "nil")")
    let model = try self.bee(bee, context)
    reference.move(bee, to: place)
    try lead(model, to: place, context)
  }

  /// A new hive with the key of a stored one, with a bee or without.
  private mutating func takeRow(of hive: String, _ random: inout SplitMix) throws {
    guard !reference.copies.values.contains(hive) else { return }
    counter += 1
    let copy = "new \(counter)"
    let new = Hive(name: copy)
    context.insert(new)
    reference.copies[copy] = hive
    let bees = reference.base.bees.subtracting(reference.deletedBees).sorted()
    if Bool.random(using: &random), let bee = bees.randomElement(using: &random) {
      let end = HiveEnd.allCases[Int.random(in: 0..<3, using: &random)]
      log.append("\(bee) to \(copy).\(end)")
      reference.move(bee, to: .init(hive: copy, end: end))
      end.lead(new, to: try self.bee(bee, context))
    }
    log.append("\(copy) takes the row of \(hive)")
    new.name = hive
  }

  /// Saves, and compares the store and both contexts with the reference.
  mutating func save() throws -> String? {
    log.append("save")
    let expected = reference.save()
    try context.save()
    let stored = try Bees(store.reopened())
    if stored != expected { return "the store has \(stored), expected \(expected)" }
    for (name, context) in [("the context", context), ("the other one", other)] {
      context.processPendingChanges()
      let found = try Bees(context)
      if found != expected { return "\(name) has \(found), expected \(expected)" }
    }
    let check = try store.container.check()
    return check.isSound ? nil : "\(check)"
  }
}

/// Moves, new objects that take rows, deletions and rollbacks, before and after another context's save.
@Suite("Random changes of relationships that share an inverse") struct SharedEndHistoryTests {
  @Test(arguments: [false, true])
  func `two contexts leave each object where the last of them put it`(holdsObjects: Bool)
    async throws
  {
    for round in 0..<UInt64(Effort.times(50)) {
      var random = SplitMix(seed: Effort.seed &+ round)
      let place = round % 10 == 9 ? StorePlace.file : .memory
      var trial = try HiveTrial(holdsObjects: holdsObjects, place)
      do {
        for _ in 0..<3 {
          for _ in 0..<Int.random(in: 0...3, using: &random) { try trial.act(&random) }
          if Bool.random(using: &random) { try trial.actElsewhere(&random) }
          for _ in 0..<Int.random(in: 0...3, using: &random) { try trial.act(&random) }
          guard let problem = try trial.save() else { continue }
          Issue.record(
            "STEAD_SEED=\(Effort.seed &+ round), objects \(holdsObjects ? "" : "not ")held: \(problem)\n\(trial.log.joined(separator: "\n"))"
          )
          return
        }
      } catch {
        Issue.record(
          "STEAD_SEED=\(Effort.seed &+ round), objects \(holdsObjects ? "" : "not ")held: \(error)\n\(trial.log.joined(separator: "\n"))"
        )
        return
      }
      await Task.yield()
    }
  }
}
