import Foundation
import SwiftData
import Testing

@Suite("kinds of relationships with one inverse") struct SharedInverseShapeTests {
  @Test(arguments: StorePlace.allCases)
  func `an owner's lists go with it by their rules`(_ place: StorePlace) throws {
    let store = try TestStore(place, Estate.self)
    let context = store.context()
    let estate = Estate(name: "hill")
    context.insert(estate)
    estate.oaks = [Tree(name: "a")]
    estate.limes = [Tree(name: "b"), Tree(name: "c")]
    estate.landmark = Tree(name: "d")
    try context.save()
    let other = try store.reopened()
    other.delete(try other.only(Estate.self))
    try other.save()
    #expect(try store.reopened().all(Tree.self).map(\.name) == ["d"])
    #expect(try store.reopened().only(Tree.self).estate == nil)
  }

  @Test(arguments: StorePlace.allCases)
  func `a list and a single object take turns`(_ place: StorePlace) throws {
    let store = try TestStore(place, Estate.self)
    let context = store.context()
    let (hill, dale) = (Estate(name: "hill"), Estate(name: "dale"))
    let (oak, lime) = (Tree(name: "oak"), Tree(name: "lime"))
    context.insert(hill)
    context.insert(dale)
    hill.oaks = [oak]
    hill.limes = [lime]
    try context.save()
    hill.landmark = lime
    #expect(hill.limes.isEmpty)
    #expect(lime.estate === hill)
    dale.landmark = oak
    #expect(hill.oaks.isEmpty)
    #expect(oak.estate === dale)
    try context.save()
    let hills = FetchDescriptor<Estate>(sortBy: [SortDescriptor(\.name)])
    var estates = try store.reopened().fetch(hills)
    #expect(estates.map(\.landmark?.name) == ["oak", "lime"])
    #expect(estates.allSatisfy { $0.oaks.isEmpty && $0.limes.isEmpty })
    hill.limes.append(oak)
    #expect(dale.landmark == nil)
    lime.estate = dale
    #expect(hill.landmark == nil)
    #expect(dale.oaks.map(\.name) == ["lime"])
    try context.save()
    estates = try store.reopened().fetch(hills)
    #expect(estates.allSatisfy { $0.landmark == nil })
    #expect(estates[0].oaks.map(\.name) == ["lime"])
    #expect(estates[1].limes.map(\.name) == ["oak"])
  }

  @Test func `a new object with the unique value of another takes its place in the lists`() throws {
    let store = try TestStore(.file, Estate.self)
    let context = store.context()
    let estate = Estate(name: "hill")
    context.insert(estate)
    estate.oaks = [Tree(name: "a"), Tree(name: "b")]
    try context.save()
    estate.limes.append(Tree(name: "a"))
    try context.save()
    #expect(estate.oaks.map(\.name) == ["b"])
    #expect(estate.limes.map(\.name) == ["a"])
    let reader = try store.reopened().only(Estate.self)
    #expect(reader.oaks.map(\.name) == ["b"])
    #expect(reader.limes.map(\.name) == ["a"])
  }

  /// A save took the reference of one keeper for that of the other, and cleared it.
  @Test(arguments: StorePlace.allCases)
  func `objects of several to-one relationships stay with one owner`(_ place: StorePlace) throws {
    let store = try TestStore(place, Gate.self, Keeper.self)
    let context = store.context()
    let (west, east) = (Gate(name: "west"), Gate(name: "east"))
    let (ann, ben) = (Keeper(name: "Ann"), Keeper(name: "Ben"))
    context.insert(west)
    context.insert(east)
    west.keeper = ann
    west.deputy = ben
    try context.save()
    var gates = try store.reopened().fetch(
      FetchDescriptor<Gate>(sortBy: [SortDescriptor(\.name)]))
    #expect(gates[1].keeper?.name == "Ann" && gates[1].deputy?.name == "Ben")
    #expect(gates[1].keeper?.gate === gates[1] && gates[1].deputy?.gate === gates[1])

    swap(&west.keeper, &west.deputy)
    #expect(west.keeper === ben && west.deputy === ann)
    #expect(ann.gate === west && ben.gate === west)
    try context.save()
    ben.gate = east
    #expect(west.keeper == nil && east.keeper === ben)
    try context.save()
    gates = try store.reopened().fetch(FetchDescriptor<Gate>(sortBy: [SortDescriptor(\.name)]))
    #expect(gates[0].keeper?.name == "Ben" && gates[0].deputy == nil)
    #expect(gates[1].keeper == nil && gates[1].deputy?.name == "Ann")
  }

  @Test func `a save ends what another context linked meanwhile`() throws {
    let store = try TestStore(.file, Gate.self, Keeper.self)
    let context = store.context()
    context.insert(Gate(name: "west"))
    context.insert(Gate(name: "east"))
    context.insert(Keeper(name: "Ann"))
    try context.save()
    let other = try store.reopened()
    func gate(_ name: String, _ context: ModelContext) throws -> Gate {
      try #require(
        try context.fetch(FetchDescriptor<Gate>(predicate: #Predicate { $0.name == name })).first)
    }
    let (ann, east) = (try other.only(Keeper.self), try gate("east", other))
    east.deputy = ann
    try gate("west", context).keeper = try context.only(Keeper.self)
    try context.save()
    try other.save()
    let reader = try store.reopened()
    #expect(try gate("west", reader).keeper == nil)
    #expect(try gate("east", reader).deputy?.name == "Ann")
    #expect(try gate("east", reader).keeper == nil)
  }

  @Test(arguments: StorePlace.allCases)
  func `an object goes to the first list that can hold its class`(_ place: StorePlace) throws {
    let store = try TestStore(
      place, Orchard.self, Fruiter.self, AppleTree.self, PearTree.self)
    let context = store.context()
    let orchard = Orchard()
    context.insert(orchard)
    let (pear, other) = (PearTree(name: "pear"), PearTree(name: "other"))
    orchard.apples.append(AppleTree(name: "apple"))
    context.insert(pear)
    pear.orchard = orchard
    other.orchard = orchard
    #expect(orchard.pears.map(\.name) == ["pear", "other"])
    #expect(orchard.apples.map(\.name) == ["apple"])
    try context.save()
    let reader = try store.reopened().only(Orchard.self)
    #expect(reader.apples.map(\.name) == ["apple"])
    #expect(reader.pears.map(\.name) == ["pear", "other"])
  }

  @Test(arguments: StorePlace.allCases)
  func `lists may be of the class itself`(_ place: StorePlace) throws {
    let store = try TestStore(place, Colleague.self)
    let context = store.context()
    let (ann, ben, cid) = (
      Colleague(name: "Ann"), Colleague(name: "Ben"), Colleague(name: "Cid")
    )
    context.insert(ann)
    ann.reports = [ben]
    ben.trainees = [cid]
    try context.save()
    ann.trainees.append(cid)
    #expect(ben.trainees.isEmpty)
    #expect(cid.manager === ann)
    ann.manager = ann
    try context.save()
    let all = try store.reopened().fetch(
      FetchDescriptor<Colleague>(sortBy: [SortDescriptor(\.name)]))
    #expect(all[0].reports.map(\.name) == ["Ben", "Ann"])
    #expect(all[0].trainees.map(\.name) == ["Cid"])
    #expect(all[1].trainees.isEmpty)
  }
}
