import Observation

/// When another context's commit shows in a context's objects: at the context's next fetch, save or turn, and then in
/// all of them.
@Suite("Moments at which commits show") struct CommitMomentFailureTests {
  /// An object that a commit had outdated was read when it was next used, with whatever had been saved until then. Two
  /// objects of the main context had two commits in 2 of 1,200 turns.
  @Test func `an outdated object does not show what is saved after the moment`() throws {
    let store = try TestStore(Counter.self)
    let (context, writer) = (store.context(), store.context())
    let counters = [Counter(number: 0), Counter(number: 1)]
    for counter in counters { context.insert(counter) }
    try context.save()
    let theirs = try counters.map { try writer.twin(of: $0) }
    func commit(_ value: Int) throws {
      for counter in theirs { counter.value = value }
      try writer.save()
    }
    try commit(1)
    context.processPendingChanges()
    #expect(counters[0].value == 1)
    try commit(2)
    #expect(counters.map(\.value) == [1, 1])
    context.processPendingChanges()
    #expect(counters.map(\.value) == [2, 2])
  }

  /// The same with the objects of rows that a save of the context itself has changed.
  @Test func `a row that a new object took over does not show what is saved after the save`() throws
  {
    let store = try TestStore(Badge.self, Holder.self, Scan.self)
    let (context, writer) = (store.context(), store.context())
    let badge = Badge(code: "k", label: "old")
    context.insert(badge)
    try context.save()
    context.insert(Badge(code: "k", label: "new"))
    try context.save()
    try writer.only(Badge.self).label = "later"
    try writer.save()
    #expect(badge.label == "new")
    context.processPendingChanges()
    #expect(badge.label == "later")
  }

  /// A rollback left its objects to be read when they were next used.
  @Test func `a rolled back object does not show what is saved after the rollback`() throws {
    let store = try TestStore(Counter.self)
    let (context, writer) = (store.context(), store.context())
    let counter = Counter(number: 1)
    context.insert(counter)
    try context.save()
    counter.value = 5
    context.rollback()
    try writer.only(Counter.self).value = 7
    try writer.save()
    #expect(counter.value == 0)
  }

  /// Also a rule, so that an app knows which lists to read, or to prefetch, at the moment.
  @Test(arguments: StorePlace.allCases)
  func `a list shows the moment's commit if it was loaded, and the newest one if not`(
    _ place: StorePlace
  ) throws {
    let store = try TestStore(place, Shop.self, Item.self, Tag.self)
    let (reader, writer) = (store.context(), store.context())
    for name in ["a", "b"] {
      let shop = Shop(name: name)
      writer.insert(shop)
      shop.items = [Item(name: "\(name)0")]
    }
    try writer.save()
    let order = FetchDescriptor<Shop>(sortBy: [SortDescriptor(\.name)])
    let loaded = try reader.fetch(order)[0]
    #expect(loaded.items.map(\.name) == ["a0"])
    reader.processPendingChanges()
    for shop in try writer.fetch(order) { shop.items.append(Item(name: "\(shop.name)1")) }
    try writer.save()
    #expect(loaded.items.map(\.name) == ["a0"])
    let other = store.context()
    let unloaded = try other.fetch(order)
    for shop in try writer.fetch(order) { shop.items.append(Item(name: "\(shop.name)2")) }
    try writer.save()
    #expect(unloaded.map { $0.items.map(\.name) } == [["a0", "a1", "a2"], ["b0", "b1", "b2"]])
    #expect(loaded.items.map(\.name) == ["a0"])
    reader.processPendingChanges()
    #expect(loaded.items.map(\.name) == ["a0", "a1", "a2"])
  }

  /// Random commits of two contexts and of another container, and random moments, against what the reader last saw.
  @Test(arguments: StorePlace.allCases)
  func `random commits show at moments alone`(_ place: StorePlace) async throws {
    for seed in 0..<UInt64(Effort.times(40)) {
      try MomentTrial(place, seed: seed).run()
      await Task.yield()
    }
  }
}

