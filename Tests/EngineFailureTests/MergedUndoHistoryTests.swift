/// Random changes, saves, undo and redo of objects with few unique keys.
///
/// The reference is a stack of states: an undo leads back to the objects, values and ordered links from before its group,
/// a redo to those from before that undo, whatever was saved and merged in between.
@Suite("Random undo of merged objects") struct MergedUndoHistoryTests {
  /// How much is read, since reading loads objects and relationships.
  enum Reading: CaseIterable { case everyState, storedEnds }

  @Test(arguments: [false, true], Reading.allCases)
  func `each undo leads back to the state before its group, and each redo forward again`(
    isGrouped: Bool, _ reading: Reading
  ) async throws {
    for round in 0..<UInt64(Effort.times(15, long: 300)) {
      let seed = Effort.seed &+ round
      var random = SplitMix(seed: seed)
      var steps = (0..<Int.random(in: 4...30, using: &random)).map { _ in random.next() }
      guard var failure = try run(steps, isGrouped, reading) else {
        await Task.yield()
        continue
      }
      // Shortened until it reads as a bug report.
      var place = 0
      while place < steps.count {
        var fewer = steps
        fewer.remove(at: place)
        if let found = try run(fewer, isGrouped, reading) {
          (steps, failure) = (fewer, found)
        } else {
          place += 1
        }
        await Task.yield()
      }
      Issue.record("STEAD_SEED=\(seed): \(failure)")
      return
    }
  }

  private func run(
    _ steps: [UInt64], _ isGrouped: Bool, _ reading: Reading
  ) throws -> String? {
    var trial = try MergedUndoTrial(isGrouped: isGrouped, reading)
    do {
      for step in steps { try trial.act(SplitMix(seed: step)) }
      try reading == .everyState ? trial.undoAndRedoAll() : trial.compareEnds()
      return nil
    } catch let failure as MergedUndoTrial.Failure {
      return "\(failure.problem)\n\(trial.log.joined(separator: "\n"))"
    } catch let contradiction as Concert<Int>.Contradiction {
      return "\(contradiction)\n\(trial.log.joined(separator: "\n"))"
    }
  }
}

private struct MergedUndoTrial {
  struct Failure: Error { let problem: String }

  private(set) var log: [String] = []
  private let store: TestStore
  private let context: ModelContext
  private let manager = UndoManager()
  private let isGrouped: Bool
  private let reading: MergedUndoHistoryTests.Reading
  /// What the store had when the oldest step began.
  private var beginning: Concert<Int>?
  /// The states from before each group that can be undone, and from before each undo that can be redone.
  private var (undos, redos): ([Concert<Int>?], [Concert<Int>?]) = ([], [])
  private let objects = Objects()

  /// Gives each object of the context a number, and keeps it.
  private final class Objects {
    private(set) var all: [any PersistentModel] = []
    private var numbers: [ObjectIdentifier: Int] = [:]

    func number(_ model: any PersistentModel) -> Int {
      if let number = numbers[ObjectIdentifier(model)] { return number }
      all.append(model)
      numbers[ObjectIdentifier(model)] = all.count
      return all.count
    }
  }

  init(isGrouped: Bool, _ reading: MergedUndoHistoryTests.Reading) throws {
    (self.isGrouped, self.reading) = (isGrouped, reading)
    store = try TestStore(.memory, Singer.self, Choir.self)
    context = store.context()
    let (one, two) = (Singer(1, points: 100), Singer(2, points: 200))
    let (first, second) = (Choir(1, points: 100), Choir(2, points: 200))
    context.insertAll(one, two, first, second)
    (one.choir, one.honours, two.honours, two.mentor) = (first, [first], [first, second], one)
    (second.guest, second.reserves, first.leader) = (two, [one, two], one)
    try context.save()
    manager.groupsByEvent = false
    context.undoManager = manager
    if reading == .storedEnds { beginning = try stored() }
  }

  /// The objects, which are known by their identity; nil if not every state is read.
  private func state() throws -> Concert<Int>? {
    if reading == .storedEnds { return nil }
    return try Concert(context) { objects.number($0) }
  }

  private func stored() throws -> Concert<Int> { try Concert(store.reopened(), name: Self.key) }

  // MARK: Steps

