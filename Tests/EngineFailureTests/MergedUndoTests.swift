/// Undo of what was done to objects that a save has made one.
@Suite("Undo of merged objects") struct MergedUndoTests {
  private let store: TestStore
  private let context: ModelContext
  private let manager = UndoManager()

  init() throws {
    store = try TestStore(.memory, Rower.self, Boat.self)
    context = store.context()
    manager.groupsByEvent = false
    context.undoManager = manager
  }

  private func saved() throws -> Regatta {
    try context.save()
    let found = try Regatta(context)
    let stored = try Regatta(store.reopened())
    #expect(stored == found, "the store has \(stored), the context \(found)")
    #expect(try store.container.check().isSound)
    return found
  }

  private func inGroup(_ body: () throws -> Void) rethrows {
    manager.beginUndoGrouping()
    try body()
    manager.endUndoGrouping()
  }

  // MARK: Insertions

  /// One undo step deleted the object that stood for both.
  @Test(arguments: [false, true])
  func `undoing the insertion of the second of two new objects gives the first its values back`(
    changesFirst: Bool
  ) throws {
    let (first, second) = (Rower(4, points: 1), Rower(4, points: 2))
    context.insertAll(first, second)
    if changesFirst { first.points = 5 }
    _ = try saved()
    #expect(first.points == 2)
    if changesFirst {
      manager.undo()
      #expect(first.points == 1 && second.points == 2 && second.modelContext === context)
    }
    manager.undo()
    #expect(manager.undoCount == 1)
    #expect(try context.only(Rower.self) === first)
    #expect(first.points == 1 && second.points == 2 && second.modelContext == nil)
    _ = try saved()
    manager.redo()
    if changesFirst { manager.redo() }
    #expect(try context.only(Rower.self).points == 2)
    _ = try saved()
    while manager.canUndo { manager.undo() }
    #expect(try saved().isEmpty)
  }

  /// The values of the first object stayed those of the second.
  @Test func `undoing the second insertion restores both sides of each relationship of the first`()
    throws
  {
    let (one, two, coach, other) = (Boat("1"), Boat("2"), Rower(8), Rower(9))
    context.insertAll(one, two, coach, other)
    let first = Rower(4, points: 1)
    inGroup {
      context.insert(first)
      (first.boat, first.coach, first.races) = (one, coach, [one])
      first.pupils = [Rower(5)]
    }
    let before = try Regatta(context)
    inGroup {
      let second = Rower(4, points: 2)
      context.insert(second)
      (second.boat, second.coach, second.races) = (two, other, [one, two])
      one.sponsor = second
      second.pupils = [Rower(6)]
    }
    let merged = try saved()
    #expect(first.points == 2 && first.boat === two && one.rower == nil)
    #expect(first.races.map(\.name).sorted() == ["1", "2"] && first.pupils.count == 2)
    for _ in 0..<2 {
      manager.undo()
      #expect(try Regatta(context) == before)
      #expect(try saved() == before)
      manager.redo()
      #expect(try Regatta(context) == merged)
      #expect(try saved() == merged)
    }
  }

  /// A redo after the save that merged, and undo again.
  @Test func `a value that is redone after the merge is that of the object that had it`() throws {
    let (first, second) = (Rower(4, points: 1), Rower(4, points: 2))
    context.insert(first)
    context.insert(second)
    second.points = 3
    manager.undo()
    _ = try saved()
    #expect(try context.only(Rower.self).points == 2)
    manager.redo()
    #expect(first.points == 1 && second.points == 3)
    _ = try saved()
    #expect(try context.only(Rower.self).points == 3)
    // To where the redo began, which was after the first save.
    manager.undo()
    #expect(try context.only(Rower.self) === first)
    #expect(first.points == 2 && second.points == 2)
    manager.undo()
    #expect(try context.only(Rower.self).points == 1)
    _ = try saved()
  }

  /// The first object stayed merged with the third, and so had its value.
  @Test func `each redo of three objects with one key shows the values of its state`() throws {
    let rowers = (1...3).map { Rower(4, points: $0) }
    for rower in rowers { context.insert(rower) }
    _ = try saved()
    #expect(try context.only(Rower.self).points == 3)
    while manager.canUndo { manager.undo() }
    #expect(try saved().isEmpty)
    manager.redo()
    #expect(try context.only(Rower.self).points == 1)
    manager.redo()
    #expect(rowers.prefix(2).map(\.points) == [1, 2])
    _ = try saved()
    #expect(try context.only(Rower.self).points == 2)
    manager.redo()
    #expect(try context.only(Rower.self) === rowers[0])
    #expect(rowers.map(\.points) == [3, 3, 3])
    _ = try saved()
  }

  /// The object that undo had brought back was deleted with the one that it had been merged into.
  @Test func `an object that undo brings back outlives the insertion of its double`() throws {
    let first = Rower(2, points: 1)
    context.insert(first)
    _ = try saved()
    manager.removeAllActions()
    context.insert(Rower(2, points: 2))
    context.delete(first)
    _ = try saved()
    manager.undo()
    _ = try saved()
    manager.undo()
    #expect(try context.only(Rower.self) === first)
    #expect(first.points == 1)
    _ = try saved()
    #expect(try store.reopened().only(Rower.self).points == 1)
    while manager.canRedo { manager.redo() }
    #expect(try context.only(Rower.self).points == 2)
    _ = try saved()
  }

