import RecordsTestSupport
import SteadTestSupport
import SwiftData
import Testing

/// Undo of a step that no save had written wrote what was there before the step, over what another context had committed
/// to the same property or pair.
@Suite("Undo of steps that no save has written") struct UnsavedStepUndoTests {
  enum Place: CaseIterable {
    case value, choir, formerChoir, noChoir, leads, leader, formerLeader
    case honorary, honours, noHonorary, guest, reserves, order, members
  }

  /// Two contexts with the same singers and choirs: singers 1 and 2 are in choir 0, which singer 3 leads.
  private struct World {
    let store: TestStore
    let contexts: [ModelContext]
    let singers: [[Singer]]
    let choirs: [[Choir]]
    let manager = UndoManager()

    init() throws {
      store = try TestStore(.memory, Singer.self, Choir.self)
      let first = store.context()
      let (singers, choirs) = ((0..<6).map { Singer($0) }, (0..<4).map { Choir($0) })
      for singer in singers { first.insert(singer) }
      for choir in choirs { first.insert(choir) }
      choirs[0].singers = Array(singers[1...2])
      choirs[0].leader = singers[3]
      choirs[0].honorary = [singers[1]]
      try first.save()
      let contexts = [store.context(), store.context()]
      self.contexts = contexts
      self.singers = try contexts.map {
        try $0.fetch(FetchDescriptor<Singer>(sortBy: [SortDescriptor(\.number)]))
      }
      self.choirs = try contexts.map {
        try $0.fetch(FetchDescriptor<Choir>(sortBy: [SortDescriptor(\.number)]))
      }
      contexts[0].undoManager = manager
    }

    /// The change of the first context's step with this number.
    func change(_ place: Place, step: Int) {
      let (singers, choirs) = (singers[0], choirs[0])
      switch place {
      case .value: singers[0].points = step
      case .choir: singers[0].choir = choirs[step]
      case .formerChoir: singers[1].choir = choirs[step]
      case .noChoir: singers[1].choir = step == 1 ? nil : choirs[2]
      case .leads: singers[0].leads = choirs[step]
      case .leader: choirs[1].leader = singers[step - 1]
      case .formerLeader: choirs[0].leader = singers[step]
      case .honorary: choirs[1].honorary.append(singers[step - 1])
      case .honours: singers[0].honours.append(choirs[step])
      case .noHonorary: choirs[0].honorary = step == 1 ? [] : [singers[0]]
      case .guest: choirs[0].guest = singers[step]
      case .reserves: choirs[0].reserves.append(singers[step - 1])
      case .order: choirs[0].singers.reverse()
      case .members: choirs[1].singers.append(singers[step - 1])
      }
    }

    /// What the other context commits to the same property or pair.
    func commit(_ place: Place) throws {
      let (singers, choirs) = (singers[1], choirs[1])
      switch place {
      case .value: singers[0].points = 99
      case .choir: singers[0].choir = choirs[3]
      case .formerChoir, .noChoir: singers[1].choir = choirs[3]
      case .leads: singers[0].leads = choirs[3]
      case .leader: choirs[1].leader = singers[5]
      case .formerLeader: choirs[0].leader = singers[5]
      case .honorary: choirs[1].honorary.append(singers[0])
      case .honours: singers[0].honours.append(choirs[1])
      case .noHonorary: choirs[0].honorary = []
      case .guest: choirs[0].guest = singers[5]
      case .reserves: choirs[0].reserves.append(singers[0])
      case .order: choirs[0].singers = [singers[2], singers[1], singers[5]]
      case .members: choirs[1].singers.append(singers[0])
      }
      try contexts[1].save()
    }