/// A reader with objects and lists that it has or has not used, and writers that commit.
private final class MomentTrial {
  private struct Seen: Equatable {
    /// The price of each item by its name, and the names of the items of each shop.
    var prices: [String: Int] = [:]
    var lists: [String: [String]] = [:]
  }

  private let seed: UInt64
  private let store: TestStore
  private var random: SplitMix
  private let reader: ModelContext
  private let writers: [ModelContext]
  private var items: [Item] = []
  private var shops: [Shop] = []
  private var stored = Seen()
  private var seen = Seen()
  private var nextName = 0

  init(_ place: StorePlace, seed: UInt64) throws {
    self.seed = seed
    random = SplitMix(seed: seed)
    store = try TestStore(place, Shop.self, Item.self, Tag.self)
    reader = store.context()
    writers = [
      store.context(),
      place == .file ? ModelContext(try store.secondContainer()) : store.context(),
    ]
    let writer = store.context()
    for number in 0..<2 {
      let shop = Shop(name: "s\(number)")
      writer.insert(shop)
      for _ in 0..<3 { add(to: shop) }
    }
    try writer.save()
    seen = stored
    items = try reader.all(Item.self)
    shops = try reader.all(Shop.self)
    // Loaded, so that they are objects' values like others.
    for shop in shops { _ = shop.items }
    // A few are observed.
    for item in items.prefix(2) {
      withObservationTracking {
        _ = item.price
      } onChange: {
      }
    }
  }

  private func add(to shop: Shop) {
    let item = Item(name: "i\(nextName)")
    nextName += 1
    shop.items.append(item)
    stored.prices[item.name] = 0
    stored.lists[shop.name, default: []].append(item.name)
  }

  func run() throws {
    for step in 0..<40 {
      let place: Comment = "seed \(seed), step \(step)"
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<5: try commit()
      case 5..<7:
        try moment()
        seen = stored
        for shop in shops { _ = shop.items }
      case 7:
        // Reads some alone, so that others are read later.
        if let item = items.randomElement(using: &random), item.modelContext != nil {
          #expect(item.price == seen.prices[item.name], place)
        }
      default: check(place)
      }
    }
    try moment()
    seen = stored
    check("seed \(seed), end")
  }

  private func check(_ place: Comment) {
    for item in items {
      #expect((item.modelContext != nil) == (seen.prices[item.name] != nil), place)
      if item.modelContext != nil { #expect(item.price == seen.prices[item.name], place) }
    }
    for shop in shops {
      #expect(shop.items.map(\.name) == seen.lists[shop.name] ?? [], place)
    }
  }

  private func commit() throws {
    let writer = writers[Int.random(in: 0..<2, using: &random)]
    let theirs = try writer.fetch(FetchDescriptor<Item>(sortBy: [SortDescriptor(\.name)]))
    switch Int.random(in: 0..<5, using: &random) {
    case 0:
      let all = try writer.fetch(FetchDescriptor<Shop>(sortBy: [SortDescriptor(\.name)]))
      if let shop = all.randomElement(using: &random) { add(to: shop) }
    case 1:
      if let item = theirs.randomElement(using: &random) {
        stored.prices[item.name] = nil
        for shop in stored.lists.keys { stored.lists[shop]?.removeAll { $0 == item.name } }
        writer.delete(item)
      }
    default:
      let price = Int.random(in: 1..<1_000, using: &random)
      for item in theirs where Bool.random(using: &random) {
        item.price = price
        stored.prices[item.name] = price
      }
    }
    try writer.save()
  }

  private func moment() throws {
    switch Int.random(in: 0..<5, using: &random) {
    case 0: reader.processPendingChanges()
    case 1: _ = try reader.fetchCount(FetchDescriptor<Item>())
    case 2: _ = try reader.fetch(FetchDescriptor<Tag>())
    case 3: try reader.save()
    default: try reader.transaction {}
    }
  }
}