  /// In a state that undo leads to, the save gives the second object a row of its own.
  @Test func `a merge is redone and undone after a save has written both objects`() throws {
    let boat = Boat("1")
    let (first, second) = (Rower(1, points: 1), Rower(2, points: 2))
    inGroup {
      context.insertAll(boat, first, second)
      second.races = [boat]
    }
    inGroup { second.number = 1 }
    inGroup { boat.sponsor = second }
    let merged = try saved()
    #expect(first.points == 2 && boat.sponsor === first)
    for _ in 0..<2 {
      manager.undo()
      manager.undo()
      #expect(first.points == 1 && second.number == 2 && second.races == [boat])
      _ = try saved()
      #expect(try store.reopened().all(Rower.self).count == 2)
      manager.redo()
      manager.redo()
      #expect(try context.only(Rower.self) === first)
      #expect(try saved() == merged)
      manager.undo()
      #expect(try context.all(Rower.self).count == 2)
      #expect(second.number == 1 && second.races == [boat] && first.races.isEmpty)
      manager.redo()
      #expect(try saved() == merged)
    }
  }

  /// The link between the two that stayed was lost.
  @Test func `two merges of one save keep the link between what they merged`() throws {
    let (coach, pupil) = (Rower(1), Rower(2))
    inGroup {
      context.insertAll(coach, pupil)
      pupil.coach = coach
    }
    let before = try saved()
    inGroup {
      let (second, third) = (Rower(1), Rower(2))
      context.insertAll(second, third)
      second.coach = third
    }
    let merged = try saved()
    #expect(coach.coach === pupil && pupil.coach == nil)
    for _ in 0..<2 {
      manager.undo()
      #expect(pupil.coach === coach && coach.coach == nil)
      #expect(try saved() == before)
      manager.redo()
      #expect(try saved() == merged)
    }
  }

  /// Undo kept a copy of the object that stays, with its lists, for each of the others.
  @Test func `many objects with one key are undone and redone at once`() throws {
    let boat = Boat("1")
    context.insert(boat)
    _ = try saved()
    inGroup { for number in 1...Effort.times(200) { context.insert(Rower(4, points: number)) } }
    let merged = try saved()
    for _ in 0..<2 {
      manager.undo()
      #expect(try context.all(Rower.self).isEmpty)
      manager.redo()
      #expect(try saved() == merged)
    }
  }

  // MARK: Lists and references

  /// The step set the list of the object that stays, so that it lost the other one's members, on one side alone.
  @Test func `undoing a change of a list takes out what the change put in`() throws {
    let (one, two) = (Boat("1"), Boat("2"))
    context.insertAll(one, two)
    _ = try saved()
    let (first, second) = (Rower(4), Rower(4))
    context.insert(first)
    first.races = [one]
    context.insert(second)
    second.races = [two]
    _ = try saved()
    #expect(first.races == [one, two])
    manager.undo()
    #expect(first.races == [one] && one.racers == [first] && two.racers.isEmpty)
    _ = try saved()
    manager.redo()
    #expect(first.races == [one, two] && two.racers == [first])
    _ = try saved()
  }

  /// The same with a row that exists, in memory or not. The row had the member, which only this step's undo took out.
  @Test(arguments: [false, true])
  func `undoing a change of a list leaves what the row had`(isLoaded: Bool) throws {
    let writer = store.context()
    let (old, boat) = (Rower(1), Boat("1"))
    writer.insertAll(old, boat)
    old.races = [boat]
    try writer.save()
    let one = try context.only(Boat.self)
    let held = isLoaded ? try context.only(Rower.self) : nil
    let new = Rower(1)
    context.insert(new)
    new.boat = one
    new.races = [one]
    _ = try saved()
    manager.undo()
    let rower = try #require(try context.all(Rower.self).first { $0 !== new })
    #expect(held == nil || rower === held)
    #expect(rower.races == [one] && one.racers == [rower])
    #expect(new.races.isEmpty && new.boat === one)
    _ = try saved()
    #expect(rower.races == [one] && rower.boat === one)
    manager.undo()
    #expect(new.boat == nil && rower.boat == nil && one.rower == nil)
    _ = try saved()
    manager.undo()
    #expect(try context.only(Rower.self) === rower)
    #expect(rower.races == [one])
    _ = try saved()
  }

  /// One side led to the object, and the other nowhere.
  @Test func `undoing a one-to-one relationship that was taken from a merged object clears both`()
    throws
  {
    context.insert(Rower(4))
    let boat = Boat("1")
    context.insert(boat)
    let first = Rower(3)
    context.insert(first)
    first.coach = try context.only(Rower.self, where: #Predicate<Rower> { $0.number == 4 })
    first.boat = boat
    first.races = [boat]
    first.number = 2
    let second = Rower(2)
    context.insert(second)
    second.boat = boat
    _ = try saved()
    manager.undo()
    _ = try Regatta(context)
    _ = try saved()
    manager.undo()
    #expect(first.boat === boat && boat.rower === first)
    _ = try saved()
  }

  /// The list held the object that was merged into another.
  @Test func `undoing a deletion leads a list to the object that it had led to`() throws {
    let owner = Rower(4)
    context.insert(owner)
    let (stays, merged) = (Rower(1), Rower(1))
    context.insertAll(stays, merged)
    merged.coach = owner
    context.delete(owner)
    _ = try saved()
    manager.undo()
    #expect(owner.pupils.count == 1 && owner.pupils[0] === merged && merged.coach === owner)
    #expect(stays.coach == nil)
    _ = try saved()
    #expect(owner.pupils.count == 1 && owner.pupils[0] === stays && stays.coach === owner)
  }
}
