import Observation
import Synchronization

@Suite("Contexts on many threads", .serialized) struct ThreadFailureTests {
  /// With 50 reading contexts and one writer, some contexts kept objects one commit old after a
  /// fetch, and single fetches mixed up to 15 commits.
  @Test(.hangLimit) func `a fetch is of one commit and the newest`() throws {
    let (rows, commits, readers) = (20, 100, 50)
    let store = try TestStore(Counter.self)
    let filler = store.context()
    for number in 0..<rows { filler.insert(Counter(number: number)) }
    try filler.save()
    let committed = Mutex(0)
    let complaints = Mutex<Set<String>>([])
    let container = store.container
    try inThreads(readers + 1) { thread in
      let context = ModelContext(container)
      if thread == 0 {
        let counters = try context.all(Counter.self)
        for commit in 1...commits {
          for counter in counters { counter.value = commit }
          try context.save()
          committed.withLock { $0 = commit }
        }
        return
      }
      var held: [Counter] = []
      var newest = 0
      while newest < commits {
        newest = committed.withLock { $0 }
        let fetched = try context.all(Counter.self)
        let values = Set(fetched.map(\.value))
        if fetched.count != rows || values.count != 1 {
          complaints.withLock { _ = $0.insert("mixed") }
        }
        if (values.min() ?? 0) < newest { complaints.withLock { _ = $0.insert("old") } }
        if !held.isEmpty, Set(held.map(\.value)) != values {
          complaints.withLock { _ = $0.insert("kept") }
        }
        held = fetched
      }
    }
    #expect(complaints.withLock { $0 }.isEmpty)
  }

  /// The same on one thread: observed objects are read while news is applied, and another context
  /// commits just then. They had that commit, and the other rows of the fetch the one before.
  @Test func `a commit while news is applied is not mixed in`() throws {
    let store = try TestStore(Counter.self)
    let writer = store.context()
    let written = (0..<4).map { Counter(number: $0) }
    for counter in written { writer.insert(counter) }
    try writer.save()
    func commit(_ value: Int) throws {
      for counter in written { counter.value = value }
      try writer.save()
    }
    let reader = store.context()
    let held = try reader.fetch(FetchDescriptor<Counter>(predicate: #Predicate { $0.number < 2 }))
    let committing = Committing { try commit(2) }
    withObservationTracking {
      for counter in held { _ = counter.value }
    } onChange: {
      committing.run()
    }
    try commit(1)
    #expect(Set(try reader.all(Counter.self).map(\.value)) == [1])
    #expect(written.map(\.value) == [2, 2, 2, 2])
    #expect(Set(try reader.all(Counter.self).map(\.value)) == [2])
  }

  private final class Committing: @unchecked Sendable {
    // Sendable: used on the one thread of its test.
    private let body: () throws -> Void

    init(_ body: @escaping () throws -> Void) { self.body = body }

    func run() { #expect(throws: Never.self) { try body() } }
  }

  /// 8 threads with a context each lost 62 to 143 of 2,000 increments, in `transaction` too.
  @Test(.hangLimit) func `transactions lose no increment`() throws {
    let store = try TestStore(Counter.self)
    let counter = Counter()
    let context = store.context()
    context.insert(counter)
    try context.save()
    let (container, identifier) = (store.container, counter.persistentModelID)
    try inThreads(8) { _ in
      let context = ModelContext(container)
      let counter = try #require(context.model(for: identifier) as? Counter)
      for _ in 0..<250 { try context.transaction { counter.value += 1 } }
    }
    #expect(try store.reopened().only(Counter.self).value == 2000)
  }

  /// Autosave in a model actor ran on the main actor, beside the actor's own work, and crashed 8 of
  /// 10 runs.
  @Test(.hangLimit) func `a model actor's autosave runs on its executor`() async throws {
    for round in 0..<50 {
      let store = try TestStore(Counter.self)
      let saver = Saver(modelContainer: store.container)
      await saver.start()
      for number in 0..<10 { await saver.insert(number) }
      while await saver.hasChanges { try Task.checkCancellation() }
      #expect(await !saver.strayed, "round \(round)")
      #expect(try store.context().all(Counter.self).count == 10)
    }
  }
}

@ModelActor actor Saver {
  private let log = SaveLog()

  var hasChanges: Bool { modelContext.hasChanges }
  var strayed: Bool { log.strayed }

  func start() {
    log.watch(modelContext)
    modelContext.autosaveEnabled = true
  }

  func insert(_ number: Int) {
    log.works.withLock { $0 = true }
    modelContext.insert(Counter(number: number))
    for _ in 0..<100 { log.touch() }
    log.works.withLock { $0 = false }
  }
}

/// Where saves of a context happen.
final class SaveLog: @unchecked Sendable {
  // Sendable: the mutexes guard what changes; the token is set once, before the first save.
  let works = Mutex(false)
  private let hasStrayed = Mutex(false)
  private let touches = Mutex(0)
  private var token: (any NSObjectProtocol)?

  var strayed: Bool { hasStrayed.withLock { $0 } }

  func touch() { touches.withLock { $0 += 1 } }

  func watch(_ context: ModelContext) {
    token = NotificationCenter.default.addObserver(
      forName: ModelContext.willSave, object: context, queue: nil
    ) { [weak self] _ in
      guard let self else { return }
      if Thread.isMainThread || works.withLock({ $0 }) { hasStrayed.withLock { $0 = true } }
    }
  }

  deinit { if let token { NotificationCenter.default.removeObserver(token) } }
}
