/// Undo, other contexts, rollbacks and old rows each keep a file of a large value for a reason of its own. What was
/// tested of them was each alone.
@Suite("Large values at random") struct RandomLargeValueTests {
  @Test(arguments: [false, true])
  func `each context and each past state has the values that were saved`(
    keepsOldValues: Bool
  ) async throws {
    for seed in 0..<UInt64(Effort.times(3)) {
      let trial = try LargeValueTrial(
        seed: Effort.seed &* 1_000 &+ seed, count: 4, keepsOldValues: keepsOldValues)
      for step in 0..<20 { try trial.step(step) }
      try trial.finish()
      await Task.yield()
    }
  }

  /// More than are kept open stay in their directory until nothing leads to them.
  @Test func `more values than are kept open come back after a compaction, too`() throws {
    let trial = try LargeValueTrial(seed: Effort.seed, count: 70, keepsOldValues: false)
    try trial.loseAllAndUndo()
    for step in 0..<3 { try trial.step(step) }
    try trial.finish()
  }
}

/// A store of pictures, the contexts that change it, and the number of each poster's picture.
private final class LargeValueTrial {
  private typealias View = [Int: Int?]

  private let seed: UInt64
  private let keepsOldValues: Bool
  private let file: StoreFile
  private let container: ModelContainer
  private let context: ModelContext
  /// Sees what was saved when it saves itself, or fetches.
  private let other: ModelContext
  private let manager = UndoManager()
  private var random: SplitMix
  private var step = 0
  private var next = 0
  private var view: View = [:]
  private var stored: View = [:]
  private var undos: [(before: View, after: View)] = []
  private var redos: [(before: View, after: View)] = []
  /// Of each commit, if the store keeps old values.
  private var past: [(token: DefaultHistoryToken, view: View)] = []

  init(seed: UInt64, count: Int, keepsOldValues: Bool) throws {
    (self.seed, self.keepsOldValues) = (seed, keepsOldValues)
    random = SplitMix(seed: seed)
    file = try StoreFile()
    container = try ModelContainer(
      for: Poster.self, Wall.self,
      configurations: keepsOldValues
        ? ModelConfiguration(url: file.url, history: .withOldValues)
        : ModelConfiguration(url: file.url))
    (context, other) = (ModelContext(container), ModelContext(container))
    for number in 0..<count { other.insert(Poster(number: number, picture: Self.picture(number))) }
    for number in 0..<count { view[number] = number }
    next = count
    try other.save()
    try noteCommit(view)
    manager.groupsByEvent = false
    context.undoManager = manager
  }

  private var note: Comment { "seed \(seed), step \(step)" }

  private static func picture(_ number: Int) -> Data {
    Data(repeating: UInt8(truncatingIfNeeded: number), count: 150_000)
  }

  // MARK: Steps

  func step(_ step: Int) throws {
    self.step = step
    // What it has not read is of an earlier commit.
    let held = try other.all(Poster.self)
    let seen = stored
    switch Int.random(in: 0..<14, using: &random) {
    case 0..<4: try change()
    case 4, 5: try save()
    case 6, 7: undo()
    case 8: redo()
    case 9: rollBack()
    case 10: try changeElsewhere()
    case 11: try runTransaction()
    case 12: _ = try container.compact()
    default: try lookBack()
    }
    try #expect(view(of: context.all(Poster.self)) == view, note)
    guard stored != seen || Bool.random(using: &random) else { return }
    let now = view(of: held.filter { !$0.isDeleted && $0.modelContext != nil })
    for (number, picture) in now {
      #expect(picture == seen[number] || picture == stored[number], note)
    }
  }

  func loseAllAndUndo() throws {
    let posters = try context.all(Poster.self)
    let before = view
    manager.beginUndoGrouping()
    for poster in posters {
      if poster.number.isMultiple(of: 2) {
        context.delete(poster)
        view[poster.number] = nil
      } else {
        poster.picture = nil
        view[poster.number] = .some(nil)
      }
    }
    manager.endUndoGrouping()
    undos.append((before, view))
    try save()
    _ = try container.compact()
    undo()
    try save()
    #expect(try view(of: context.all(Poster.self)) == view, note)
    redo()
    try save()
    let directory = file.directory.appending(path: ".test.store_external")
    let files = try FileManager.default.contentsOfDirectory(atPath: directory.filePath).count
    #expect(files == posters.count - 64, note)
    try changeElsewhere()
  }

