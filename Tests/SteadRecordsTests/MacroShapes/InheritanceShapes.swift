import SwiftData
import Testing

@Model class AnimalShape {
  var name: String
  var home: AnimalShape?
  init(name: String) { self.name = name }
  func speak() -> String { "" }
}

@available(iOS 26, macOS 26, *)
@Model class DogShape: AnimalShape {
  var tricks: [String] = []
  override init(name: String) { super.init(name: name) }
  override func speak() -> String { "wuff" }
}

@available(iOS 26, macOS 26, *)
@Model final class PuppyShape: DogShape, CustomStringConvertible {
  var age: Int
  var mother: DogShape?
  var description: String { name }
  init(name: String, age: Int) {
    self.age = age
    super.init(name: name)
  }
}

@Model final class EmptyChildShape: AnimalShape {
  override init(name: String) { super.init(name: name) }
}

/// Its child is in another file, where this property isn't visible.
@Model class NamesakeBase {
  private var note = "private"
  init() {}
}

/// Models below other models.
@Suite struct InheritanceShapes {
  @Test func `inherited properties are stored`() throws {
    let model = PuppyShape(name: "Rex", age: 1)
    model.tricks = ["sit"]
    model.mother = DogShape(name: "Luna")
    try reread(model, alongside: AnimalShape.self, DogShape.self) { twin in
      #expect(twin.name == "Rex" && twin.age == 1 && twin.tricks == ["sit"])
      #expect(twin.mother?.name == "Luna")
      #expect(twin.speak() == "wuff" && "\(twin)" == "Rex")
    }
  }

  @Test func `indices follow those of the superclass`() {
    #expect(AnimalShape._$propertyCount == 2)
    #expect(DogShape._$propertyCount == 3)
    #expect(PuppyShape._$propertyCount == 5)
    #expect(EmptyChildShape._$propertyCount == 2)
    #expect(PuppyShape.schemaMetadata.map(\.name) == ["age", "mother", "_$inherited"])
    #expect(PuppyShape._$supermodel == DogShape.self)
    #expect(AnimalShape._$supermodel == nil)
  }

  @Test func `a fetch of the superclass finds the subclass`() throws {
    let container = try ModelContainer(
      for: AnimalShape.self, DogShape.self, EmptyChildShape.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    context.insert(DogShape(name: "dog"))
    context.insert(EmptyChildShape(name: "empty"))
    context.insert(AnimalShape(name: "animal"))
    try context.save()
    let reader = ModelContext(container)
    let animals = try reader.fetch(FetchDescriptor<AnimalShape>())
    #expect(Set(animals.map(\.name)) == ["dog", "empty", "animal"])
    #expect(animals.contains { $0 is DogShape })
    #expect(animals.contains { $0 is EmptyChildShape })
  }
}
