import RecordsTestSupport
import SteadTestSupport
import SwiftData
import Testing

/// What a rule did is taken back where another context has led its object elsewhere: that alone, and not what the program
/// itself has changed.
@Suite("Effects of rules that others' commits take back") struct RuleEffectTests {
  private struct World {
    let store: TestStore
    let context: ModelContext
    let other: ModelContext
    let manager = UndoManager()

    init() throws {
      store = try TestStore(.memory, EstateMap.models)
      (context, other) = (store.context(), store.context())
      let (estate, house) = (Estate(0), House(0))
      other.insertAll(estate, Estate(1), Estate(2), Street(0), Street(1), Path(0), Path(1), Path(2))
      house.estate = estate
      house.rooms = [Room(0), Room(1)]
      estate.trees = [Tree(0)]
      try other.save()
      house.street = try street(0, other)
      house.paths = [try path(0, other)]
      try other.save()
      context.undoManager = manager
    }

    func estate(_ number: Int, _ context: ModelContext) throws -> Estate {
      try context.only(where: #Predicate { $0.number == number })
    }
    func street(_ number: Int, _ context: ModelContext) throws -> Street {
      try context.only(where: #Predicate { $0.number == number })
    }
    func path(_ number: Int, _ context: ModelContext) throws -> Path {
      try context.only(where: #Predicate { $0.number == number })
    }
    func room(_ number: Int, _ context: ModelContext) throws -> Room {
      try context.only(where: #Predicate { $0.number == number })
    }

    func moveHouse(to number: Int = 1) throws {
      try other.only(House.self).estate = estate(number, other)
      try other.save()
    }

    /// Saves; what the store has then, which the context shows, too.
    func saved() throws -> EstateMap {
      try context.save()
      let stored = try EstateMap(store.context())
      #expect(try EstateMap(context) == stored)
      #expect(try store.container.check().isSound)
      return stored
    }
  }

  // MARK: The program's own changes

  /// The review asked for a link that only this context had, and took a commit of another property for a move.
  @Test(arguments: [false, true])
  func `a child that the program moved under the rule goes with its new owner`(
    commitsOwner: Bool
  ) throws {
    let world = try World()
    let (context, other) = (world.context, world.other)
    let (house, tree) = (try context.only(House.self), try context.only(Tree.self))
    let owner = try world.estate(1, context)
    (house.estate, tree.estate) = (owner, owner)
    context.delete(owner)
    if commitsOwner {
      try world.estate(1, other).points = 5
    } else {
      try other.only(House.self).number = 7
      try other.only(Tree.self).number = 7
    }
    try other.save()
    _ = try context.all(Path.self)
    let stored = try world.saved()
    #expect(stored.houses.isEmpty && stored.rooms.isEmpty)
    #expect(stored.trees.values.first == -1)
  }

  enum Change: CaseIterable {
    case street, noStreet, room, otherRoom, newRoom, path, noPath, pathsInstead
  }

  @Test(arguments: Change.allCases)
  func `a child that stays keeps what the program had changed of it`(_ change: Change) throws {
    let world = try World()
    let (context, other) = (world.context, world.other)
    let house = try context.only(House.self)
    switch change {
    case .street: house.street = try world.street(1, context)
    case .noStreet: house.street = nil
    case .room: house.rooms.removeAll { $0.number == 0 }
    case .otherRoom:
      let new = House(9)
      context.insert(new)
      try world.room(0, context).house = new
    case .newRoom: house.rooms.append(Room(9))
    case .path: house.paths.append(try world.path(1, context))
    case .noPath: house.paths = []
    case .pathsInstead: house.paths = [try world.path(1, context), try world.path(2, context)]
    }
    context.delete(try world.estate(0, context))
    try world.moveHouse()
    _ = other
    _ = try context.all(Path.self)
    let stored = try world.saved()
    #expect(stored.houses[0] == 1)
    #expect(stored.streets[0] == (change == .street ? 1 : change == .noStreet ? -1 : 0))
    #expect(stored.rooms[1] == 0)
    #expect(stored.rooms[0] == (change == .room ? -1 : change == .otherRoom ? 9 : 0))
    #expect(stored.rooms[9] == (change == .newRoom ? 0 : nil))
    let paths: Set<Int> =
      switch change {
      case .path: [0, 1]
      case .noPath: []
      case .pathsInstead: [1, 2]
      default: [0]
      }
    #expect(stored.housePaths[0] == paths)
  }

  @Test func `a reference that the program cleared after the deletion was undone stays cleared`()
    throws
  {
    let world = try World()
    let (context, other) = (world.context, world.other)
    let (estate, tree) = (try world.estate(0, context), try context.only(Tree.self))
    context.delete(estate)
    context.processPendingChanges()
    world.manager.undo()
    tree.estate = nil
    context.delete(estate)
    try other.only(Tree.self).estate = world.estate(1, other)
    try other.save()
    #expect(try world.saved().trees == [0: -1])
  }

  @Test func `what the program has deleted itself does not come back into a list`() throws {
    let world = try World()
    let (context, other) = (world.context, world.other)
    context.delete(try world.estate(0, context))
    context.delete(try context.only(Tree.self))
    try other.only(Tree.self).estate = world.estate(1, other)
    try other.save()
    _ = try context.all(Path.self)
    #expect(try world.estate(1, context).trees.isEmpty)
    #expect(try world.saved().trees.isEmpty)
  }

  // MARK: The rules' own

  /// What the save's own cascade had deleted counted as deleted by the program.
  @Test func `a child that a refused save has deleted stays where it is moved afterwards`() throws {
    let store = try TestStore(.memory, Branch.self, Twig.self, Leaf.self)
    let (context, other) = (store.context(), store.context())
    let (old, new, twig) = (Branch(), Branch(), Twig())
    context.insertAll(old, new, twig)
    try context.save()
    context.delete(old)
    try other.twin(of: twig).branch = other.twin(of: old)
    try other.save()
    let leaf = Leaf(twig)
    context.insert(leaf)
    leaf.size = -1
    leaf.twigs = []
    #expect(throws: SwiftDataError.self) { try context.save() }
    #expect(twig.isDeleted)
    try other.twin(of: twig).branch = other.twin(of: new)
    try other.save()
    context.delete(leaf)
    try context.save()
    #expect(try store.context().only(Twig.self).branch?.persistentModelID == new.persistentModelID)
  }

  @Test func `children that cascade to each other stay if another context moves one`() throws {
    let store = try TestStore(.memory, Hoop.self, Pearl.self)
    let (context, other) = (store.context(), store.context())
    let (old, new, first, second) = (Hoop(), Hoop(), Pearl(), Pearl())
    context.insertAll(old, new, first, second)
    first.hoop = old
    (first.next, second.next) = (second, first)
    try context.save()
    context.delete(old)
    #expect(first.isDeleted && second.isDeleted)
    try other.twin(of: first).hoop = other.twin(of: new)
    try other.save()
    try context.save()
    #expect(try store.context().count(Pearl.self) == 2)
    #expect(first.hoop === new && first.next === second && second.next === first)
  }

  @Test(arguments: [false, true])
  func `a redone deletion leaves what another context has moved`(saves: Bool) throws {
    let world = try World()
    let context = world.context
    context.delete(try world.estate(0, context))
    context.processPendingChanges()
    world.manager.undo()
    if saves {
      try world.estate(2, context).points = 1
      try context.save()
    }
    world.manager.redo()
    try world.moveHouse()
    let stored = try world.saved()
    #expect(stored.houses == [0: 1] && stored.rooms == [0: 0, 1: 0] && stored.streets == [0: 0])
  }
}

@Model private final class Branch {
  @Relationship(deleteRule: .cascade, inverse: \Twig.branch) var twigs: [Twig] = []
  init() {}
}

@Model private final class Twig {
  var branch: Branch?
  init() {}
}

/// Has at least one twig, which does not know of it.
@Model private final class Leaf {
  var size = 0
  @Relationship(minimumModelCount: 1) var twigs: [Twig] = []
  init(_ twig: Twig) { twigs = [twig] }
}

@Model private final class Hoop {
  @Relationship(deleteRule: .cascade, inverse: \Pearl.hoop) var pearls: [Pearl] = []
  init() {}
}

@Model private final class Pearl {
  var hoop: Hoop?
  @Relationship(deleteRule: .cascade) var next: Pearl?
  init() {}
}
