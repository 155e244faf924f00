/// An object is in one of several relationships that share an inverse, and two contexts may each have moved it.
@Suite("Relationships that share an inverse, changed by two contexts") struct SharedEndTests {
  /// A new object took a stored one's row by its unique key. Meanwhile the row's list had got a bee here, and its to-one
  /// relationship the same bee in another context. The new object has no such bee, and clearing the to-one relationship
  /// also cleared the bee's reference, which was the list's: the bee was in neither.
  @Test(arguments: StorePlace.allCases)
  func `a new object that takes a row leaves the bee in the list that it was put into`(
    place: StorePlace
  ) throws {
    let store = try TestStore(place, Hive.self, Bee.self)
    let (context, other) = (store.context(), store.context())
    let (hive, bee) = (Hive(name: "a"), Bee(name: "b"))
    context.insertAll(hive, bee)
    try context.save()
    context.insert(Hive(name: "a"))
    hive.workers.append(bee)
    try other.twin(of: hive).queen = try other.twin(of: bee)
    try other.save()
    context.processPendingChanges()
    try context.save()
    #expect(hive.workers == [bee] && hive.queen == nil && bee.hive === hive)
    let stored = try store.reopened().only(Hive.self)
    #expect(stored.workers.map(\.name) == ["b"] && stored.queen == nil)
  }

  /// What a context does with a queen that another context has made of a bee that is in a list here.
  enum Change: CaseIterable, Sendable {
    case clear, replace, takeRow, takeRowAsQueen, deleteHive, crownElsewhere, nothing
  }

  @Test(arguments: Change.allCases, StorePlace.allCases)
  func `a bee that is in a list here is not lost with the queen that it is elsewhere`(
    change: Change, place: StorePlace
  ) throws {
    let store = try TestStore(place, Hive.self, Bee.self)
    let (context, other) = (store.context(), store.context())
    let (hive, bee, second) = (Hive(name: "a"), Bee(name: "b"), Bee(name: "c"))
    context.insertAll(hive, bee, second)
    try context.save()
    hive.drones.append(bee)
    try other.twin(of: hive).queen = try other.twin(of: bee)
    try other.save()
    context.processPendingChanges()
    #expect(hive.queen === bee)
    var expected = ["b": "a drones", "c": "-"]
    switch change {
    case .clear: hive.queen = nil
    case .replace:
      hive.queen = second
      expected["c"] = "a queen"
    case .takeRow: context.insert(Hive(name: "a"))
    // The new object's queen is the one that the other context has already made.
    case .takeRowAsQueen:
      let new = Hive(name: "n")
      context.insert(new)
      new.queen = bee
      new.name = "a"
      expected["b"] = "a queen"
    case .deleteHive:
      context.delete(hive)
      expected["b"] = "-"
    case .crownElsewhere:
      let new = Hive(name: "n")
      context.insert(new)
      new.queen = bee
      expected["b"] = "n queen"
    case .nothing: break
    }
    try context.save()
    let found = try Bees(store.reopened())
    let places = Dictionary(
      uniqueKeysWithValues: found.bees.map { bee in
        (bee, found.places[bee].map { "\($0.hive) \($0.end)" } ?? "-")
      })
    #expect(places == expected)
    #expect(try Bees(context) == found)
    let check = try store.container.check()
    #expect(check.isSound, "\(check)")
  }

  /// The mirror image: the hive has a queen here, and another context has made one of another bee. That bee's move here
  /// took the hive's own queen away.
  @Test(arguments: HiveEnd.allCases, StorePlace.allCases)
  func `a bee that is queen elsewhere leaves the queen of its hive when it moves`(
    end: HiveEnd, place: StorePlace
  ) throws {
    let store = try TestStore(place, Hive.self, Bee.self)
    let (context, other) = (store.context(), store.context())
    let (hive, second) = (Hive(name: "a"), Hive(name: "z"))
    let (bee, foreign) = (Bee(name: "b"), Bee(name: "f"))
    context.insertAll(hive, second, bee, foreign)
    try context.save()
    hive.queen = bee
    try other.twin(of: hive).queen = try other.twin(of: foreign)
    try other.save()
    context.processPendingChanges()
    end.lead(second, to: foreign)
    #expect(hive.queen === bee && bee.hive === hive)
    try context.save()
    let found = try Bees(store.reopened())
    #expect(found.places["b"] == .init(hive: "a", end: .queen))
    #expect(found.places["f"] == .init(hive: "z", end: end))
    #expect(try Bees(context) == found)
  }

  /// The undo of an insertion that took a row put the bee into the first relationship in memory, and wrote the number of
  /// the other one.
  @Test(arguments: HiveEnd.allCases, StorePlace.allCases)
  func `undoing the insertion that took a row leads it back by the relationship it was in`(
    end: HiveEnd, place: StorePlace
  ) throws {
    let store = try TestStore(place, Hive.self, Bee.self)
    let context = store.context()
    let (hive, bee) = (Hive(name: "a"), Bee(name: "b"))
    context.insertAll(hive, bee)
    end.lead(hive, to: bee)
    try context.save()
    let before = try Bees(store.reopened())
    let manager = UndoManager()
    manager.groupsByEvent = false
    context.undoManager = manager
    manager.beginUndoGrouping()
    context.insert(Bee(name: "b"))
    manager.endUndoGrouping()
    try context.save()
    #expect(try Bees(context).places == [:])
    manager.undo()
    #expect(try Bees(context) == before)
    try context.save()
    #expect(try Bees(store.reopened()) == before)
    manager.redo()
    try context.save()
    #expect(try Bees(store.reopened()).places == [:])
    #expect(try Bees(context).places == [:])
  }
}
