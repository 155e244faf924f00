@Suite("Partners that other contexts have moved") struct MovedPartnerTests {
  private func store(_ place: StorePlace = .memory) throws -> TestStore {
    try TestStore(place, Driver.self, Car.self)
  }

  /// Two pairs, and a driver and a car without a partner.
  private func fill(_ store: TestStore) throws {
    let context = store.context()
    for number in 1...3 {
      let (driver, car) = (Driver(name: "d\(number)"), Car(plate: "c\(number)"))
      context.insertAll(driver, car)
      if number < 3 { driver.car = car }
    }
    try context.save()
  }

  private func driver(_ name: String, _ context: ModelContext) throws -> Driver {
    try context.only(where: #Predicate { $0.name == name })
  }

  private func car(_ plate: String, _ context: ModelContext) throws -> Car {
    try context.only(where: #Predicate { $0.plate == plate })
  }

  private func history(_ context: ModelContext) throws -> [DefaultHistoryTransaction] {
    try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
  }

  /// What the rows of drivers and cars lead to, by their names.
  private func links(_ context: ModelContext) throws -> [String: String] {
    var result: [String: String] = [:]
    for driver in try context.all(Driver.self) { result[driver.name] = driver.car?.plate ?? "" }
    for car in try context.all(Car.self) { result[car.plate] = car.driver?.name ?? "" }
    return result
  }

  /// A car that was deleted after another context had given it to another driver stayed in that driver's row.
  @Test func `a deleted car leaves the driver that another context gave it`() throws {
    let store = try store()
    try fill(store)
    let (context, other) = (store.context(), store.context())
    let deleted = try car("c1", context)
    let driver = try driver("d2", context)
    #expect(driver.car?.plate == "c2")
    context.delete(deleted)
    try self.driver("d2", other).car = try car("c1", other)
    try other.save()
    try context.save()
    #expect(driver.car == nil)
    let check = try store.container.check()
    #expect(check.isSound, "\(check)")
    let changes = try #require(try history(context).last).changes
    #expect(
      changes.contains { change in
        guard case .update(let update) = change else { return false }
        return update.changedPersistentIdentifier == driver.persistentModelID
      })
  }

  /// One way in which two contexts meet.
  struct Meeting: Sendable, CustomTestStringConvertible {
    var place = StorePlace.memory
    /// What the first context changes before it deletes.
    var before: (String, String?)?
    var deleted: String
    /// What the other context changes.
    var moves: (String, String?)
    var isLoaded: Bool
    var testDescription: String { "\(place) \(String(describing: before)) \(deleted) \(moves)" }
  }

  private static let moves: [(String, String?)] = [
    ("d2", "c1"), ("c1", "d2"), ("d3", "c1"), ("c1", "d3"), ("d1", "c2"), ("c2", "d1"),
    ("d1", "c3"),
    ("c3", "d1"), ("d1", nil), ("c1", nil), ("d3", "c3"), ("c3", "d3"),
  ]

  private static let befores: [(String, String?)?] = [
    nil, ("c1", "d3"), ("d1", "c3"), ("c3", "d3"), ("d3", "c2"),
  ]

  private static func meetings(_ place: StorePlace) -> [Meeting] {
    var all: [Meeting] = []
    for before in befores {
      for deleted in ["d1", "c1", "d2", "c2", "d3", "c3"] {
        for move in moves {
          for isLoaded in [false, true] {
            all.append(
              Meeting(
                place: place, before: before, deleted: deleted, moves: move, isLoaded: isLoaded))
          }
        }
      }
    }
    return all
  }

  private func change(_ move: (String, String?), _ context: ModelContext) throws {
    if move.0.hasPrefix("d") {
      try driver(move.0, context).car = try move.1.map { try car($0, context) }
    } else {
      try car(move.0, context).driver = try move.1.map { try driver($0, context) }
    }
  }

  /// Every deletion against every move of another context, with and without a change of the first one before.
  @Test(arguments: StorePlace.allCases)
  func `no deletion leaves one side of a pair, and the history names each row that it changes`(
    place: StorePlace
  ) async throws {
    let all = Self.meetings(place)
    // A store on file takes ten times as long. No share is a divisor of the numbers of deletions and moves.
    let share = Effort.isLong ? 1 : place == .memory ? 5 : 29
    let meetings = all.enumerated().filter { $0.offset % share == share / 2 }.map(\.1)
    for meeting in meetings {
      try meet(meeting)
      await Task.yield()
    }
  }

  private func meet(_ meeting: Meeting) throws {
    let store = try store(meeting.place)
    try fill(store)
    let (context, other) = (store.context(), try store.reopened())
    if meeting.isLoaded { _ = try links(context) }
    if let before = meeting.before { try change(before, context) }
    let deleted: any PersistentModel =
      meeting.deleted.hasPrefix("d")
      ? try driver(meeting.deleted, context) : try car(meeting.deleted, context)
    delete(deleted, from: context)
    try change(meeting.moves, other)
    try other.save()
    let old = try links(store.context())
    let token = try history(store.context()).count
    try context.save()
    let new = try links(store.context())

    let note = Comment(rawValue: meeting.testDescription)
    #expect(new[meeting.deleted] == nil, note)
    for (name, partner) in new where !partner.isEmpty { #expect(new[partner] == name, note) }
    let check = try store.container.check()
    #expect(check.isSound, note)
    #expect(try links(context) == new, note)
    other.processPendingChanges()
    #expect(try links(other) == new, note)
    let commits = try history(store.context()).dropFirst(token)
    let named = Set(commits.flatMap(\.changes).map(\.changedPersistentIdentifier))
    let reader = store.context()
    for (name, partner) in new where old[name] != partner {
      let identifier =
        name.hasPrefix("d")
        ? try driver(name, reader).persistentModelID : try car(name, reader).persistentModelID
      #expect(named.contains(identifier), note)
    }
  }

  private func delete(_ model: any PersistentModel, from context: ModelContext) {
    func delete<M: PersistentModel>(_ model: M) { context.delete(model) }
    delete(model)
  }
}
