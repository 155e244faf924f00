import Foundation
import SwiftData
import Testing

@Suite("moves between relationships with one inverse") struct SharedInverseMoveTests {
  private let north = Backyard(name: "north")
  private let south = Backyard(name: "south")
  private let fern = Plant(name: "fern")
  private let rose = Plant(name: "rose")
  private let thyme = Plant(name: "thyme")

  /// Saved: the north has a fern and thyme, and a rose in its archive.
  private func gardens(_ place: StorePlace) throws -> (TestStore, ModelContext) {
    let store = try TestStore(place, Backyard.self, Plant.self)
    let context = store.context()
    context.insert(north)
    context.insert(south)
    north.plants = [fern, thyme]
    north.archive = [rose]
    try context.save()
    return (store, context)
  }

  private func lists(_ yard: Backyard) -> [[String]] {
    [yard.plants.map(\.name), yard.archive.map(\.name)]
  }

  /// The lists of both yards as the store has them: the north's two, then the south's.
  private func stored(_ store: TestStore) throws -> [[String]] {
    try yards(store.reopened()).flatMap { lists($0) }
  }

  private func yards(_ context: ModelContext) throws -> [Backyard] {
    try context.fetch(FetchDescriptor<Backyard>(sortBy: [SortDescriptor(\.name)]))
  }

  @Test(arguments: StorePlace.allCases)
  func `lists keep their orders`(_ place: StorePlace) throws {
    let (store, context) = try gardens(place)
    #expect(try stored(store) == [["fern", "thyme"], ["rose"], [], []])
    north.archive.append(fern)
    north.archive.swapAt(0, 1)
    north.archive.append(thyme)
    try context.save()
    #expect(try stored(store) == [[], ["fern", "rose", "thyme"], [], []])
    north.archive.sort { $0.name > $1.name }
    north.plants.append(rose)
    try context.save()
    #expect(try stored(store) == [["rose"], ["thyme", "fern"], [], []])
  }

