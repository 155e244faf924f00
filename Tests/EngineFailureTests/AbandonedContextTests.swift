import Synchronization

@Model private final class Watch {
  @Attribute(.unique) var name: String
  @Relationship(inverse: \Mariner.crew) var members: [Mariner] = []
  var captain: Mariner?
  var watchers: [Mariner] = []

  init(name: String) { self.name = name }
}

@Model private final class Mariner {
  @Attribute(.unique) var name: String
  var crew: Watch?
  @Relationship(inverse: \Mariner.spouseOf) var spouse: Mariner?
  var spouseOf: Mariner?
  @Relationship(inverse: \Logbook.owner) var diaries: [Logbook] = []
  var lastDiary: Logbook?

  init(name: String) { self.name = name }
}

@Model private final class Logbook {
  var owner: Mariner
  var reader: Watch?

  init(owner: Mariner) { self.owner = owner }
}

/// A context that went with unsaved new objects left them and stored ones leading to each other. These held the engine,
/// the container and the files of the store for good.
@Suite("contexts that go with unsaved objects") struct AbandonedContextTests {
  private let file: RecordsTestSupport.StoreFile

  init() throws { file = try RecordsTestSupport.StoreFile() }

  enum Link: CaseIterable {
    case toOne, list, oneToOne, otherOneToOne, oneWay, required, requiredChain, transaction, deleted
  }

  private struct Refused: Error {}