  mutating func act(_ random: SplitMix) throws {
    var random = random
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<10: try change(&random)
    case 10..<13: try undo()
    case 13, 14: try redo()
    default: try save()
    }
  }

  private mutating func change(_ random: inout SplitMix) throws {
    let (before, count) = (try state(), manager.undoCount)
    if isGrouped { manager.beginUndoGrouping() }
    for _ in 0..<(isGrouped ? Int.random(in: 1...3, using: &random) : 1) { try edit(&random) }
    if isGrouped { manager.endUndoGrouping() }
    guard manager.undoCount > count else { return }
    try require(manager.undoCount == count + 1, "one change was several steps")
    undos.append(before)
    redos = []
  }

  private mutating func undo() throws {
    guard let expected = undos.popLast() else { return }
    redos.append(try state())
    log.append("undo")
    manager.undo()
    let found = try state()
    try require(found == expected, "undone: \(text(found))\nexpected \(text(expected))")
  }

  private mutating func redo() throws {
    guard let expected = redos.popLast() else { return }
    undos.append(try state())
    log.append("redo")
    manager.redo()
    let found = try state()
    try require(found == expected, "redone: \(text(found))\nexpected \(text(expected))")
  }

  // MARK: Edits

  private mutating func edit(_ random: inout SplitMix) throws {
    let order = [SortDescriptor(\Singer.number), SortDescriptor(\Singer.points)]
    let singers = try context.fetch(FetchDescriptor<Singer>(sortBy: order))
    let choirs = try context.fetch(
      FetchDescriptor<Choir>(sortBy: [SortDescriptor(\.number), SortDescriptor(\.points)]))
    let (key, points) = (
      Int.random(in: 1...4, using: &random), Int.random(in: 1...99, using: &random)
    )
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<4:
      log.append("insert singer \(key) (\(points))")
      return context.insert(Singer(key, points: points))
    case 4, 5:
      log.append("insert choir \(key) (\(points))")
      return context.insert(Choir(key, points: points))
    case 6:
      // Perhaps one that was merged into another, or whose insertion was undone.
      guard let held = objects.all.randomElement(using: &random) as? Singer,
        held.modelContext != nil
      else { return }
      log.append("held \(name(held)).points = \(points)")
      held.points = points
      return
    default: break
    }
    guard let singer = singers.randomElement(using: &random),
      let other = singers.randomElement(using: &random),
      let choir = choirs.randomElement(using: &random)
    else { return }
    switch Int.random(in: 0..<13, using: &random) {
    case 0:
      log.append("\(name(singer)).number = \(key)")
      singer.number = key
    case 1:
      log.append("\(name(choir)).points = \(points)")
      choir.points = points
    case 2:
      log.append("delete \(name(singer))")
      context.delete(singer)
    case 3:
      log.append("delete \(name(choir))")
      context.delete(choir)
    case let kind:
      link(singer, other, choir, kind, isCleared: Int.random(in: 0..<5, using: &random) == 0)
    }
  }

  private mutating func link(
    _ singer: Singer, _ other: Singer, _ choir: Choir, _ kind: Int, isCleared: Bool
  ) {
    func set<Owner: PersistentModel, Target: PersistentModel>(
      _ owner: Owner, _ path: ReferenceWritableKeyPath<Owner, Target?>, _ target: Target,
      _ label: String
    ) {
      log.append("\(name(owner)).\(label) = \(isCleared ? "nil" : name(target))")
      owner[keyPath: path] = isCleared ? nil : target
    }
    func add<Owner: PersistentModel, Target: PersistentModel>(
      _ owner: Owner, _ path: ReferenceWritableKeyPath<Owner, [Target]>, _ target: Target,
      _ label: String
    ) {
      log.append("\(name(owner)).\(label) \(isCleared ? "= []" : "+ \(name(target))")")
      if isCleared { owner[keyPath: path] = [] } else { owner[keyPath: path].append(target) }
    }
    switch kind {
    case 4: set(singer, \.mentor, other, "mentor")
    case 5: add(singer, \.pupils, other, "pupils")
    case 6: set(singer, \.choir, choir, "choir")
    case 7: set(singer, \.leads, choir, "leads")
    case 8: set(choir, \.leader, singer, "leader")
    case 9: add(singer, \.honours, choir, "honours")
    case 10: add(choir, \.honorary, singer, "honorary")
    case 11: set(choir, \.guest, singer, "guest")
    default: add(choir, \.reserves, singer, "reserves")
    }
  }

  private func name(_ model: any PersistentModel) -> String {
    let number = objects.number(model)
    if let singer = model as? Singer { return "o\(number) (singer \(singer.number))" }
    return "o\(number) (choir \((model as? Choir)?.number ?? 0))"
  }

  // MARK: Saves

  private mutating func save() throws {
    let before = try state()
    do {
      log.append("save")
      try context.save()
    } catch {
      log.append("refused; rollback")
      try require(try state() == before, "the refused save has changed something")
      context.rollback()
      (undos, redos) = ([], [])
      if reading == .storedEnds { beginning = try stored() }
      try require(!manager.canUndo && !manager.canRedo, "the rollback has left steps")
    }
    if let before, !before.hasDuplicates, manager.canUndo || manager.canRedo {
      let after = try state()
      try require(after == before, "saved: \(text(after))\nwas \(before)")
    }
    try require(!context.hasChanges, "there are changes after the save")
    if reading == .storedEnds { return }
    let found = try Concert(context, name: Self.key)
    let stored = try stored()
    try require(found == stored, "the context has \(found)\nthe store \(stored)")
    try require(!found.hasDuplicates, "a key is there twice")
    let check = try store.container.check()
    try require(check.isSound, "\(check)")
  }

  private static func key(_ model: any PersistentModel) -> Int {
    if let singer = model as? Singer { return singer.number }
    return 100 + ((model as? Choir)?.number ?? 0)
  }

  mutating func undoAndRedoAll() throws {
    while !undos.isEmpty { try undo() }
    try require(!manager.canUndo, "there is a step more")
    try save()
    while !redos.isEmpty { try redo() }
    try require(!manager.canRedo, "there is a step more to redo")
    try save()
  }

  /// Only the store is read, before and after all steps are undone and redone.
  mutating func compareEnds() throws {
    try save()
    let (end, count) = (try stored(), undos.count)
    while !undos.isEmpty { try undo() }
    try save()
    let first = try stored()
    try require(
      first == beginning, "all undone: \(first)\nexpected \(text(beginning))")
    try require(try Concert(context, name: Self.key) == first, "the context differs")
    while undos.count < count { try redo() }
    try save()
    let last = try stored()
    try require(last == end, "all redone: \(last)\nexpected \(end)")
    try require(try Concert(context, name: Self.key) == last, "the context differs")
    let check = try store.container.check()
    try require(check.isSound, "\(check)")
  }

  private func text(_ state: Concert<Int>?) -> String { state?.description ?? "" }

  private func require(_ holds: Bool, _ problem: @autoclosure () -> String) throws {
    if !holds { throw Failure(problem: problem()) }
  }
}
