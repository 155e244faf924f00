/// Inserting an object with the unique key of a row of another class updated that row: the save succeeded, and the object
/// was gone, or written into another class's columns.
@Suite("unique keys of a class hierarchy") struct HierarchyKeyTests {
  /// Objects that share a key; the keys of siblings are declared at different places.
  enum Pair: CaseIterable, CustomTestStringConvertible {
    case siblings, superclass, subclass, ownKeys

    var testDescription: String { "\(self)" }

    var objects: (Kennel.Pet, Kennel.Pet) {
      let (first, second): (Kennel.Pet, Kennel.Pet) =
        switch self {
        case .siblings: (Kennel.Dog(name: "one"), Kennel.Cat(name: "two"))
        case .superclass: (Kennel.Dog(name: "one"), Kennel.Pet(name: "two"))
        case .subclass: (Kennel.Dog(name: "one"), Kennel.Puppy(name: "two"))
        case .ownKeys: (Kennel.Cat(name: "one"), Kennel.Bird(name: "two"))
        }
      if self == .ownKeys {
        (first as? Kennel.Cat)?.ring = 7
        (second as? Kennel.Bird)?.ring = 7
      } else {
        (first.chip, second.chip) = (7, 7)
      }
      return (first, second)
    }
  }

  @Test(arguments: Pair.allCases, [false, true])
  func `an object does not take the row of another class`(_ pair: Pair, isLoaded: Bool) throws {
    let store = try Kennel.store()
    let (first, second) = pair.objects
    let writer = store.context()
    writer.insert(first)
    try writer.save()
    let context = try store.reopened()
    let loaded = isLoaded ? try context.all(Kennel.Pet.self) : []
    context.insert(second)
    let error = try refusal(of: context)
    #expect(error == .modelValidationFailure)
    for object in [first, second] {
      #expect(error.message.contains("\(type(of: object as AnyObject))"), "\(error.message)")
    }
    #expect(!error.message.contains("7"))
    #expect(loaded.allSatisfy { $0.name == "one" })
    #expect(try store.context().all(Kennel.Pet.self).map(\.name) == ["one"])
    // With another key both are saved.
    second.chip = 8
    (second as? Kennel.Bird)?.ring = 8
    try context.save()
    let names = try store.reopened().all(Kennel.Pet.self).map { "\(type(of: $0)) \($0.name)" }
    #expect(names.sorted() == [first, second].map { "\(type(of: $0)) \($0.name)" }.sorted())
  }

  @Test(arguments: Pair.allCases)
  func `two new objects of two classes do not become one`(_ pair: Pair) throws {
    let store = try Kennel.store()
    let context = store.context()
    let (first, second) = pair.objects
    context.insertAll(first, second)
    let error = try refusal(of: context)
    #expect(error == .modelValidationFailure)
    #expect(first.name == "one" && second.name == "two" && first !== second)
    #expect(try store.context().all(Kennel.Pet.self).isEmpty)
    context.delete(first)
    try context.save()
    #expect(try store.context().all(Kennel.Pet.self).map(\.name) == ["two"])
  }

  @Test(arguments: Pair.allCases)
  func `an object does not join a changed object of another class`(_ pair: Pair) throws {
    let store = try Kennel.store()
    let context = store.context()
    let (first, second) = pair.objects
    let ring = (first as? Kennel.Cat)?.ring
    first.chip = nil
    (first as? Kennel.Cat)?.ring = nil
    context.insert(first)
    try context.save()
    if ring == nil { first.chip = 7 } else { (first as? Kennel.Cat)?.ring = ring }
    context.insert(second)
    #expect(try refusal(of: context) == .modelValidationFailure)
    #expect(try store.context().all(Kennel.Pet.self).map(\.chip) == [nil])
  }

  @Test(arguments: Pair.allCases, [false, true])
  func `the key of a deleted or changed object is free for another class at once`(
    _ pair: Pair, isDeleted: Bool
  ) throws {
    let store = try Kennel.store()
    let context = store.context()
    let (first, second) = pair.objects
    context.insert(first)
    try context.save()
    if isDeleted {
      context.delete(first)
    } else {
      first.chip = 9
      (first as? Kennel.Cat)?.ring = 9
    }
    context.insert(second)
    try context.save()
    let left = try store.reopened().all(Kennel.Pet.self).map(\.name).sorted()
    #expect(left == (isDeleted ? ["two"] : ["one", "two"]))
    #expect(try store.container.check().isSound)
  }

  @Test func `an object of the same class updates its row`() throws {
    let store = try Kennel.store()
    let context = store.context()
    for name in ["one", "two"] {
      let cat = Kennel.Cat(name: name)
      context.insert(cat)
      (cat.chip, cat.ring) = (7, 3)
      try context.save()
    }
    #expect(try store.reopened().only(Kennel.Cat.self).name == "two")
  }
}