  /// Looks at all that was saved, from a container of its own.
  func finish() throws {
    step += 1
    try save()
    while !past.isEmpty { try lookBack() }
    // The first save after the last use of a file removes it.
    try other.all(Poster.self).forEach { _ = $0.picture }
    try change()
    try save()
    let second = try ModelContainer(
      for: Poster.self, Wall.self, configurations: container.configurations.first ?? .init())
    #expect(try view(of: ModelContext(second).all(Poster.self)) == view, note)
    let problems = try container.check().problems
    #expect(problems.isEmpty, note)
  }

  private func change() throws {
    let before = view
    manager.beginUndoGrouping()
    view = try change(context, view)
    manager.endUndoGrouping()
    undos.append((before, view))
    redos = []
  }

  private func change(_ context: ModelContext, _ old: View) throws -> View {
    var view = old
    let posters = try context.all(Poster.self).sorted { $0.number < $1.number }
    let new = Int.random(in: 0..<5, using: &random)
    guard let poster = posters.randomElement(using: &random),
      Int.random(in: 0..<5, using: &random) > 0
    else {
      context.insert(Poster(number: next, picture: Self.picture(new)))
      view[next] = new
      next += 1
      return view
    }
    if Bool.random(using: &random) { _ = poster.picture }
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      context.delete(poster)
      view[poster.number] = nil
    case 1:
      poster.picture = nil
      view[poster.number] = .some(nil)
    default:
      poster.picture = Self.picture(new)
      view[poster.number] = new
    }
    return view
  }

  private func undo() {
    manager.undo()
    guard let step = undos.popLast() else { return }
    redos.append(step)
    view = step.before
  }

  private func redo() {
    manager.redo()
    guard let step = redos.popLast() else { return }
    undos.append(step)
    view = step.after
  }

  private func forgetUndo() {
    manager.removeAllActions()
    (undos, redos) = ([], [])
  }

  private func rollBack() {
    context.rollback()
    view = stored
    (undos, redos) = ([], [])
    #expect(!manager.canUndo, note)
  }

  /// What another context has saved comes before an undo, which would be of something else then.
  private func changeElsewhere() throws {
    try save()
    for _ in 0..<Int.random(in: 1...3, using: &random) { view = try change(other, view) }
    try other.save()
    try noteCommit(view)
    if Bool.random(using: &random) { context.processPendingChanges() }
    forgetUndo()
  }

  /// A block that throws leaves what it has changed unsaved.
  private func runTransaction() throws {
    struct Stop: Error {}
    let stops = Bool.random(using: &random)
    // Each change is undone alone, or with the others of the block, which nobody promises.
    forgetUndo()
    do {
      try context.transaction {
        for _ in 0..<2 { view = try change(context, view) }
        if stops { throw Stop() }
      }
      try noteCommit(view)
    } catch is Stop {
      try #expect(view(of: ModelContext(container).all(Poster.self)) == stored, note)
    }
    forgetUndo()
  }

  // MARK: Saves

  private func save() throws {
    try context.save()
    try noteCommit(view)
  }

  private func noteCommit(_ view: View) throws {
    stored = view
    let reader = ModelContext(container)
    try #expect(self.view(of: reader.all(Poster.self)) == stored, note)
    guard keepsOldValues else { return }
    let history = HistoryDescriptor<DefaultHistoryTransaction>()
    guard let token = try reader.fetchHistory(history).last?.token, past.last?.token != token
    else { return }
    past.append((token, stored))
  }

  private func lookBack() throws {
    guard let place = past.indices.randomElement(using: &random) else { return }
    let then = try container.asOf(past[place].token)
    try #expect(view(of: ModelContext(then).all(Poster.self)) == past[place].view, note)
    past.remove(at: place)
  }

  private func view(of posters: [Poster]) -> View {
    Dictionary(
      uniqueKeysWithValues: posters.map { poster in
        let number = poster.picture.map { data in
          let number = data.first.map(Int.init) ?? -1
          return data == Self.picture(number) ? number : -1
        }
        return (poster.number, number)
      })
  }
}
