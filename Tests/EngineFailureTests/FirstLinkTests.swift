@Model private final class Basket {
  var name: String
  @Relationship(inverse: \BasketLine.order) var lines: [BasketLine]

  init(name: String, lines: [BasketLine] = []) {
    self.name = name
    self.lines = lines
  }

  struct Refused: Error {}

  init(refusing lines: [BasketLine], isRead: Bool = false) throws {
    self.lines = lines
    if isRead { _ = lines.first?.order }
    throw Refused()
  }
}

@Model private final class BasketLine {
  var place: Int
  var order: Basket?
  @Relationship(inverse: \BasketTag.lines) var tags: [BasketTag]

  init(place: Int = 0, order: Basket? = nil, tags: [BasketTag] = []) {
    self.place = place
    self.order = order
    self.tags = tags
  }

  init(endOf order: Basket) {
    self.order = order
    self.tags = []
    // Counts this line, as a setter's caller would find.
    self.place = order.lines.count
  }
}

@Model private final class BasketTag {
  var lines: [BasketLine] = []
  init() {}
}

@Model private final class Chair {
  @Relationship(inverse: \Sitter.seat) var guest: Sitter?
  init(guest: Sitter? = nil) { self.guest = guest }
}

@Model private final class Sitter {
  var seat: Chair?
  init() {}
}

@Model private final class ChainLink {
  var previous: ChainLink?
  @Relationship(inverse: \ChainLink.previous) var next: [ChainLink] = []
  init(previous: ChainLink?) { self.previous = previous }
}

/// Values that initializers give relationships set the other sides as setters do.
@Suite struct FirstLinkTests {
  private let store: TestStore
  init() throws {
    store = try TestStore(
      Basket.self, BasketLine.self, BasketTag.self, Chair.self, Sitter.self, ChainLink.self)
  }

  /// It was lost with the container: only changes that were made held the main context for its turn, and such a link is
  /// made at the context's next use.
  @MainActor @Test func `a main context whose container goes makes and saves the link in its turn`()
    async throws
  {
    func begin() throws {
      let main = try store.secondContainer().mainContext
      let order = Basket(name: "a")
      main.insert(order)
      try main.save()
      _ = BasketLine(order: order)
    }
    try begin()
    let context = store.context()
    func count() throws -> Int { try context.fetchCount(FetchDescriptor<BasketLine>()) }
    for _ in 0..<10_000 where try count() == 0 { await Task.yield() }
    #expect(try count() == 1)
  }

  @Test func `each kind of relationship has both sides at once`() {
    let line = BasketLine()
    let order = Basket(name: "a", lines: [line])
    #expect(line.order === order)
    let other = BasketLine(order: order)
    #expect(order.lines.map(ObjectIdentifier.init) == [line, other].map(ObjectIdentifier.init))
    let tag = BasketTag()
    let tagged = BasketLine(tags: [tag])
    #expect(tag.lines.first === tagged)
    let guest = Sitter()
    let seat = Chair(guest: guest)
    #expect(guest.seat === seat)
  }

  @Test func `an object leaves where it was before`() {
    let line = BasketLine()
    let first = Basket(name: "1", lines: [line])
    let second = Basket(name: "2", lines: [line])
    #expect(first.lines.isEmpty)
    #expect(line.order === second)
    let third = Basket(name: "3")
    line.order = third
    let fourth = Basket(name: "4", lines: [line])
    #expect(third.lines.isEmpty)
    #expect(fourth.lines.count == 1)
    let guest = Sitter()
    let old = Chair(guest: guest)
    let new = Chair(guest: guest)
    #expect(old.guest == nil)
    #expect(guest.seat === new)
  }

  @Test func `a setter after it wins`() {
    let line = BasketLine()
    let first = Basket(name: "1", lines: [line])
    let second = Basket(name: "2")
    second.lines.append(line)
    #expect(first.lines.isEmpty)
    #expect(line.order === second)
    let given = BasketLine(order: first)
    given.order = nil
    #expect(first.lines.isEmpty)
  }

  /// As in SwiftData, an object that refers to one of a context belongs to the context.
  @Test func `an object that refers to a context's object is inserted there`() throws {
    let context = store.context()
    let order = Basket(name: "a")
    context.insert(order)
    try context.save()
    _ = BasketLine(place: 1, order: order)
    #expect(context.hasChanges)
    #expect(context.insertedModelsArray.count == 1)
    #expect(order.lines.map(\.place) == [1])
    _ = BasketLine(place: 2, order: order)
    #expect(try context.fetchCount(FetchDescriptor<BasketLine>()) == 2)
    _ = BasketLine(place: 3, order: order)
    try context.save()
    #expect(try store.reopened().only(Basket.self).lines.map(\.place) == [1, 2, 3])
    let last = BasketLine(place: 4, order: order)
    context.rollback()
    #expect(last.modelContext == nil)
    #expect(order.lines.count == 3)
  }

  @Test func `an initializer may read what it linked`() throws {
    let context = store.context()
    let order = Basket(name: "a")
    context.insert(order)
    let places = (0..<3).map { _ in BasketLine(endOf: order).place }
    #expect(places == [1, 2, 3])
    try context.save()
    #expect(try store.reopened().only(Basket.self).lines.map(\.place) == [1, 2, 3])
  }

  @Test func `an initializer that fails links nothing`() throws {
    let line = BasketLine(place: 1)
    #expect(throws: Basket.Refused.self) { _ = try Basket(refusing: [line]) }
    #expect(line.order == nil)
    let order = Basket(name: "a", lines: [line])
    #expect(line.order === order)
    let context = store.context()
    context.insert(line)
    try context.save()
    #expect(try store.reopened().only(Basket.self).lines.map(\.place) == [1])
  }

  @Test(.exitTests)
  func `an initializer that uses what it linked and then fails ends the process`() async {
    await #expect(processExitsWith: .failure) {
      let line = BasketLine()
      _ = try? Basket(refusing: [line], isRead: true)
    }
  }

  @Test func `a long chain is linked without recursion`() throws {
    var last = ChainLink(previous: nil)
    let first = last
    for _ in 0..<100_000 { last = ChainLink(previous: last) }
    #expect(last.previous?.next.first === last)
    #expect(first.next.count == 1)
    let context = store.context()
    context.insert(last)
    #expect(first.modelContext === context)
  }
}