  private func link(_ link: Link, _ context: ModelContext, _ sailor: Mariner) throws {
    let crew = Watch(name: "new")
    switch link {
    case .toOne: sailor.crew = crew
    case .list:
      crew.members = [sailor]
      context.insert(crew)
    case .oneToOne: sailor.spouse = Mariner(name: "spouse")
    case .otherOneToOne: Mariner(name: "spouse").spouse = sailor
    case .oneWay:
      sailor.crew = crew
      crew.captain = sailor
      crew.watchers = [sailor]
    case .required: sailor.lastDiary = Logbook(owner: sailor)
    case .requiredChain:
      sailor.crew = crew
      let diary = Logbook(owner: sailor)
      diary.reader = crew
      crew.captain = Mariner(name: "captain")
      crew.captain?.lastDiary = diary
    case .transaction:
      #expect(throws: Refused.self) {
        try context.transaction {
          crew.members = [sailor]
          context.insert(crew)
          throw Refused()
        }
      }
    case .deleted:
      sailor.crew = crew
      context.delete(sailor)
    }
  }

  @Test(arguments: Link.allCases)
  func `let the store be closed`(link: Link) throws {
    weak var seen: ModelContainer?
    weak var seenSailor: Mariner?
    do {
      let container = try file.open(Watch.self, Mariner.self, Logbook.self)
      let context = ModelContext(container)
      let sailor = Mariner(name: "x")
      context.insert(sailor)
      try context.save()
      try self.link(link, context, sailor)
      #expect(context.hasChanges)
      (seen, seenSailor) = (container, sailor)
    }
    #expect(seen == nil && seenSailor == nil)
    // The file alone is the whole store.
    let log = try? FileManager.default.attributesOfItem(atPath: file.url.path + "-wal")
    #expect((log?[.size] as? Int ?? 0) == 0)
    let reader = ModelContext(try file.open(Watch.self, Mariner.self, Logbook.self))
    #expect(try reader.count(Mariner.self) == 1)
  }

  @Test func `what the program keeps of one has its values`() throws {
    let (sailor, crew, mate): (Mariner, Watch, Mariner)
    do {
      let context = ModelContext(try file.open(Watch.self, Mariner.self, Logbook.self))
      sailor = Mariner(name: "x")
      context.insert(sailor)
      try context.save()
      crew = Watch(name: "new")
      mate = Mariner(name: "mate")
      crew.members = [sailor, mate]
      context.insert(crew)
      sailor.name = "changed"
    }
    #expect(sailor.name == "changed" && sailor.modelContext == nil)
    #expect(crew.name == "new" && crew.modelContext == nil && mate.modelContext == nil)
    // New objects lead to each other, and not to stored ones.
    #expect(crew.members.map(\.name) == ["mate"] && sailor.crew == nil)
  }

  // MARK: Refused saves

  /// A refused save had cleared references without an inverse to an object that was to be deleted. Taking the deletion
  /// back left them empty, and the next save stored that.
  @Test(arguments: [false, true], [false, true])
  func `a refused save keeps references without an inverse`(hasUndo: Bool, isMember: Bool) throws {
    let store = try TestStore(Watch.self, Mariner.self, Logbook.self)
    let context = store.context()
    let (x, p, q) = (Mariner(name: "x"), Mariner(name: "p"), Mariner(name: "q"))
    let crew = Watch(name: "crew")
    context.insertAll(x, p, q, crew)
    (crew.captain, crew.watchers, crew.members) = (x, [x, p], isMember ? [p, q, x] : [p, q])
    try context.save()
    if hasUndo { context.undoManager = UndoManager() }
    context.delete(x)
    p.name = "q"
    for _ in 0..<2 {
      #expect(throws: SwiftDataError.self) { try context.save() }
      #expect(crew.captain === x)
      #expect(crew.watchers.map(\.name) == ["x", "q"])
    }
    context.insert(x)
    p.name = "p9"
    try context.save()
    let stored = try store.reopened().only(Watch.self)
    #expect(stored.captain?.name == "x")
    #expect(stored.watchers.map(\.name) == ["x", "p9"])
    // Without the refusal, the save clears them.
    context.delete(x)
    try context.save()
    #expect(crew.captain == nil && crew.watchers.map(\.name) == ["p9"])
    let rest = try store.reopened().only(Watch.self)
    #expect(rest.captain == nil && rest.watchers.map(\.name) == ["p9"])
  }

  /// What the refused save had cleared counted as changed, and the next save wrote it over another context's commit.
  @Test func `a refused save leaves what others commit later`() throws {
    let store = try TestStore(Watch.self, Mariner.self, Logbook.self)
    let (context, other) = (store.context(), store.context())
    let (x, p, q) = (Mariner(name: "x"), Mariner(name: "p"), Mariner(name: "q"))
    let crew = Watch(name: "crew")
    context.insertAll(x, p, q, crew)
    (crew.captain, crew.watchers, crew.members) = (x, [x, p, q], [x, p])
    try context.save()
    context.delete(x)
    p.name = "q"
    #expect(throws: SwiftDataError.self) { try context.save() }
    let twin = try other.only(Watch.self)
    twin.captain = try other.twin(of: q)
    twin.watchers.append(Mariner(name: "late"))
    try other.save()
    context.insert(x)
    p.name = "p9"
    try context.save()
    let stored = try store.reopened().only(Watch.self)
    #expect(stored.captain?.name == "q")
    #expect(stored.watchers.map(\.name) == ["x", "p9", "q", "late"])
  }

  /// What the failed autosave restored counted as a change of the program's, and so each one was followed by another.
  @Test(.exitTests)
  func `a failed autosave is not followed by itself`() async throws {
    await #expect(processExitsWith: .success) {
      let received = Mutex<[Stead.Problem]>([])
      Stead.onProblem = { problem in received.withLock { $0.append(problem) } }
      let store = try TestStore(Watch.self, Mariner.self, Logbook.self)
      try await MainActor.run {
        let main = store.container.mainContext
        let (x, p, q) = (Mariner(name: "x"), Mariner(name: "p"), Mariner(name: "q"))
        let crew = Watch(name: "crew")
        main.insertAll(x, p, q, crew)
        (crew.captain, crew.watchers, crew.members) = (x, [x, p], [x, p])
        try main.save()
        main.delete(x)
        p.name = "q"
      }
      while received.withLock({ $0.isEmpty }) { await Task.yield() }
      // Turns in which another one would have come.
      for _ in 0..<100 {
        await MainActor.run {}
        await Task.yield()
      }
      #expect(received.withLock { $0.map(\.code) } == [.autosaveFailed])
    }
  }
}
