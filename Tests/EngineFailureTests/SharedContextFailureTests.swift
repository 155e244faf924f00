import Synchronization

/// A context belongs to one thread, except for its saves: an app's worker saves the main context, whose autosave may be
/// under way.
@Suite("Saves of one context on several threads", .serialized) struct SharedContextFailureTests {
  /// The other thread's save threw `saveInProgress`: 15 of 40 runs of a public library's test.
  @Test(.hangLimit) func `a save waits for another thread's save`() throws {
    let store = try TestStore(Counter.self)
    let shared = Shared(store.context())
    shared.context.insert(Counter(number: 1))
    let isSaving = Mutex(false)
    let hasSaved = Mutex(false)
    let token = NotificationCenter.default.addObserver(
      forName: ModelContext.willSave, object: shared.context, queue: nil
    ) { _ in
      isSaving.withLock { $0 = true }
      // The other thread's save fails here, or waits.
      for _ in 0..<20_000 where !hasSaved.withLock({ $0 }) { sched_yield() }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    try inThreads(2) { thread in
      if thread == 0 { return try shared.context.save() }
      while !isSaving.withLock({ $0 }) { sched_yield() }
      defer { hasSaved.withLock { $0 = true } }
      try shared.context.save()
    }
    #expect(try store.reopened().only(Counter.self).number == 1)
  }

  /// The thread that holds the store's lock would wait for the one that waits for it.
  @Test(.hangLimit) func `a save in another context's transaction does not wait for ever`() throws {
    let store = try TestStore(Counter.self)
    let (shared, other) = (Shared(store.context()), Shared(store.context()))
    shared.context.insert(Counter(number: 1))
    let isSaving = Mutex(false)
    let refusal = Mutex<SwiftDataError?>(nil)
    let token = NotificationCenter.default.addObserver(
      forName: ModelContext.willSave, object: shared.context, queue: nil
    ) { _ in
      isSaving.withLock { $0 = true }
      while refusal.withLock({ $0 == nil }) { sched_yield() }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    try inThreads(2) { thread in
      if thread == 0 { return try shared.context.save() }
      while !isSaving.withLock({ $0 }) { sched_yield() }
      try other.context.transaction {
        do {
          try shared.context.save()
        } catch let error as SwiftDataError {
          refusal.withLock { $0 = error }
        }
      }
    }
    #expect(refusal.withLock { $0 } == .saveInProgress)
    #expect(try store.reopened().count(Counter.self) == 1)
  }

  /// Which call saves.
  enum Saving: CaseIterable { case save, transaction, autosave }

  /// What an observer of `didSave` waits for may itself save the context. After a transaction and an autosave the context's
  /// lock was still held.
  @Test(.hangLimit, arguments: Saving.allCases) @MainActor
  func `an observer of didSave may wait for another thread's save`(_ saving: Saving) async throws {
    let store = try TestStore(Counter.self)
    let shared = Shared(saving == .autosave ? store.container.mainContext : store.context())
    shared.context.insert(Counter(number: 1))
    let failure = Mutex<String?>(nil)
    let count = Mutex(0)
    let token = NotificationCenter.default.addObserver(
      forName: ModelContext.didSave, object: shared.context, queue: nil
    ) { _ in
      do {
        try inThreads(1) { _ in try shared.context.save() }
      } catch {
        failure.withLock { $0 = "\(error)" }
      }
      count.withLock { $0 += 1 }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    switch saving {
    case .save: try shared.context.save()
    case .transaction: try shared.context.transaction {}
    case .autosave: while count.withLock({ $0 == 0 }) { await Task.yield() }
    }
    #expect(failure.withLock { $0 } == nil)
    #expect(count.withLock { $0 } == 1)
    #expect(try store.reopened().count(Counter.self) == 1)
  }

  /// A transaction of another thread was taken for the thread's own.
  @Test(.hangLimit, arguments: StorePlace.allCases)
  func `transactions of one context on several threads take turns`(_ place: StorePlace) throws {
    let store = try TestStore(place, Counter.self)
    let shared = Shared(store.context())
    let counter = Counter()
    shared.context.insert(counter)
    try shared.context.save()
    nonisolated(unsafe) let counted = counter  // Used in transactions alone, which take turns.
    try inThreads(4) { _ in
      for _ in 0..<50 { try shared.context.transaction { counted.value += 1 } }
    }
    #expect(try store.reopened().only(Counter.self).value == 200)
  }

  /// Autosaves on the main actor against saves, transactions and deletions by predicate on worker threads.
  @Test(.hangLimit, arguments: StorePlace.allCases) @MainActor
  func `the main context's autosave and a worker's saves go together`(
    _ place: StorePlace
  ) async throws {
    let store = try TestStore(place, Counter.self)
    let main = store.container.mainContext
    let shared = Shared(main)
    var random = SplitMix(seed: 1)
    let rounds = Effort.times(150)
    for number in 0..<rounds {
      main.insert(Counter(number: number))
      let way = Int.random(in: 0..<3, using: &random)
      try await Task.detached {
        switch way {
        case 0: try shared.context.save()
        case 1: try shared.context.transaction {}
        default:
          try inThreads(2) { _ in try shared.context.save() }
        }
      }.value
    }
    try main.save()
    #expect(try store.reopened().all(Counter.self).map(\.number).sorted() == Array(0..<rounds))
  }
}

/// A context for several threads.
private final class Shared: @unchecked Sendable {
  // Sendable: the tests save on several threads at once, which is what they are about, and do nothing else there.
  let context: ModelContext
  init(_ context: ModelContext) { self.context = context }
}
