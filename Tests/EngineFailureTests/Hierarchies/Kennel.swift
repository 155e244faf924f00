import SwiftData

/// One hierarchy in one table: siblings share the columns of attributes, keys and references of one name, and an owner's
/// lists have objects of some of the classes that lead to it.
enum Kennel {
  @Model class Pet {
    var name: String
    @Attribute(.unique) var chip: Int?
    /// Of all pets; only dogs are in the list of their sitter.
    var sitter: Owner?
    var walkers: [Owner] = []

    init(name: String) { self.name = name }
  }

  @Model class Dog: Pet {
    var bone = ""
    var size = 0
    var owner: Owner?
    var keeper: Owner?

    override init(name: String) { super.init(name: name) }
  }

  @Model final class Puppy: Dog {
    var months = 0

    override init(name: String) { super.init(name: name) }
  }

  @Model final class Cat: Pet {
    var claws = 0
    @Attribute(.unique) var ring: Int?
    var size = 0
    var owner: Owner?
    var keeper: Owner?

    override init(name: String) { super.init(name: name) }
  }

  /// Leads to an owner that has no list of birds.
  @Model final class Bird: Pet {
    @Attribute(.unique) var ring: Int?
    var owner: Owner?

    override init(name: String) { super.init(name: name) }
  }

  @Model final class Owner {
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \Dog.owner) var dogs: [Dog] = []
    @Relationship(maximumModelCount: 3, inverse: \Cat.owner) var cats: [Cat] = []
    @Relationship(inverse: \Pet.sitter) var guests: [Dog] = []
    @Relationship(inverse: \Pet.walkers) var walked: [Dog] = []
    @Relationship(inverse: \Dog.keeper) var guardDog: Dog?
    @Relationship(inverse: \Cat.keeper) var mouser: Cat?

    init(name: String) { self.name = name }
  }

  static func store(_ place: StorePlace = .file) throws -> TestStore {
    try TestStore(place, Puppy.self, Cat.self, Bird.self, Owner.self)
  }
}

/// An object without stored values of its own leads back from a list of all animals.
enum Parlour {
  @Model class Animal {
    var groomers: [Groomer] = []
    init() {}
  }

  @Model final class Poodle: Animal {
    override init() { super.init() }
  }

  @Model final class Groomer {
    @Relationship(inverse: \Animal.groomers) var favourite: Poodle?
    init() {}
  }
}
