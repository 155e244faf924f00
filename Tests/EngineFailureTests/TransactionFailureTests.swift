/// What the block of a transaction does by other routes than the context's pending changes.
@Suite("Everything that a transaction's block commits") struct TransactionFailureTests {
  /// Nothing was pending at the end, so the transaction was taken back with the deletion in it. No error told.
  @Test(arguments: StorePlace.allCases)
  func `a deletion by predicate within a transaction deletes`(_ place: StorePlace) throws {
    let store = try TestStore(place, Counter.self)
    let context = store.context()
    for number in 0..<4 { context.insert(Counter(number: number)) }
    try context.save()
    let held = try context.all(Counter.self)
    try context.transaction {
      try context.delete(model: Counter.self, where: #Predicate { $0.number < 2 })
    }
    #expect(try store.reopened().all(Counter.self).map(\.number).sorted() == [2, 3])
    #expect(held.count { $0.modelContext != nil } == 2)
  }

  /// It was taken back as well, and the other context took its objects for saved.
  @Test(arguments: StorePlace.allCases)
  func `another context's save within a transaction is saved`(_ place: StorePlace) throws {
    let store = try TestStore(place, Counter.self)
    let (context, other) = (store.context(), store.context())
    let counter = Counter(number: 1)
    try context.transaction {
      other.insert(counter)
      try other.save()
    }
    #expect(!other.hasChanges)
    #expect(try store.reopened().only(Counter.self).number == 1)
    counter.value = 5
    try other.save()
    #expect(try store.reopened().only(Counter.self).value == 5)
  }

  /// The error said that the transaction had ended before it was used.
  @Test(arguments: [false, true])
  func `a change in a transaction of a store that is not written is refused as any other`(
    hasSecondStore: Bool
  ) throws {
    let (store, second) = (try TestStore(Counter.self), try StoreFile())
    let writer = store.context()
    writer.insert(Counter(number: 1))
    try writer.save()
    let schema = Schema(hasSecondStore ? [Counter.self, Account.self] : [Counter.self])
    let readOnly = ModelConfiguration(
      "first", schema: Schema([Counter.self]), url: store.url, allowsSave: false)
    let container =
      hasSecondStore
      ? try ModelContainer(
        for: schema, configurations: readOnly,
        ModelConfiguration("second", schema: Schema([Account.self]), url: second.url))
      : try ModelContainer(for: schema, configurations: readOnly)
    let context = ModelContext(container)
    let counter = try context.only(Counter.self)
    func change() {
      counter.value = 5
      if hasSecondStore { context.insert(Account(email: "a", login: "a")) }
    }
    change()
    let outside = try refusal(of: context)
    context.rollback()
    let inside = try #require(throws: SwiftDataError.self) {
      try context.transaction(block: change)
    }
    #expect(outside == .readOnlyStore && inside == .readOnlyStore)
    #expect(inside.message == outside.message)
    #expect(context.hasChanges)
    context.rollback()
    // A transaction without a change of that store is one like others.
    try context.transaction {
      let unchanged = try context.only(Counter.self)
      #expect(unchanged.value == 0)
      if hasSecondStore { context.insert(Account(email: "b", login: "b")) }
    }
    #expect(try store.reopened().only(Counter.self).value == 0)
    if hasSecondStore { #expect(try ModelContext(container).only(Account.self).email == "b") }
  }

  /// The save of the transaction took the other context's commit back with its own rows.
  @Test(arguments: StorePlace.allCases)
  func `a refused save takes back nothing that others committed`(_ place: StorePlace) throws {
    let store = try TestStore(place, Account.self, Counter.self)
    let (context, other) = (store.context(), store.context())
    context.insertAll(Account(email: "a", login: "a"), Account(email: "b", login: "b"))
    try context.save()
    let both = Account(email: "a", login: "b")
    #expect(throws: SwiftDataError.modelValidationFailure) {
      try context.transaction {
        other.insert(Counter(number: 1))
        try other.save()
        context.insert(both)
      }
    }
    #expect(try store.reopened().only(Counter.self).number == 1)
    #expect(context.hasChanges)
    both.login = "c"
    both.email = "c"
    try context.save()
    #expect(try store.reopened().count(Account.self) == 3)
  }

  /// A commit within the block was skipped by the context's own, which has a later number.
  @Test(arguments: StorePlace.allCases)
  func `the context sees what its block committed`(_ place: StorePlace) throws {
    let store = try TestStore(place, Counter.self)
    let (context, other) = (store.context(), store.context())
    context.insertAll(Counter(number: 0), Counter(number: 1))
    try context.save()
    let held = try context.fetch(FetchDescriptor<Counter>(sortBy: [SortDescriptor(\.number)]))
    let theirs = try other.twin(of: held[0])
    try context.transaction {
      theirs.value = 7
      try other.save()
      held[1].value = 8
    }
    #expect(held.map(\.value) == [7, 8])
  }

