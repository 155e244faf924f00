/// What random sequences found, as the shortest calls that showed it.
@Suite("Orders of calls that nobody had written down") struct SequenceFailureTests {
  private func makeStore() throws -> TestStore {
    try TestStore(Depot.self, Crate.self, Bearer.self, Permit.self, Label.self, Pallet.self)
  }

  /// The save was denied because of an object that the deletion takes with it.
  @Test func `a cascade linked after the deletion counts for a denial`() throws {
    let store = try makeStore()
    let context = store.context()
    let (depot, crate) = (Depot(name: "d"), Crate(number: 1))
    context.insert(depot)
    crate.debtor = depot
    context.delete(depot)
    crate.depot = depot
    try context.save()
    #expect(try store.reopened().all(Crate.self).isEmpty)
    #expect(try store.reopened().all(Depot.self).isEmpty)
  }

  /// A denied save had deleted in memory what the deletion cascades to.
  @Test func `a denied save leaves what the deletion cascades to`() throws {
    let store = try makeStore()
    let context = store.context()
    let (main, branch, crate) = (Depot(name: "main"), Depot(name: "branch"), Crate(number: 1))
    context.insertAll(main, branch, crate)
    branch.peers = [branch]
    try context.save()
    branch.debts = [crate]
    context.delete(main)
    branch.main = main
    #expect(throws: SwiftDataError.deletionDenied) { try context.save() }
    #expect(!branch.isDeleted)
    #expect(branch.peers == [branch])
  }

  /// The object went to the end of its owner's list, which had not been loaded.
  @Test func `undoing a deletion restores the place in a list that was not loaded`() throws {
    let store = try makeStore()
    let writer = store.context()
    let depot = Depot(name: "d")
    writer.insert(depot)
    depot.crates = [Crate(number: 1), Crate(number: 2)]
    try writer.save()

    let context = store.context()
    let manager = UndoManager()
    manager.groupsByEvent = false
    context.undoManager = manager
    let first = try #require(context.all(Crate.self).first { $0.number == 1 })
    manager.beginUndoGrouping()
    context.delete(first)
    manager.endUndoGrouping()
    try context.save()
    manager.undo()
    try context.save()
    #expect(try store.reopened().only(Depot.self).crates.map(\.number) == [1, 2])
  }

  /// The object stayed in the context, deleted, with no row that a save could delete.
  @Test func `undoing the end of a deletion that was saved later takes the object out`() throws {
    let store = try makeStore()
    let context = store.context()
    let manager = UndoManager()
    manager.groupsByEvent = false
    context.undoManager = manager
    func group(_ change: () -> Void) {
      manager.beginUndoGrouping()
      change()
      manager.endUndoGrouping()
    }
    let crate = Crate(number: 1)
    group { context.insert(crate) }
    try context.save()
    group { context.delete(crate) }
    group { context.insert(crate) }
    group { context.delete(crate) }
    try context.save()

    manager.undo()
    #expect(crate.modelContext === context)
    manager.undo()
    #expect(crate.modelContext == nil)
    manager.redo()
    try context.save()
    #expect(try store.reopened().only(Crate.self).number == 1)
  }

  /// What was undone first led to an object that was not there yet, and was left out for good.
  @Test func `undoing a saved deletion restores what was undone before it`() throws {
    let store = try makeStore()
    let context = store.context()
    let (pallet, depot) = (Pallet(number: 1), Depot(name: "d"))
    context.insertAll(pallet, depot)
    pallet.place = depot
    pallet.stops = [depot]
    try context.save()
    let manager = UndoManager()
    manager.groupsByEvent = false
    context.undoManager = manager
    func group(_ change: () -> Void) {
      manager.beginUndoGrouping()
      change()
      manager.endUndoGrouping()
    }
    group { context.delete(depot) }
    group { pallet.place = nil }
    group { pallet.stops.remove(at: 0) }
    try context.save()

    for _ in 0..<3 { manager.undo() }
    #expect(pallet.place === depot && pallet.stops.map(\.name) == ["d"])
    try context.save()
    let stored = try store.reopened().only(Pallet.self)
    #expect(stored.place?.name == "d" && stored.stops.map(\.name) == ["d"])
    for _ in 0..<3 { manager.redo() }
    try context.save()
    #expect(pallet.place == nil && pallet.stops.isEmpty)
    #expect(try store.reopened().all(Depot.self).isEmpty)
  }

