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

/// A required reference to an animal, which does not know of it.
enum Zoo4 {
  @Model class Animal {
    var name: String
    init(name: String) { self.name = name }
  }

  @Model final class Cat: Animal {
    var lives = 9
    override init(name: String) { super.init(name: name) }
  }

  @Model final class Feeding {
    var time: Int
    var animal: Animal

    init(time: Int, animal: Animal) {
      self.time = time
      self.animal = animal
    }
  }
}

/// The same without the subclass.
enum Zoo5 {
  @Model class Animal {
    var name: String
    init(name: String) { self.name = name }
  }

  @Model final class Feeding {
    var time: Int
    var animal: Animal

    init(time: Int, animal: Animal) {
      self.time = time
      self.animal = animal
    }
  }
}

/// The superclass of ``Zoo1`` under another name, which its subclass inherits with all that it says.
enum Zoo6 {
  @Model class Beast {
    var name: String
    var keeper: Keeper?
    init(name: String) { self.name = name }
  }

  @Model final class Cat: Beast {
    var lives = 9
    override init(name: String) { super.init(name: name) }
  }

  @Model final class Keeper {
    var name: String
    @Relationship(inverse: \Beast.keeper) var animals: [Beast] = []
    init(name: String) { self.name = name }
  }
}

extension Zoo6.Beast: RenamedModel {
  static var originalName: String { "Animal" }
}

/// Both classes of ``Zoo1`` under other names.
enum Zoo7 {
  @Model class Beast {
    var name: String
    var keeper: Keeper?
    init(name: String) { self.name = name }
    class var originalName: String { "Animal" }
  }

  @Model final class Lynx: Beast {
    var lives = 9
    override init(name: String) { super.init(name: name) }
    override class var originalName: String { "Cat" }
  }

  @Model final class Keeper {
    var name: String
    @Relationship(inverse: \Beast.keeper) var animals: [Beast] = []
    init(name: String) { self.name = name }
  }
}

extension Zoo7.Beast: RenamedModel {}

@Suite("Subclasses that come and go") struct SubclassMigrationTests {
  @Test
  func `a subclass that is added has no rows, and one that is removed takes its rows along`() throws
  {
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

  /// The subclass inherits the conformance, and both were said to claim the superclass's rows.
  @Test func `a class with subclasses is renamed, alone or with them`() throws {
    for isAlone in [true, false] {
      let store = try StoreFile()
      do {
        let context = ModelContext(
          try store.open(Zoo1.Animal.self, Zoo1.Cat.self, Zoo1.Keeper.self))
        let keeper = Zoo1.Keeper(name: "Kim")
        keeper.animals = [Zoo1.Cat(name: "cat"), Zoo1.Animal(name: "animal")]
        context.insert(keeper)
        try context.save()
      }
      if isAlone {
        let container = try store.open(Zoo6.Beast.self, Zoo6.Cat.self, Zoo6.Keeper.self)
        let animals = try ModelContext(container).only(Zoo6.Keeper.self).animals
        #expect(animals.map(\.name) == ["cat", "animal"])
        #expect((animals[0] as? Zoo6.Cat)?.lives == 9)
        #expect(try container.check().isSound)
      } else {
        let container = try store.open(Zoo7.Beast.self, Zoo7.Lynx.self, Zoo7.Keeper.self)
        let animals = try ModelContext(container).only(Zoo7.Keeper.self).animals
        #expect(animals.map(\.name) == ["cat", "animal"])
        #expect((animals[0] as? Zoo7.Lynx)?.lives == 9)
        #expect(try container.check().rowCounts == ["Beast": 1, "Lynx": 1, "Keeper": 1])
      }
    }
  }

  /// Such a migration left the reference without an object: it read as an empty one, and its owner could not be saved.
  @Test func `a subclass to which a required reference leads cannot be removed`() throws {
    let store = try StoreFile()
    do {
      let container = try store.open(Zoo4.Animal.self, Zoo4.Cat.self, Zoo4.Feeding.self)
      let context = ModelContext(container)
      context.insert(Zoo4.Feeding(time: 7, animal: Zoo4.Animal(name: "animal")))
      context.insert(Zoo4.Feeding(time: 8, animal: Zoo4.Cat(name: "cat")))
      try context.save()
    }
    let error = #expect(throws: SwiftDataError.loadIssueModelContainer) {
      try store.open(Zoo5.Animal.self, Zoo5.Feeding.self)
    }
    #expect(error?.message.contains("Feeding.animal") == true)
    #expect(error?.message.contains(": 2") == true)
    do {
      let context = ModelContext(
        try store.open(Zoo4.Animal.self, Zoo4.Cat.self, Zoo4.Feeding.self))
      let feedings = try context.fetch(
        FetchDescriptor<Zoo4.Feeding>(sortBy: [SortDescriptor(\.time)]))
      #expect(feedings.map(\.animal.name) == ["animal", "cat"])
      feedings[1].animal = feedings[0].animal
      try context.save()
    }
    let container = try store.open(Zoo5.Animal.self, Zoo5.Feeding.self)
    let feedings = try ModelContext(container).fetch(FetchDescriptor<Zoo5.Feeding>())
    #expect(feedings.map(\.animal.name) == ["animal", "animal"])
    #expect(try container.check().isSound)
  }
}
