import Observation
import Synchronization
import WorkerModels

@Suite("What a context saw of others' commits") struct FreshnessFailureTests {
  /// Two containers on one file, used in turn on one thread, stored 11 of 20 increments: each
  /// trusted a snapshot that only its own commits ended.
  @Test func `two containers take turns`() throws {
    let store = try TestStore(Counter.self)
    let counter = Counter()
    let first = store.context()
    first.insert(counter)
    try first.save()
    let contexts = [first, ModelContext(try store.secondContainer())]
    for _ in 0..<10 {
      for context in contexts {
        try context.fetch(FetchDescriptor<Counter>())[0].value += 1
        try context.save()
      }
    }
    #expect(try store.reopened().only(Counter.self).value == 20)
  }

  /// The context whose save came second went on showing its own members at the places that they had had there.
  @Test(arguments: 0..<Effort.times(60))
  func `a list that two contexts changed has the store's order`(seed: Int) throws {
    var random = SplitMix(seed: Effort.seed &* 1_000 &+ UInt64(seed))
    let store = try TestStore(Item.self, Shop.self, Tag.self, Playlist.self, Song.self)
    let first = store.context()
    let (playlist, tag) = (Playlist(name: "p"), Tag(name: "t"))
    let names = ["a", "b", "c", "d"]
    first.insert(playlist)
    first.insert(tag)
    for name in names {
      first.insert(Song(title: name))
      first.insert(Item(name: name))
    }
    try first.save()
    let contexts = [first, store.context()]
    func members(_ context: ModelContext) throws -> [[String]] {
      [
        try context.only(Playlist.self).songs.map(\.title),
        try context.only(Tag.self).items.map(\.name),
      ]
    }
    // Held, since an object that nobody holds reads its row again.
    let held = try contexts.map { context in
      (
        try context.only(Playlist.self), try context.only(Tag.self),
        try context.fetch(FetchDescriptor<Song>()), try context.fetch(FetchDescriptor<Item>())
      )
    }
    for context in contexts { _ = try members(context) }
    defer { withExtendedLifetime(held) {} }
    for round in 0..<4 {
      for context in contexts {
        let chosen = names.shuffled(using: &random).prefix(Int.random(in: 0...4, using: &random))
        let (songs, items) = (
          try context.fetch(FetchDescriptor<Song>()), try context.fetch(FetchDescriptor<Item>())
        )
        try context.only(Playlist.self).songs = chosen.compactMap { name in
          songs.first { $0.title == name }
        }
        try context.only(Tag.self).items = chosen.compactMap { name in
          items.first { $0.name == name }
        }
      }
      let order = contexts.shuffled(using: &random)
      try order[0].save()
      if Bool.random(using: &random) {
        order[1].processPendingChanges()
        _ = try members(order[1])
      }
      try order[1].save()
      let stored = try members(store.context())
      for context in contexts {
        context.processPendingChanges()
        #expect(try members(context) == stored, "seed \(seed), round \(round)")
      }
    }
  }

  /// The same with an object that `model(for:)` gives.
  @Test func `two containers take turns by identifier`() throws {
    let store = try TestStore(Counter.self)
    let first = store.context()
    first.insert(Counter())
    try first.save()
    let contexts = [first, ModelContext(try store.secondContainer())]
    let identifiers = try contexts.map { try $0.only(Counter.self).persistentModelID }
    for _ in 0..<10 {
      for (context, identifier) in zip(contexts, identifiers) {
        context.processPendingChanges()
        try #require(context.model(for: identifier) as? Counter).value += 1
        try context.save()
      }
    }
    #expect(try store.reopened().only(Counter.self).value == 20)
  }

  /// The to-many relationship of an owner that the changing context had not loaded kept the object
  /// in other contexts.
  @Test func `an owner that was not loaded loses its item in other contexts`() throws {
    let store = try TestStore(Shop.self, Item.self, Tag.self)
    let reader = store.context()
    let (a, b, item) = (Shop(name: "a"), Shop(name: "b"), Item(name: "i"))
    reader.insertAll(a, b)
    a.items = [item]
    try reader.save()
    #expect(a.items.count == 1)

    let writer = store.context()
    try writer.twin(of: item).shop = try writer.twin(of: b)
    try writer.save()
    reader.processPendingChanges()
    #expect(a.items.isEmpty)
    #expect(b.items.map(\.name) == ["i"])
    #expect(item.shop === b)
  }