  /// What waits for one deletion to be undone is not restored by another.
  @Test func `undoing a later deletion restores no older link`() throws {
    let store = try makeStore()
    let context = store.context()
    let (pallet, depot) = (Pallet(number: 1), Depot(name: "d"))
    context.insertAll(pallet, depot)
    pallet.place = depot
    try context.save()
    let manager = UndoManager()
    manager.groupsByEvent = false
    context.undoManager = manager
    func group(_ change: () -> Void) {
      manager.beginUndoGrouping()
      change()
      manager.endUndoGrouping()
    }
    group { context.delete(depot) }
    group { pallet.place = nil }
    try context.save()
    manager.undo()
    group { context.insert(depot) }
    try context.save()
    group { context.delete(depot) }
    try context.save()

    manager.undo()
    #expect(depot.modelContext === context)
    #expect(pallet.place == nil)
  }

  /// The deleted object went on leading to its owner, which showed once that was used again.
  @Test func `an owner that leaves is no destination of a deleted object`() throws {
    let store = try makeStore()
    let context = store.context()
    let (depot, crate) = (Depot(name: "d"), Crate(number: 1))
    context.insert(crate)
    try context.save()
    context.delete(crate)
    context.insert(depot)
    depot.debts.append(crate)
    context.delete(depot)
    #expect(depot.modelContext == nil)
    depot.name = "free"
    depot.crates.append(Crate(number: 2))
    #expect(crate.debtor == nil)
  }

  /// A list that is first read while a member leads elsewhere is not what its rows say.
  @Test func `a rollback restores a list that was read in between`() throws {
    let store = try makeStore()
    let writer = store.context()
    let (old, new) = (Depot(name: "old"), Depot(name: "new"))
    writer.insertAll(old, new)
    old.crates = [Crate(number: 1)]
    try writer.save()

    let context = store.context()
    let crate = try context.only(Crate.self)
    crate.depot = try context.all(Depot.self).first { $0.name == "new" }
    let owner = try #require(context.all(Depot.self).first { $0.name == "old" })
    #expect(owner.crates.isEmpty)
    context.rollback()
    #expect(owner.crates == [crate])
  }

