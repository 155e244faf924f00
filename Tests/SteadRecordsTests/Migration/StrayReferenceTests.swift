import SwiftData
import Testing

/// A required reference to a class in the middle of a hierarchy.
private enum Farm1 {
  @Model class Animal {
    var name: String
    init(name: String) { self.name = name }
  }

  @Model class Mammal: Animal {
    var fur = 1
    override init(name: String) { super.init(name: name) }
  }

  @Model final class Cow: Mammal {
    var milk = 1
    override init(name: String) { super.init(name: name) }
  }

  @Model class Feeding {
    var time: Int
    var animal: Mammal

    init(time: Int, animal: Mammal) {
      self.time = time
      self.animal = animal
    }
  }

  @Model final class NightFeeding: Feeding {
    var lamps = 1
    override init(time: Int, animal: Mammal) { super.init(time: time, animal: animal) }
  }

  static let models: [any PersistentModel.Type] = [
    Animal.self, Mammal.self, Cow.self, Feeding.self, NightFeeding.self,
  ]
}

/// Without cows, and without feedings by night.
private enum Farm2 {
  @Model class Animal {
    var name: String
    init(name: String) { self.name = name }
  }

  @Model final class Mammal: Animal {
    var fur = 1
    override init(name: String) { super.init(name: name) }
  }

  @Model final class Feeding {
    var time: Int
    var animal: Mammal

    init(time: Int, animal: Mammal) {
      self.time = time
      self.animal = animal
    }
  }

  static let models: [any PersistentModel.Type] = [Animal.self, Mammal.self, Feeding.self]
}

/// The same with a reference that has become optional.
private enum Farm3 {
  @Model class Animal {
    var name: String
    init(name: String) { self.name = name }
  }

  @Model final class Mammal: Animal {
    var fur = 1
    override init(name: String) { super.init(name: name) }
  }

  @Model final class Feeding {
    var time: Int
    var animal: Mammal?
    init(time: Int) { self.time = time }
  }

  static let models: [any PersistentModel.Type] = [Animal.self, Mammal.self, Feeding.self]
}

/// The same with a reference that has another name.
private enum Farm4 {
  @Model class Animal {
    var name: String
    init(name: String) { self.name = name }
  }

  @Model final class Mammal: Animal {
    var fur = 1
    override init(name: String) { super.init(name: name) }
  }

  @Model final class Feeding {
    var time: Int
    @Relationship(originalName: "animal") var guest: Mammal

    init(time: Int, guest: Mammal) {
      self.time = time
      self.guest = guest
    }
  }

  static let models: [any PersistentModel.Type] = [Animal.self, Mammal.self, Feeding.self]
}

/// Before, with an optional reference.
private enum Farm0 {
  @Model class Animal {
    var name: String
    init(name: String) { self.name = name }
  }

  @Model class Mammal: Animal {
    var fur = 1
    override init(name: String) { super.init(name: name) }
  }

  @Model final class Cow: Mammal {
    var milk = 1
    override init(name: String) { super.init(name: name) }
  }

  @Model final class Feeding {
    var time: Int
    var animal: Mammal?
    init(time: Int) { self.time = time }
  }

  static let models: [any PersistentModel.Type] = [
    Animal.self, Mammal.self, Cow.self, Feeding.self,
  ]
}

/// A subclass that is removed takes its rows along. A required reference must not be left without an object then, and
/// nothing else may keep the subclass.
@Suite("References to the rows of a subclass that is removed") struct StrayReferenceTests {
  private let store: StoreFile

  init() throws { store = try StoreFile() }

  private func open(_ models: [any PersistentModel.Type]) throws -> ModelContainer {
    try ModelContainer(
      for: Schema(models), configurations: ModelConfiguration(url: store.url))
  }

  /// Feedings by day of a mammal and perhaps of a cow, and perhaps one by night, of a cow.
  private func fill(feedsCow: Bool, feedsByNight: Bool = false) throws {
    let context = ModelContext(try open(Farm1.models))
    context.insert(Farm1.Feeding(time: 1, animal: Farm1.Mammal(name: "goat")))
    if feedsCow { context.insert(Farm1.Feeding(time: 2, animal: Farm1.Cow(name: "cow"))) }
    if feedsByNight { context.insert(Farm1.NightFeeding(time: 3, animal: Farm1.Cow(name: "calf"))) }
    try context.save()
  }

  private func refusal(_ models: [any PersistentModel.Type]) -> String {
    let error = #expect(throws: SwiftDataError.loadIssueModelContainer) { try open(models) }
    return error?.message ?? ""
  }

  @Test func `the class of the reference may be in the middle of the hierarchy`() throws {
    try fill(feedsCow: true)
    let message = refusal(Farm2.models)
    #expect(message.contains("Feeding.animal is required, but these rows lead to"))
    #expect(message.contains("gone: 2."))
    let feedings = try ModelContext(open(Farm1.models)).all(Farm1.Feeding.self)
    #expect(Set(feedings.map(\.animal.name)) == ["goat", "cow"])
  }

  /// Only the rows of classes that stay count.
  @Test func `a reference whose owner is removed, too, keeps no subclass`() throws {
    try fill(feedsCow: false, feedsByNight: true)
    let container = try open(Farm2.models)
    let feeding = try ModelContext(container).only(Farm2.Feeding.self)
    #expect(feeding.animal.name == "goat")
    let check = try container.check()
    #expect(check.isSound, "\(check)")
    #expect(check.rowCounts == ["Animal": 0, "Mammal": 1, "Feeding": 1])
  }

  @Test func `among owners that stay and owners that go, the rows of those that stay are named`()
    throws
  {
    try fill(feedsCow: true, feedsByNight: true)
    #expect(refusal(Farm2.models).contains("gone: 2."))
  }

  @Test func `a reference that has become optional is cleared`() throws {
    try fill(feedsCow: true)
    let container = try open(Farm3.models)
    let feedings = try ModelContext(container).fetch(
      FetchDescriptor<Farm3.Feeding>(sortBy: [SortDescriptor(\.time)]))
    #expect(feedings.map(\.animal?.name) == ["goat", nil])
    #expect(try container.check().isSound)
  }

  @Test func `a reference with another name is found by its old one`() throws {
    try fill(feedsCow: true)
    let message = refusal(Farm4.models)
    #expect(message.contains("Feeding.guest is required"))
    #expect(message.contains("gone: 2."))
  }

  /// Whether or not another row has none, which is refused by itself.
  @Test(arguments: [false, true])
  func `a reference that becomes required leads to no class that is removed`(hasNil: Bool) throws {
    do {
      let context = ModelContext(try open(Farm0.models))
      let (first, second) = (Farm0.Feeding(time: 1), Farm0.Feeding(time: 2))
      context.insert(first)
      context.insert(second)
      if !hasNil { first.animal = Farm0.Mammal(name: "goat") }
      second.animal = Farm0.Cow(name: "cow")
      try context.save()
    }
    #expect(
      refusal(Farm2.models).contains(
        hasNil
          ? "is now required, but these rows have none, or one that no longer exists: 1."
          : "that is gone: 2."))
  }

  @Test func `a subclass that nothing required leads to is removed`() throws {
    try fill(feedsCow: false)
    let container = try open(Farm2.models)
    #expect(try ModelContext(container).only(Farm2.Feeding.self).animal.name == "goat")
    #expect(try container.check().isSound)
  }
}
