/// The object that was merged into another one leads to that one everywhere.
@Suite("Objects that stand for others") struct StandInTests {
  private func store() throws -> TestStore { try TestStore(.memory, Rower.self, Boat.self) }

  /// Two objects of one row.
  private func twins(_ context: ModelContext, bothNew: Bool) throws -> (stays: Rower, merged: Rower)
  {
    let (stays, merged) = (Rower(4), Rower(4))
    context.insert(stays)
    if !bothNew { try context.save() }
    context.insert(merged)
    try context.save()
    return (stays, merged)
  }

  /// It outlived the row: it had a context, and a change of it brought the other one back into fetches.
  @Test(arguments: [false, true])
  func `an object whose row is deleted by the object that stands for it has no context`(
    bothNew: Bool
  ) throws {
    let store = try store()
    let context = store.context()
    let (stays, merged) = try twins(context, bothNew: bothNew)
    context.delete(stays)
    #expect(merged.isDeleted)
    try context.save()
    #expect(merged.modelContext == nil && !merged.isDeleted && !merged.hasChanges)
    #expect(merged.persistentModelID == stays.persistentModelID)
    merged.points = 7
    merged.races = [Boat("free")]
    #expect(stays.points == 7 && stays.races.map(\.name) == ["free"])
    #expect(!context.hasChanges)
    #expect(try context.all(Rower.self).isEmpty && context.all(Boat.self).isEmpty)
    try context.save()
    #expect(try store.reopened().all(Rower.self).isEmpty)
    context.insert(merged)
    #expect(stays.modelContext === context)
    try context.save()
    #expect(try store.reopened().only(Rower.self).races.map(\.name) == ["free"])
  }

  @Test func `an object leads to the one that stands for it after its deletion is undone`() throws {
    let store = try store()
    let context = store.context()
    let manager = UndoManager()
    context.undoManager = manager
    let (stays, merged) = try twins(context, bothNew: true)
    context.processPendingChanges()
    context.delete(merged)
    try context.save()
    context.processPendingChanges()
    manager.undo()
    #expect(merged.modelContext === context)
    merged.points = 3
    #expect(stays.points == 3)
    try context.save()
    #expect(try store.reopened().only(Rower.self).points == 3)
  }

  /// The change was two steps, and the second one gave the value back that the merged object had read.
  @Test func `a change through a merged object is one step of undo`() throws {
    let context = try store().context()
    let (stays, merged) = try twins(context, bothNew: true)
    stays.points = 1
    try context.save()
    let manager = UndoManager()
    manager.groupsByEvent = false
    context.undoManager = manager
    merged.points = 2
    #expect(manager.undoCount == 1)
    manager.undo()
    #expect(stays.points == 1 && merged.points == 1)
  }

  enum Link: CaseIterable { case coach, pupils, rower, racers, sponsor, appendedRacer }

  /// The other side was set in the object that was merged, which a save then wrote.
  @Test(arguments: Link.allCases, [false, true])
  func `a reference that is set to a merged object leads to the one that stays`(
    link: Link, isNew: Bool
  ) throws {
    let store = try store()
    let context = store.context()
    let (stays, merged) = try twins(context, bothNew: true)
    let (rower, boat) = (Rower(1), Boat("b"))
    if !isNew { context.insertAll(rower, boat) }
    switch link {
    case .coach: rower.coach = merged
    case .pupils: rower.pupils = [merged]
    case .rower: boat.rower = merged
    case .racers: boat.racers = [merged]
    case .appendedRacer: boat.racers.append(merged)
    case .sponsor: boat.sponsor = merged
    }
    if isNew { context.insertAll(rower, boat) }
    switch link {
    case .coach: #expect(rower.coach === stays && stays.pupils == [rower])
    case .pupils:
      #expect(rower.pupils.count == 1 && rower.pupils[0] === stays && stays.coach === rower)
    case .rower: #expect(boat.rower === stays && stays.boat === boat)
    case .racers, .appendedRacer:
      #expect(boat.racers.count == 1 && boat.racers[0] === stays && stays.races == [boat])
    case .sponsor: #expect(boat.sponsor === stays)
    }
    try context.save()
    #expect(try Regatta(context) == Regatta(store.reopened()))
    #expect(!context.hasChanges)
    #expect(try store.container.check().isSound)
  }
}
