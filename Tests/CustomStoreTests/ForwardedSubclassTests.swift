import Foundation
import SteadTestSupport
import SwiftData
import Testing

@Suite("Class hierarchies behind a store of an app's own") struct ForwardedSubclassTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func context(_ name: String = "forwarded.store") throws -> ModelContext {
    ModelContext(
      try ModelContainer(
        for: Animal.self, Dog.self, Sheepdog.self, Pasture.self,
        configurations: ForwardingStore.Configuration(url: directory.file(name))))
  }

  /// A `DefaultStore` that a store of an app asked for objects of a superclass made snapshots with the properties of
  /// that class alone, so that those of subclasses were read as 0, and the next save stored that.
  @Test func `properties of subclasses survive a fetch by the superclass and a save`() throws {
    do {
      let context = try context()
      context.insert(Dog("Rex", tricks: 3))
      context.insert(Sheepdog("Rough", tricks: 5, flock: ["Dolly"]))
      try context.save()
    }
    let context = try context()
    let animals = try context.fetch(FetchDescriptor<Animal>(sortBy: [SortDescriptor(\.name)]))
    #expect(animals.map { ($0 as? Dog)?.tricks } == [3, 5])
    #expect((animals[1] as? Sheepdog)?.flock == ["Dolly"])
    for animal in animals { animal.name += "!" }
    try context.save()
    let again = try self.context().fetch(FetchDescriptor<Dog>(sortBy: [SortDescriptor(\.name)]))
    #expect(again.map(\.name) == ["Rex!", "Rough!"])
    #expect(again.map(\.tricks) == [3, 5])
    #expect((again[1] as? Sheepdog)?.flock == ["Dolly"])
  }

  @Test func `a snapshot of a superclass's backing data has the properties of the object's class`()
    throws
  {
    let animal: Animal = Sheepdog("Rough", tricks: 5, flock: ["Dolly"])
    var related: [PersistentIdentifier: any BackingData] = [:]
    let snapshot = DefaultSnapshot(
      from: animal.persistentBackingData, relatedBackingDatas: &related)
    let json = try JSONSerialization.jsonObject(with: JSONEncoder().encode(snapshot))
    let values = try #require(json as? [String: Any])
    #expect(values["tricks"] as? Int == 5)
    #expect(values["flock"] as? [String] == ["Dolly"])
  }

  /// An animal as a test knows it.
  private struct Known: Equatable {
    var kind: Int
    var tricks = 0
    var flock: [String] = []
    var acres: Int?
  }

  /// Objects of three classes come, change and go, through any of their classes; each save is read in a new container.
  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func `random changes through any class of a hierarchy are stored whole`(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let file = "random\(seed).store"
    var known: [String: Known] = [:]
    for round in 0..<Effort.times(12) {
      let context = try context(file)
      switch round % 3 {
      case 0:
        try #expect(all(context.fetch(FetchDescriptor<Animal>())) == known, "seed \(seed)")
      case 1:
        let dogs = try all(context.fetch(FetchDescriptor<Dog>()))
        #expect(dogs == known.filter { $0.value.kind > 0 }, "seed \(seed)")
      default:
        let dogs = try all(context.fetch(FetchDescriptor<Sheepdog>()))
        #expect(dogs == known.filter { $0.value.kind == 2 }, "seed \(seed)")
      }
      for step in 0..<3 {
        try change("a\(round).\(step)", context, &known, &random)
      }
      try context.save()
    }
    #expect(try all(context(file).fetch(FetchDescriptor<Animal>())) == known, "seed \(seed)")
  }

  private func all(_ animals: [Animal]) -> [String: Known] {
    var result: [String: Known] = [:]
    for animal in animals {
      var known = Known(kind: animal is Sheepdog ? 2 : (animal is Dog ? 1 : 0))
      if let dog = animal as? Dog { known.tricks = dog.tricks }
      if let dog = animal as? Sheepdog {
        (known.flock, known.acres) = (dog.flock, dog.pasture?.acres)
      }
      result[animal.name] = known
    }
    return result
  }

  private func change(
    _ name: String, _ context: ModelContext, _ known: inout [String: Known],
    _ random: inout SplitMix
  ) throws {
    let number = Int.random(in: 1...99, using: &random)
    let old = known.keys.sorted().randomElement(using: &random)
    guard let old, Int.random(in: 0..<3, using: &random) > 0 else {
      let kind = Int.random(in: 0..<3, using: &random)
      switch kind {
      case 0: context.insert(Animal(name))
      case 1: context.insert(Dog(name, tricks: number))
      default:
        let dog = Sheepdog(name, tricks: number, flock: ["\(number)"])
        context.insert(dog)
        dog.pasture = Pasture(number)
      }
      known[name] = Known(
        kind: kind, tricks: kind > 0 ? number : 0, flock: kind == 2 ? ["\(number)"] : [],
        acres: kind == 2 ? number : nil)
      return
    }
    let animal = try #require(
      try context.fetch(FetchDescriptor<Animal>(predicate: #Predicate { $0.name == old })).first)
    let change = Int.random(in: 0..<5, using: &random)
    if change == 0 {
      context.delete(animal)
      known[old] = nil
    } else if change == 1 {
      animal.name = name
      known[name] = known.removeValue(forKey: old)
    } else if change == 2, let dog = animal as? Sheepdog {
      dog.flock.append("\(number)")
      known[old]?.flock.append("\(number)")
    } else if let dog = animal as? Dog {
      dog.tricks = number
      known[old]?.tricks = number
    }
  }
}