  /// An object that was deleted stayed in one-way relationships of other contexts.
  @Test func `a deleted object leaves one-way relationships of other contexts`() throws {
    let store = try TestStore(Playlist.self, Song.self)
    let reader = store.context()
    let list = Playlist(name: "p")
    let songs = ["a", "b"].map { Song(title: $0) }
    reader.insert(list)
    list.songs = songs
    list.favorite = songs[0]
    try reader.save()
    #expect(list.songs.count == 2)

    let writer = store.context()
    writer.delete(try writer.twin(of: songs[0]))
    try writer.save()
    reader.processPendingChanges()
    #expect(list.songs.map(\.title) == ["b"])
    #expect(list.favorite == nil)
    #expect(songs[0].modelContext == nil)
  }

  /// One context deleted an item while another gave it to a shop that the first did not know: the
  /// shop kept the item once it was gone.
  @Test func `a deleted item leaves a shop that the deleter did not know`() throws {
    let store = try TestStore(Shop.self, Item.self, Tag.self)
    let deleter = store.context()
    let (a, item) = (Shop(name: "a"), Item(name: "i"))
    deleter.insert(a)
    a.items = [item]
    try deleter.save()

    let giver = store.context()
    let b = Shop(name: "b")
    giver.insert(b)
    b.items.append(try giver.twin(of: item))
    deleter.delete(item)
    try giver.save()
    deleter.processPendingChanges()
    try deleter.save()
    giver.processPendingChanges()
    #expect(b.items.isEmpty)
    #expect(try store.reopened().all(Item.self).isEmpty)
  }

  /// Clean objects changed between two reads without a fetch, a save or a turn between them, so
  /// that what a function computed from one object was of two commits.
  @Test func `clean objects change at defined moments alone`() throws {
    let store = try TestStore(Counter.self)
    let context = store.context()
    let counters = [Counter(number: 0), Counter(number: 1)]
    for counter in counters { context.insert(counter) }
    try context.save()
    let moments: [(ModelContext) throws -> Void] = [
      { $0.processPendingChanges() },
      { _ = try $0.fetch(FetchDescriptor<Counter>()) },
      { _ = try $0.fetchCount(FetchDescriptor<Counter>()) },
      { _ = try $0.fetchIdentifiers(FetchDescriptor<Counter>()) },
      { try $0.save() },
      { try $0.transaction {} },
    ]
    for (round, moment) in moments.enumerated() {
      #expect(counters.map(\.value) == [round, round])
      let writer = store.context()
      for counter in try writer.all(Counter.self) { counter.value = round + 1 }
      try writer.save()
      #expect(counters.map(\.value) == [round, round])
      try moment(context)
      #expect(counters.map(\.value) == [round + 1, round + 1])
    }
  }

  /// An object that another context saved changed under the main context's code, although that had
  /// not awaited anything.
  @Test(.hangLimit) @MainActor
  func `the main context's objects change in its turns alone`() async throws {
    let store = try TestStore(Counter.self)
    let counter = Counter()
    let main = store.container.mainContext
    main.insert(counter)
    try main.save()

    let writer = store.context()
    try writer.twin(of: counter).value = 1
    try writer.save()
    #expect(counter.value == 0)
    while counter.value == 0 {
      try Task.checkCancellation()
      await Task.yield()
    }
    #expect(counter.value == 1)
  }

  /// Of 300 commits of another process 128 were not seen by a fetch that began after them.
  @Test(.hangLimit)
  func `each commit of another process is seen by the next fetch`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("shared.store")
    let context = ModelContext(try openLedgers(at: url))
    let worker = try WorkerProcess([
      WorkerProcess.program("StoreWorker"), url.filePath, "write", "other", "1", "300",
    ])
    var held: [Ledger] = []
    var commits = 0
    while let line = worker.line() {
      let number = try #require(Int(line))
      let descriptor = FetchDescriptor<Ledger>(predicate: #Predicate { $0.number == number })
      let found = try context.fetch(descriptor)
      #expect(found.map(\.number) == [number])
      held += found
      commits += 1
    }
    #expect(commits == 300)
    #expect(worker.finish() == 0)
    context.processPendingChanges()
    #expect(held.allSatisfy { $0.isWhole })
  }

