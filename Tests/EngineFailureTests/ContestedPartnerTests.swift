/// A one-to-one relationship whose object two contexts have given away.
@Suite("Partners that two contexts give away") struct ContestedPartnerTests {
  /// Until the save two rowers had the boat, which had one of them.
  @Test(arguments: StorePlace.allCases, [false, true])
  func `a boat has one rower after another context's commit`(place: StorePlace, isLoaded: Bool)
    throws
  {
    let store = try TestStore(place, Rower.self, Boat.self)
    let (context, other) = (store.context(), store.context())
    let (one, three, boat) = (Rower(1), Rower(3), Boat("b"))
    other.insertAll(one, three, boat)
    try other.save()
    let rower = try context.twin(of: three)
    let held = isLoaded ? try context.twin(of: one) : nil
    let contested = try context.twin(of: boat)
    rower.boat = contested
    one.boat = boat
    try other.save()
    _ = try Regatta(context)
    let loser = try context.twin(of: one)
    #expect(held == nil || loser === held)
    #expect(contested.rower === rower && rower.boat === contested && loser.boat == nil)
    try context.save()
    #expect(contested.rower === rower && loser.boat == nil)
    #expect(try Regatta(context) == Regatta(store.reopened()))
    other.processPendingChanges()
    #expect(try Regatta(other) == Regatta(context) && one.boat == nil)
    // The other side of a rollback: what the other context has saved shows again.
    one.boat = boat
    three.boat = nil
    try other.save()
    context.processPendingChanges()
    rower.boat = contested
    three.points = 1
    try other.save()
    context.rollback()
    #expect(contested.rower === loser && loser.boat === contested && rower.boat == nil)
    #expect(try Regatta(context) == Regatta(store.reopened()))
  }
}