    /// Expects the first context to show what the store has, also after a save of something else.
    func expectStored(_ title: Comment) throws {
      let stored = try Concert(store.context())
      #expect(try Concert(contexts[0]) == stored, title)
      contexts[0].insert(Choir(9))
      try contexts[0].save()
      let fresh = store.context()
      fresh.delete(try fresh.only(Choir.self, where: #Predicate { $0.number == 9 }))
      try fresh.save()
      #expect(try Concert(store.context()) == stored, title)
      #expect(try Concert(contexts[0]) == stored, title)
      #expect(try store.container.check().isSound, title)
    }
  }

  @Test(arguments: Place.allCases)
  func `undo leads to what the store has by then`(_ place: Place) throws {
    for bits in 0..<16 {
      let (arrives, isAfter, redoes) = (bits & 1 > 0, bits & 2 > 0, bits & 4 > 0)
      let steps = bits & 8 > 0 ? 2 : 1
      let world = try World()
      let context = world.contexts[0]
      for step in 1...steps {
        world.change(place, step: step)
        context.processPendingChanges()
      }
      if !isAfter { try world.commit(place) }
      if arrives { _ = try context.all(Choir.self) }
      for _ in 1...steps { world.manager.undo() }
      let title: Comment = "arrives \(arrives), after \(isAfter), redoes \(redoes), \(steps)"
      if redoes {
        for _ in 1...steps { world.manager.redo() }
        // Both sides of each relationship agree.
        _ = try Concert(context)
        for _ in 1...steps { world.manager.undo() }
      }
      #expect(!context.hasChanges || place != .value, title)
      if isAfter { try world.commit(place) }
      try world.expectStored(title)
    }
  }

  // MARK: Steps of several changes

  @Test(arguments: [false, true])
  func `a step leaves each member to others that they have changed, too`(adds: Bool) throws {
    let world = try World()
    let (singers, choirs) = (world.singers, world.choirs)
    if adds {
      choirs[0][1].honorary.append(singers[0][0])
      choirs[0][1].honorary.append(singers[0][1])
      choirs[0][1].singers.append(singers[0][0])
      choirs[0][1].singers.append(singers[0][4])
      choirs[1][1].honorary.append(singers[1][0])
      choirs[1][1].singers.append(singers[1][0])
    } else {
      choirs[0][0].honorary = [singers[0][0], singers[0][1]]
      try world.contexts[0].save()
      _ = try world.contexts[1].all(Choir.self)
      world.manager.removeAllActions()
      for choir in [choirs[0][0]] {
        choir.honorary.removeFirst()
        choir.honorary.removeFirst()
        choir.singers.removeFirst()
        choir.singers.removeFirst()
      }
      choirs[1][0].honorary.removeFirst()
      choirs[1][0].singers.removeFirst()
    }
    try world.contexts[1].save()
    world.manager.undo()
    try world.expectStored("")
  }

  @Test func `a step that ends where it began leaves the reference to others`() throws {
    let world = try World()
    let (singer, choirs) = (world.singers[0][1], world.choirs[0])
    singer.choir = choirs[1]
    singer.choir = choirs[0]
    world.singers[1][1].choir = world.choirs[1][3]
    try world.contexts[1].save()
    world.manager.undo()
    try world.expectStored("")
  }

  // MARK: What is not the step's

  /// It lost its mark, and was not saved.
  @Test(arguments: [false, true])
  func `what was set while registration was off stays pending`(hasNews: Bool) throws {
    let world = try World()
    let (singer, choirs) = (world.singers[0][0], world.choirs[0])
    singer.choir = choirs[1]
    world.manager.disableUndoRegistration()
    singer.choir = choirs[2]
    world.manager.enableUndoRegistration()
    if hasNews {
      world.singers[1][5].points = 7
      try world.contexts[1].save()
    }
    world.manager.undo()
    #expect(singer.choir === choirs[2] || singer.choir == nil)
    let shown = singer.choir?.number
    try world.contexts[0].save()
    let stored = try world.store.context().twin(of: singer)
    #expect(stored.choir?.number == shown)
  }

  @Test func `an earlier step's change of the other side stays pending`() throws {
    let world = try World()
    let (singers, choirs) = (world.singers[0], world.choirs[0])
    choirs[0].leader = nil
    world.contexts[0].processPendingChanges()
    singers[4].leads = choirs[1]
    world.contexts[0].processPendingChanges()
    world.singers[1][4].leads = world.choirs[1][0]
    try world.contexts[1].save()
    world.manager.undo()
    #expect(choirs[0].leader == nil)
    try world.contexts[0].save()
    #expect(try Concert(world.contexts[0]) == Concert(world.store.context()))
    #expect(try world.store.context().twin(of: choirs[0]).leader == nil)
  }

  @Test func `a member that others have added after the undo is theirs`() throws {
    let world = try World()
    let (mine, theirs) = (world.choirs[0][1], world.choirs[1][1])
    let (singer, twin) = (world.singers[0][0], world.singers[1][0])
    mine.honorary.append(singer)
    world.contexts[0].processPendingChanges()
    world.manager.undo()
    theirs.honorary.append(twin)
    try world.contexts[1].save()
    _ = try world.contexts[0].all(Choir.self)
    mine.honorary = []
    world.contexts[0].processPendingChanges()
    theirs.honorary = []
    try world.contexts[1].save()
    world.manager.undo()
    try world.expectStored("")
    #expect(mine.honorary.isEmpty)
  }

  /// A manager's first undo counted as one for which others' commits had arrived, if it had the same number as that of the
  /// manager before.
  @Test func `the first undo of another manager has others' commits arrive`() throws {
    let world = try World()
    let context = world.contexts[0]
    world.singers[0][0].points = 1
    world.manager.undo()
    let manager = UndoManager()
    context.undoManager = manager
    world.singers[0][0].points = 2
    context.processPendingChanges()
    world.singers[1][5].points = 7
    try world.contexts[1].save()
    manager.undo()
    #expect(world.singers[0][5].points == 7)
  }

  /// It called others' followers in the middle of the undo.
  @Test func `an undo that comes back to the store's value leaves nothing to save`() throws {
    let world = try World()
    let (singer, context) = (world.singers[0][0], world.contexts[0])
    singer.points = 1
    singer.choir = world.choirs[0][1]
    world.choirs[0][2].honorary = [singer]
    world.choirs[0][0].singers.reverse()
    context.processPendingChanges()
    #expect(context.hasChanges)
    world.manager.undo()
    #expect(!context.hasChanges)
    world.manager.redo()
    #expect(context.hasChanges)
    try context.save()
    let stored = try world.store.context().twin(of: singer)
    #expect(stored.points == 1 && stored.choir?.number == 1 && stored.honours.map(\.number) == [2])
    #expect(try world.store.context().twin(of: world.choirs[0][0]).singers.map(\.number) == [2, 1])
  }
}