  /// An object that kept its place came first, since only the others had one.
  @Test(arguments: StorePlace.allCases)
  func `a predicate sees the first object of a reordered list`(_ place: StorePlace) throws {
    let (store, context) = try gardens(place)
    north.plants.append(rose)
    north.plants.swapAt(0, 2)
    try context.save()
    #expect(try stored(store)[0] == ["rose", "thyme", "fern"])
    func count(_ name: String) throws -> Int {
      try context.fetchCount(
        FetchDescriptor<Backyard>(predicate: #Predicate { $0.plants.first?.name == name }))
    }
    #expect(try count("rose") == 1)
    #expect(try count("thyme") == 0)
  }

  @Test(arguments: StorePlace.allCases)
  func `an object moves between the lists of two owners`(_ place: StorePlace) throws {
    let (store, context) = try gardens(place)
    south.archive.append(fern)
    #expect(lists(north) == [["thyme"], ["rose"]])
    #expect(lists(south) == [[], ["fern"]])
    #expect(fern.backyard === south)
    try context.save()
    #expect(try stored(store) == [["thyme"], ["rose"], [], ["fern"]])
    rose.backyard = south
    fern.backyard = north
    try context.save()
    #expect(try stored(store) == [["thyme", "fern"], [], ["rose"], []])
  }

  @Test(arguments: StorePlace.allCases)
  func `owners that are not loaded lose and get objects, too`(_ place: StorePlace) throws {
    let (store, _) = try gardens(place)
    let context = try store.reopened()
    let rose = try #require(
      try context.fetch(FetchDescriptor<Plant>(predicate: #Predicate { $0.name == "rose" })).first)
    let south = try #require(
      try context.fetch(FetchDescriptor<Backyard>(predicate: #Predicate { $0.name == "south" }))
        .first)
    south.archive.append(rose)
    try context.save()
    #expect(try stored(store) == [["fern", "thyme"], [], [], ["rose"]])
    #expect(try lists(yards(context)[0]) == [["fern", "thyme"], []])
  }

  @Test(arguments: StorePlace.allCases)
  func `two lists of one owner trade their objects`(_ place: StorePlace) throws {
    let (store, context) = try gardens(place)
    let plants = north.plants
    north.plants = north.archive
    #expect(lists(north) == [["rose"], []])
    #expect(fern.backyard == nil)
    north.archive = plants
    #expect(fern.backyard === north)
    try context.save()
    #expect(try stored(store) == [["rose"], ["fern", "thyme"], [], []])
  }

  @Test(arguments: StorePlace.allCases)
  func `setting the to-one to nil takes an object out of its list`(_ place: StorePlace) throws {
    let (store, context) = try gardens(place)
    rose.backyard = nil
    #expect(lists(north) == [["fern", "thyme"], []])
    // It was in the archive before, and is new there now.
    rose.backyard = north
    #expect(lists(north) == [["fern", "thyme", "rose"], []])
    try context.save()
    #expect(try stored(store) == [["fern", "thyme", "rose"], [], [], []])
    rose.backyard = nil
    try context.save()
    #expect(try stored(store) == [["fern", "thyme"], [], [], []])
  }

  @Test(arguments: StorePlace.allCases)
  func `moves are undone and done again`(_ place: StorePlace) throws {
    let (store, context) = try gardens(place)
    let undoManager = UndoManager()
    context.undoManager = undoManager
    north.archive.append(fern)
    context.processPendingChanges()
    rose.backyard = south
    context.processPendingChanges()
    undoManager.undo()
    #expect(lists(north) == [["thyme"], ["rose", "fern"]])
    #expect(lists(south) == [[], []])
    undoManager.undo()
    #expect(lists(north) == [["fern", "thyme"], ["rose"]])
    try context.save()
    #expect(try stored(store) == [["fern", "thyme"], ["rose"], [], []])
    undoManager.redo()
    try context.save()
    #expect(try stored(store) == [["thyme"], ["rose", "fern"], [], []])
    undoManager.undo()
    try context.save()
    #expect(try stored(store) == [["fern", "thyme"], ["rose"], [], []])
  }

  @Test(arguments: StorePlace.allCases)
  func `an undone deletion puts an object back into its list`(_ place: StorePlace) throws {
    let (store, context) = try gardens(place)
    let undoManager = UndoManager()
    context.undoManager = undoManager
    context.delete(rose)
    context.processPendingChanges()
    #expect(lists(north) == [["fern", "thyme"], []])
    try context.save()
    undoManager.undo()
    #expect(lists(north) == [["fern", "thyme"], ["rose"]])
    try context.save()
    #expect(try stored(store) == [["fern", "thyme"], ["rose"], [], []])
  }

  @Test(arguments: StorePlace.allCases)
  func `a new object is forgotten with its list`(_ place: StorePlace) throws {
    let (store, context) = try gardens(place)
    let mint = Plant(name: "mint")
    north.archive = [mint]
    south.plants.append(rose)
    context.rollback()
    #expect(lists(north) == [["fern", "thyme"], ["rose"]])
    #expect(lists(south) == [[], []])
    #expect(mint.backyard == nil)
    mint.backyard = north
    try context.save()
    #expect(try stored(store) == [["fern", "thyme", "mint"], ["rose"], [], []])
  }

  @Test(arguments: StorePlace.allCases)
  func `another context sees after a fetch what moved`(_ place: StorePlace) throws {
    let (store, context) = try gardens(place)
    let reader = try store.reopened()
    let yard = try yards(reader)[0]
    #expect(lists(yard) == [["fern", "thyme"], ["rose"]])
    north.archive.append(fern)
    try context.save()
    _ = try yards(reader)
    #expect(lists(yard) == [["thyme"], ["rose", "fern"]])
    // What it moves now leaves the list that the object came to.
    yard.plants.append(try #require(yard.archive.last))
    #expect(lists(yard) == [["thyme", "fern"], ["rose"]])
    try reader.save()
    #expect(try stored(store) == [["thyme", "fern"], ["rose"], [], []])
  }

  @Test(arguments: StorePlace.allCases)
  func `the last save decides where two contexts move an object`(_ place: StorePlace) throws {
    let (store, context) = try gardens(place)
    let other = try store.reopened()
    let yards = try yards(other)
    let moved = try #require(yards[0].plants.first)
    yards[1].archive.append(moved)
    north.archive.append(fern)
    try context.save()
    other.processPendingChanges()
    #expect(lists(yards[0]) == [["thyme"], ["rose"]])
    #expect(lists(yards[1]) == [[], ["fern"]])
    try other.save()
    #expect(try stored(store) == [["thyme"], ["rose"], [], ["fern"]])
  }

  @Test(arguments: StorePlace.allCases)
  func `lists are fetched together with their owners`(_ place: StorePlace) throws {
    let (store, context) = try gardens(place)
    south.archive.append(thyme)
    try context.save()
    var descriptor = FetchDescriptor<Backyard>(sortBy: [SortDescriptor(\.name)])
    descriptor.relationshipKeyPathsForPrefetching = [\.plants, \.archive]
    let yards = try store.reopened().fetch(descriptor)
    #expect(yards.flatMap { lists($0) } == [["fern"], ["rose"], [], ["thyme"]])
    var plants = FetchDescriptor<Plant>(sortBy: [SortDescriptor(\.name)])
    plants.relationshipKeyPathsForPrefetching = [\.backyard]
    #expect(
      try store.reopened().fetch(plants).map(\.backyard?.name) == ["north", "north", "south"])
  }

  @Test(arguments: StorePlace.allCases)
  func `objects of which a part was fetched know their list`(_ place: StorePlace) throws {
    let (store, _) = try gardens(place)
    let context = try store.reopened()
    let yards = try yards(context)
    _ = yards.map { lists($0) }
    var descriptor = FetchDescriptor<Plant>(predicate: #Predicate { $0.name == "rose" })
    descriptor.propertiesToFetch = [\.backyard]
    let other = try store.reopened()
    let rose = try #require(try other.fetch(descriptor).first)
    let south = try #require(try self.yards(other).last)
    let north = try #require(rose.backyard)
    _ = lists(north)
    rose.backyard = south
    #expect(lists(north) == [["fern", "thyme"], []])
    try other.save()
    #expect(try stored(store) == [["fern", "thyme"], [], ["rose"], []])
  }

  @Test func `linked objects are inserted with the lists they have`() throws {
    let store = try TestStore(.memory, Backyard.self, Plant.self)
    let context = store.context()
    north.plants = [fern]
    north.archive = [rose, thyme]
    fern.backyard = north
    context.insert(rose)
    #expect(lists(north) == [["fern"], ["rose", "thyme"]])
    try context.save()
    #expect(try lists(store.reopened().only(Backyard.self)) == [["fern"], ["rose", "thyme"]])
  }
}