  /// A second container on a store released the locks that the first one held. The next process that
  /// closed the store removed its log, and the first one's next save failed.
  @Test func `a second container leaves the first one's locks`() throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("shared.store")
    let context = ModelContext(try openLedgers(at: url))
    context.insert(Ledger(number: 1, writer: "test", amounts: [1, 2, 3, 4]))
    try context.save()
    _ = try openLedgers(at: url)
    let worker = try WorkerProcess([
      WorkerProcess.program("StoreWorker"), url.filePath, "write", "other", "2", "1",
    ])
    #expect(worker.rest() == ["2"])
    #expect(worker.finish() == 0)
    context.insert(Ledger(number: 3, writer: "test", amounts: [1, 2, 3, 4]))
    try context.save()
    #expect(try ModelContext(openLedgers(at: url)).fetchCount(FetchDescriptor<Ledger>()) == 3)
  }

  /// The main context did not notice other processes unless it fetched or had a results observer.
  @Test(.hangLimit) @MainActor
  func `the main context notices another process`() async throws {
    let directory = try TemporaryDirectory()
    let url = directory.file("shared.store")
    let container = try openLedgers(at: url)
    let ledger = Ledger(number: 1, writer: "test", amounts: [1, 2, 3, 4])
    container.mainContext.insert(ledger)
    try container.mainContext.save()
    let before = ledger.checksum
    let worker = try WorkerProcess([
      WorkerProcess.program("StoreWorker"), url.filePath, "revise", "other", "1",
    ])
    #expect(worker.rest() == ["0"])
    #expect(worker.finish() == 0)
    while ledger.checksum == before {
      try Task.checkCancellation()
      await Task.yield()
    }
    #expect(ledger.isWhole)
  }

  /// Destinations that are loaded together gave an owner among them its old one back.
  @Test func `an owner that is a destination too keeps what others committed`() throws {
    let store = try TestStore(Person.self)
    let (writer, reader) = (store.context(), store.context())
    let (first, second) = (Person(name: "1"), Person(name: "2"))
    writer.insertAll(first, second)
    second.host = second
    try writer.save()
    let read = try reader.all(Person.self)
    let (readFirst, readSecond) = (
      try #require(read.first { $0.name == "1" }), try #require(read.first { $0.name == "2" })
    )

    let third = Person(name: "3")
    (first.host, second.host) = (third, third)
    try writer.save()
    reader.processPendingChanges()
    #expect(readFirst.host?.name == "3")
    #expect(readSecond.host?.name == "3")
  }

  /// A results observer fetched twice for each commit that concerned it, and once for each that did
  /// not.
  @Test(arguments: [true, false])
  func `an observer fetches once for what concerns it alone`(commitsElsewhere: Bool) throws {
    let store = try TestStore(Counter.self, Song.self)
    let context = store.context()
    let observer = ResultsObserver(
      fetchDescriptor: FetchDescriptor<Counter>(), modelContext: context)
    let writer = commitsElsewhere ? store.context() : context
    let refreshes = Refreshes(of: observer)
    for round in 1...5 {
      writer.insert(Counter(number: round))
      try writer.save()
      context.processPendingChanges()
      #expect(observer.results.count == round)
      #expect(refreshes.count == round)
      writer.insert(Song(title: "\(round)"))
      try writer.save()
      context.processPendingChanges()
      #expect(refreshes.count == round)
    }
  }

  /// Counts how often an observer's results are set.
  private final class Refreshes: @unchecked Sendable {
    // Sendable: used on the one thread of its test.
    private(set) var count = 0
    private let observer: ResultsObserver<Counter, Never>

    init(of observer: ResultsObserver<Counter, Never>) {
      self.observer = observer
      track()
    }

    private func track() {
      withObservationTracking {
        _ = observer.results
      } onChange: { [weak self] in
        self?.count += 1
        self?.track()
      }
    }
  }
}
