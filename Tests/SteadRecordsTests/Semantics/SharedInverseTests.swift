import Foundation
import SwiftData
import Testing

@Suite("several relationships with one inverse")
struct SharedInverseTests {
  private func garden(_ place: StorePlace) throws -> (TestStore, ModelContext, Backyard) {
    let store = try TestStore(place, Backyard.self, Plant.self)
    let context = store.context()
    let yard = Backyard(name: "north")
    context.insert(yard)
    return (store, context, yard)
  }

  @Test(arguments: StorePlace.allCases)
  func `an append to any list sets the to-one`(_ place: StorePlace) throws {
    let (store, context, yard) = try garden(place)
    let (fern, rose) = (Plant(name: "fern"), Plant(name: "rose"))
    yard.plants.append(fern)
    yard.archive.append(rose)
    #expect(fern.backyard === yard && rose.backyard === yard)
    #expect(yard.plants.map(\.name) == ["fern"])
    #expect(yard.archive.map(\.name) == ["rose"])
    try context.save()
    let reader = try store.reopened().only(Backyard.self)
    #expect(reader.plants.map(\.name) == ["fern"])
    #expect(reader.archive.map(\.name) == ["rose"])
    #expect(reader.archive.first?.backyard === reader)
  }

  @Test(arguments: StorePlace.allCases)
  func `setting the to-one adds to the list that is declared first`(_ place: StorePlace) throws {
    let (store, context, yard) = try garden(place)
    let fern = Plant(name: "fern")
    context.insert(fern)
    fern.backyard = yard
    #expect(yard.plants.map(\.name) == ["fern"])
    #expect(yard.archive.isEmpty)
    try context.save()
    let reader = try store.reopened().only(Backyard.self)
    #expect(reader.plants.map(\.name) == ["fern"])
    #expect(reader.archive.isEmpty)
  }

  @Test(arguments: StorePlace.allCases)
  func `an object is in one list at a time, and stays there`(_ place: StorePlace) throws {
    let (store, context, yard) = try garden(place)
    let fern = Plant(name: "fern")
    yard.plants.append(fern)
    try context.save()
    yard.archive.append(fern)
    #expect(yard.plants.isEmpty)
    #expect(yard.archive.map(\.name) == ["fern"])
    #expect(fern.backyard === yard)
    try context.save()
    let moved = try store.reopened()
    #expect(try moved.only(Backyard.self).plants.isEmpty)
    #expect(try moved.only(Backyard.self).archive.map(\.name) == ["fern"])

    let other = Backyard(name: "south")
    context.insert(other)
    fern.backyard = other
    #expect(yard.archive.isEmpty)
    #expect(other.plants.map(\.name) == ["fern"])
    #expect(other.archive.isEmpty)
    try context.save()
    let reader = try store.reopened()
    let yards = try reader.fetch(FetchDescriptor<Backyard>(sortBy: [SortDescriptor(\.name)]))
    #expect(yards[0].archive.isEmpty)
    #expect(yards[1].plants.map(\.name) == ["fern"])
  }

  @Test(arguments: StorePlace.allCases)
  func `removing from any list clears the to-one`(_ place: StorePlace) throws {
    let (store, context, yard) = try garden(place)
    let (fern, rose) = (Plant(name: "fern"), Plant(name: "rose"))
    yard.plants = [fern]
    yard.archive = [rose]
    try context.save()
    yard.archive.removeAll()
    #expect(rose.backyard == nil)
    #expect(fern.backyard === yard)
    try context.save()
    let reader = try store.reopened().only(Backyard.self)
    #expect(reader.plants.map(\.name) == ["fern"])
    #expect(reader.archive.isEmpty)
  }

  @Test(arguments: StorePlace.allCases)
  func `setting the to-one to what it is leaves the object in its list`(_ place: StorePlace) throws
  {
    let (store, context, yard) = try garden(place)
    let rose = Plant(name: "rose")
    yard.archive.append(rose)
    try context.save()
    rose.backyard = yard
    #expect(yard.archive.map(\.name) == ["rose"])
    try context.save()
    #expect(try store.reopened().only(Backyard.self).archive.map(\.name) == ["rose"])
  }

  @Test(arguments: StorePlace.allCases)
  func `a fetch sees which list an unsaved object is in`(_ place: StorePlace) throws {
    let (_, context, yard) = try garden(place)
    yard.plants.append(Plant(name: "fern"))
    try context.save()
    yard.archive.append(try context.only(Plant.self))
    func count(_ predicate: Predicate<Backyard>) throws -> Int {
      try context.fetchCount(FetchDescriptor(predicate: predicate))
    }
    #expect(try count(#Predicate { $0.archive.contains { $0.name == "fern" } }) == 1)
    #expect(try count(#Predicate { $0.plants.isEmpty }) == 1)
    try context.save()
    #expect(try count(#Predicate { $0.archive.contains { $0.name == "fern" } }) == 1)
    #expect(try count(#Predicate { $0.plants.isEmpty }) == 1)
  }

  @Test(arguments: StorePlace.allCases)
  func `rollback puts an object back into its list`(_ place: StorePlace) throws {
    let (_, context, yard) = try garden(place)
    let rose = Plant(name: "rose")
    yard.archive.append(rose)
    try context.save()
    yard.plants.append(rose)
    context.rollback()
    #expect(yard.plants.isEmpty)
    #expect(yard.archive.map(\.name) == ["rose"])
  }

  @Test func `objects that belong to no context have the same lists`() {
    let yard = Backyard(name: "north")
    let fern = Plant(name: "fern")
    yard.archive.append(fern)
    #expect(fern.backyard === yard)
    yard.plants.append(fern)
    #expect(yard.archive.isEmpty)
  }

  @Test(arguments: StorePlace.allCases)
  func `to-one relationships that share an inverse take turns`(_ place: StorePlace) throws {
    let store = try TestStore(place, Gate.self, Keeper.self)
    let context = store.context()
    let (gate, keeper) = (Gate(name: "west"), Keeper(name: "Ann"))
    context.insert(gate)
    gate.deputy = keeper
    #expect(keeper.gate === gate)
    gate.keeper = keeper
    #expect(gate.deputy == nil)
    try context.save()
    let reader = try store.reopened().only(Gate.self)
    #expect(reader.keeper?.name == "Ann")
    #expect(reader.deputy == nil)
    #expect(reader.keeper?.gate === reader)
  }
}