  /// It threw: the transaction had ended, and the context still took it for open.
  @Test(arguments: StorePlace.allCases)
  func `an observer of a transaction's save may save`(_ place: StorePlace) throws {
    let store = try TestStore(place, Counter.self)
    let context = store.context()
    nonisolated(unsafe) let shared = context  // Posted on this thread.
    nonisolated(unsafe) var failure: (any Error)?
    nonisolated(unsafe) var count = 0
    let token = NotificationCenter.default.addObserver(
      forName: ModelContext.didSave, object: context, queue: nil
    ) { _ in
      count += 1
      guard count < 3 else { return }
      shared.insert(Counter(number: count))
      do {
        if count == 1 { try shared.save() } else { try shared.transaction {} }
      } catch {
        failure = error
      }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    try context.transaction { context.insert(Counter(number: 0)) }
    #expect(failure == nil)
    #expect(try store.reopened().all(Counter.self).map(\.number).sorted() == [0, 1, 2])
  }

  /// Blocks of random calls, against a dictionary.
  @Test(arguments: StorePlace.allCases)
  func `random blocks commit what they say`(_ place: StorePlace) async throws {
    for seed in 0..<UInt64(Effort.times(40)) {
      try BlockTrial(place, seed: seed).run()
      await Task.yield()
    }
  }
}

/// A sequence of transactions whose blocks change counters by every route, and what the store must have then.
private final class BlockTrial {
  private struct Refusal: Error {}

  private let seed: UInt64
  private let store: TestStore
  private var random: SplitMix
  private let contexts: [ModelContext]
  /// The objects of each context by their numbers.
  private var objects: [[Int: Counter]] = [[:], [:]]
  /// What the store has, and what the first context has changed since: nil is a deletion.
  private var stored: [Int: Int] = [:]
  private var pending: [Int: Int] = [:]
  private var unsaved: Set<Int> = []
  private var nextNumber = 0

  init(_ place: StorePlace, seed: UInt64) throws {
    self.seed = seed
    store = try TestStore(place, Counter.self)
    random = SplitMix(seed: seed)
    contexts = [store.context(), store.context()]
  }

  private func number(below limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

  func run() throws {
    for _ in 0..<4 { insert(0) }
    try save()
    for step in 0..<8 {
      let throwsAtEnd = number(below: 4) == 0
      do {
        try contexts[0].transaction {
          for _ in 0..<(1 + number(below: 4)) { try act(isNested: false) }
          if throwsAtEnd { throw Refusal() }
        }
        commitPending()
      } catch is Refusal {
        contexts[0].processPendingChanges()
      }
      contexts[1].processPendingChanges()
      try check("seed \(seed), step \(step)")
      if throwsAtEnd, number(below: 2) == 0 { try save() }
    }
  }

  private func act(isNested: Bool) throws {
    switch number(below: isNested ? 6 : 8) {
    case 0: change(0)
    case 1: insert(0)
    case 2:
      change(1)
      try contexts[1].save()
    case 3:
      insert(1)
      try contexts[1].save()
    case 4: try delete(by: number(below: 2))
    case 5: try save()
    case 6:
      let isRefused = number(below: 3) == 0
      let before = pending
      do {
        // The innermost save commits what is pending; a block that throws leaves it so.
        try contexts[0].transaction {
          try act(isNested: true)
          if isRefused { throw Refusal() }
        }
        commitPending()
      } catch is Refusal {
        if before.isEmpty { contexts[0].processPendingChanges() }
      }
    default:
      try contexts[1].transaction {
        change(1)
        try delete(by: 1)
        if number(below: 2) == 0 {
          try contexts[1].deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        }
      }
    }
  }

  // MARK: What both do

  private func object(_ context: Int, _ number: Int) -> Counter? {
    if let held = objects[context][number], held.modelContext != nil { return held }
    let found = try? contexts[context].all(Counter.self).first { $0.number == number }
    objects[context][number] = found
    return found
  }

  private func change(_ context: Int) {
    let known = stored.keys.filter { context == 0 || !unsaved.contains($0) }.sorted()
    guard let number = known.randomElement(using: &random),
      let counter = object(context, number)
    else { return }
    let value = self.number(below: 1_000)
    counter.value = value
    if context == 0 { pending[number] = value } else { stored[number] = value }
  }

  private func insert(_ context: Int) {
    let counter = Counter(number: nextNumber)
    nextNumber += 1
    contexts[context].insert(counter)
    objects[context][counter.number] = counter
    if context == 0 {
      pending[counter.number] = 0
      unsaved.insert(counter.number)
    } else {
      stored[counter.number] = 0
    }
  }

  private func delete(by context: Int) throws {
    let limit = number(below: nextNumber + 1)
    let parity = number(below: 4)
    try contexts[context].delete(
      model: Counter.self, where: #Predicate { $0.number < limit && $0.number % 4 == parity })
    func matches(_ number: Int) -> Bool { number < limit && number % 4 == parity }
    stored = stored.filter { !matches($0.key) }
    // Another context's deletion doesn't concern what was never saved.
    pending = pending.filter { entry in
      !matches(entry.key) || (context == 1 && unsaved.contains(entry.key))
    }
    unsaved = unsaved.filter { !matches($0) || context == 1 }
  }

  private func save() throws {
    try contexts[0].save()
    commitPending()
  }

  private func commitPending() {
    stored.merge(pending) { $1 }
    (pending, unsaved) = ([:], [])
  }

  private func check(_ place: Comment) throws {
    func content(_ counters: [Counter]) -> [Int: Int] {
      Dictionary(uniqueKeysWithValues: counters.map { ($0.number, $0.value) })
    }
    #expect(content(try store.reopened().all(Counter.self)) == stored, place)
    let view = stored.merging(pending) { $1 }
    for (number, counter) in objects[0] where counter.modelContext != nil {
      #expect(view[number] == counter.value, place)
    }
    #expect(contexts[0].hasChanges == !pending.isEmpty, place)
    #expect(!contexts[1].hasChanges, place)
    #expect(content(try contexts[0].all(Counter.self)) == view, place)
    #expect(content(try contexts[1].all(Counter.self)) == stored, place)
    for (number, counter) in objects[1] where counter.modelContext != nil {
      #expect(stored[number] == counter.value, place)
    }
  }
}