  /// The object's old owner, which was not registered, did not get it back.
  @Test func `undoing an addition restores the list of an owner that was not loaded`() throws {
    let store = try makeStore()
    let writer = store.context()
    writer.insertAll(Depot(name: "old"), Depot(name: "new"))
    let old = try #require(writer.all(Depot.self).first { $0.name == "old" })
    old.crates = [Crate(number: 1), Crate(number: 2)]
    try writer.save()

    let context = store.context()
    let manager = UndoManager()
    manager.groupsByEvent = false
    context.undoManager = manager
    let new = try context.only(where: #Predicate<Depot> { $0.name == "new" })
    let first = try context.only(where: #Predicate<Crate> { $0.number == 1 })
    manager.beginUndoGrouping()
    new.crates.append(first)
    manager.endUndoGrouping()
    try context.save()
    manager.undo()
    let owner = try context.only(where: #Predicate<Depot> { $0.name == "old" })
    #expect(owner.crates.map(\.number) == [1, 2])
    try context.save()
    let stored = try store.reopened().only(where: #Predicate<Depot> { $0.name == "old" })
    #expect(stored.crates.map(\.number) == [1, 2])
  }

  /// Undoing an insertion that had ended a deletion cut what was linked in between.
  @Test func `undoing the end of a deletion keeps links`() throws {
    let store = try makeStore()
    let context = store.context()
    let (depot, crate) = (Depot(name: "d"), Crate(number: 1))
    context.insertAll(depot, crate)
    try context.save()
    let manager = UndoManager()
    manager.groupsByEvent = false
    context.undoManager = manager
    for step in [
      { context.delete(crate) }, { depot.crates.append(crate) }, { context.insert(crate) },
    ] {
      manager.beginUndoGrouping()
      step()
      manager.endUndoGrouping()
    }
    manager.undo()
    #expect(crate.isDeleted)
    #expect(crate.depot === depot)
    manager.redo()
    #expect(!crate.isDeleted)
    #expect(crate.depot === depot)
  }

  /// A list that was changed through an object whose row another one had taken over lost what another
  /// context had committed.
  @Test func `a list of the loser of an upsert is that of its row`() throws {
    let store = try makeStore()
    let (here, there) = (store.context(), store.context())
    let bearers = [Bearer(name: "a"), Bearer(name: "b")]
    for bearer in bearers { there.insert(bearer) }
    try there.save()
    let labels = [Label(key: "k"), Label(key: "k")]
    for label in labels { here.insert(label) }
    try here.save()
    labels[0].bearers = []
    try there.only(Label.self).bearers = [bearers[0]]
    try there.save()
    here.processPendingChanges()
    // The first one stands for both.
    labels[1].bearers.append(try here.twin(of: bearers[1]))
    try here.save()
    #expect(try store.reopened().only(Label.self).bearers.map(\.name).sorted() == ["a", "b"])
  }

  /// A deletion took an object with it that belongs to somebody else by now.
  @Test func `a deletion takes only what both sides link`() throws {
    let store = try makeStore()
    let (here, there) = (store.context(), store.context())
    let (first, second, permit) = (Bearer(name: "a"), Bearer(name: "b"), Permit(number: 1))
    here.insertAll(first, second, permit)
    try here.save()
    let theirs = try (there.twin(of: first), there.twin(of: second), there.twin(of: permit))
    permit.bearer = first
    theirs.1.permit = theirs.2
    there.delete(theirs.0)
    try here.save()
    try there.save()
    let reader = try store.reopened()
    #expect(try reader.only(Permit.self).bearer?.name == "b")
    #expect(try reader.only(Bearer.self).name == "b")
  }

  /// What an object of no context was linked to before followed it into the context.
  @Test func `an object that is replaced does not follow its owner`() throws {
    let store = try makeStore()
    let context = store.context()
    let (main, inside, left) = (Depot(name: "main"), Depot(name: "inside"), Depot(name: "left"))
    context.insert(inside)
    main.main = left
    main.branches = [inside, main]
    try context.save()
    #expect(try context.all(Depot.self).map(\.name).sorted() == ["inside", "main"])
    #expect(left.modelContext == nil)
  }

  /// What was taken out of a list was remembered by an address, which a new object got when the old one
  /// was gone: the new one was then missing in the list.
  @Test func `a new object is not taken for one that is gone`() throws {
    let store = try makeStore()
    let (here, there) = (store.context(), store.context())
    let depot = Depot(name: "d")
    here.insert(depot)
    try here.save()
    // An address is not given again each time.
    for round in 0..<20 {
      let (old, new) = (Crate(number: round), Crate(number: 100 + round))
      here.insert(old)
      old.depot = depot
      try here.save()
      there.processPendingChanges()
      let theirs = try there.twin(of: depot)
      here.delete(old)
      here.insert(new)
      new.depot = depot
      theirs.crates.removeAll { $0.number == round }
      try here.save()
      there.processPendingChanges()
      #expect(theirs.crates.map(\.number) == [100 + round])
      there.rollback()
      here.delete(new)
      try here.save()
    }
  }
}

@Model final class Depot {
  var name: String
  // Before the list, so that an insertion meets it first.
  var main: Depot?
  @Relationship(deleteRule: .deny, inverse: \Crate.debtor) var debts: [Crate] = []
  @Relationship(deleteRule: .cascade, inverse: \Crate.depot) var crates: [Crate] = []
  @Relationship(deleteRule: .cascade, inverse: \Depot.main) var branches: [Depot] = []
  @Relationship(inverse: \Depot.visitors) var peers: [Depot] = []
  var visitors: [Depot] = []
  init(name: String) { self.name = name }
}

@Model final class Crate {
  var number: Int
  var debtor: Depot?
  var depot: Depot?
  init(number: Int) { self.number = number }
}

@Model final class Pallet {
  var number: Int
  var place: Depot?
  var stops: [Depot] = []
  init(number: Int) { self.number = number }
}

@Model final class Bearer {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \Permit.bearer) var permit: Permit?
  @Relationship(inverse: \Label.bearers) var labels: [Label] = []
  init(name: String) { self.name = name }
}

@Model final class Permit {
  var number: Int
  var bearer: Bearer?
  init(number: Int) { self.number = number }
}

@Model final class Label {
  @Attribute(.unique) var key: String
  var bearers: [Bearer] = []
  init(key: String) { self.key = key }
}
