import Foundation
import SwiftData
import Testing

enum Zoo1 {
  @Model class Animal {
    var name: String
    var keeper: Keeper?
    init(name: String) { self.name = name }
  }

  @Model final class Cat: Animal {
    var lives = 9
    override init(name: String) { super.init(name: name) }
  }

  @Model final class Keeper {
    var name: String
    @Relationship(inverse: \Animal.keeper) var animals: [Animal] = []
    init(name: String) { self.name = name }
  }
}

/// A subclass whose name comes before the others' is added.
enum Zoo2 {
  @Model class Animal {
    var name: String
    var keeper: Keeper?
    init(name: String) { self.name = name }
  }

  @Model final class Ape: Animal {
    var tools = 1
    override init(name: String) { super.init(name: name) }
  }

  @Model final class Cat: Animal {
    var lives = 9
    override init(name: String) { super.init(name: name) }
  }

  @Model final class Keeper {
    var name: String
    @Relationship(inverse: \Animal.keeper) var animals: [Animal] = []
    init(name: String) { self.name = name }
  }
}

/// A subclass is removed.
enum Zoo3 {
  @Model class Animal {
    var name: String
    var keeper: Keeper?
    init(name: String) { self.name = name }
  }

  @Model final class Ape: Animal {
    var tools = 1
    override init(name: String) { super.init(name: name) }
  }

  @Model final class Keeper {
    var name: String
    @Relationship(inverse: \Animal.keeper) var animals: [Animal] = []
    init(name: String) { self.name = name }
  }
}

@Suite("Subclasses that come and go") struct SubclassMigrationTests {
  @Test("a subclass that is added has no rows, and one that is removed takes its rows along")
  func comesAndGoes() throws {
    let store = try StoreFile()
    do {
      let context = ModelContext(
        try store.open(Zoo1.Animal.self, Zoo1.Cat.self, Zoo1.Keeper.self))
      let keeper = Zoo1.Keeper(name: "Kim")
      keeper.animals = [Zoo1.Cat(name: "cat"), Zoo1.Animal(name: "animal")]
      context.insert(keeper)
      try context.save()
    }
    do {
      let container = try store.open(
        Zoo2.Animal.self, Zoo2.Ape.self, Zoo2.Cat.self, Zoo2.Keeper.self)
      let context = ModelContext(container)
      let keeper = try context.only(Zoo2.Keeper.self)
      #expect(keeper.animals.map(\.name) == ["cat", "animal"])
      #expect((keeper.animals[0] as? Zoo2.Cat)?.lives == 9)
      #expect(try context.count(Zoo2.Ape.self) == 0)
      keeper.animals.append(Zoo2.Ape(name: "ape"))
      try context.save()
      #expect(try container.check().isSound)
    }
    let container = try store.open(Zoo3.Animal.self, Zoo3.Ape.self, Zoo3.Keeper.self)
    let keeper = try ModelContext(container).only(Zoo3.Keeper.self)
    #expect(keeper.animals.map(\.name) == ["animal", "ape"])
    #expect((keeper.animals[1] as? Zoo3.Ape)?.tools == 1)
    #expect(container.migrations.first?.difference.losesData == true)
    let check = try container.check()
    #expect(check.isSound, "\(check)")
    #expect(check.rowCounts == ["Animal": 1, "Ape": 1, "Keeper": 1])
  }
}
