/// Sibling classes with a to-one relationship of one name share its column, and lists over it did not test the class. A
/// list of dogs had cats in it, whose memory was read as that of dogs; deleting an owner deleted them, too; and counts
/// were of both.
@Suite("lists of classes that share a column") struct HierarchyListTests {
  typealias Owner = Kennel.Owner

  private func home(_ place: StorePlace) throws -> TestStore {
    let store = try Kennel.store(place)
    let context = store.context()
    let owner = Owner(name: "Ann")
    context.insert(owner)
    let (dog, cat, bird) = (
      Kennel.Puppy(name: "dog"), Kennel.Cat(name: "cat"), Kennel.Bird(name: "bird")
    )
    context.insertAll(dog, cat, bird)
    dog.bone = "rib"
    cat.claws = 18
    owner.dogs.append(dog)
    owner.cats.append(cat)
    bird.owner = owner
    try context.save()
    return store
  }

  @Test(arguments: StorePlace.allCases)
  func `a list has the objects of its own class only`(_ place: StorePlace) throws {
    let store = try home(place)
    let context = try store.reopened()
    let owner = try context.only(Owner.self)
    #expect(owner.dogs.allSatisfy { type(of: $0 as AnyObject) == Kennel.Puppy.self })
    #expect(owner.dogs.map(\.bone) == ["rib"])
    #expect(owner.cats.map(\.claws) == [18])
    #expect(try context.only(Kennel.Bird.self).owner === owner)
    #expect(
      try context.fetchCount(
        FetchDescriptor<Owner>(predicate: #Predicate { $0.dogs.count == 1 && $0.cats.count == 1 }))
        == 1)
    #expect(
      try context.fetchCount(
        FetchDescriptor<Owner>(predicate: #Predicate { $0.dogs.contains { $0.name == "cat" } }))
        == 0)
    #expect(try store.container.check().isSound)
  }

  @Test(arguments: StorePlace.allCases, [false, true])
  func `an owner takes the objects of the cascading list alone`(
    _ place: StorePlace, isLoaded: Bool
  ) throws {
    let store = try home(place)
    let context = try store.reopened()
    if isLoaded {
      #expect(try context.all(Kennel.Pet.self).count == 3)
      #expect(try context.only(Owner.self).cats.count == 1)
    }
    context.delete(try context.only(Owner.self))
    try context.save()
    let left = try store.reopened()
    #expect(try left.all(Kennel.Pet.self).map(\.name).sorted() == ["bird", "cat"])
    #expect(try left.only(Kennel.Cat.self).owner == nil)
    #expect(try left.only(Kennel.Bird.self).owner == nil)
    #expect(try store.container.check().isSound)
  }

  @Test(arguments: StorePlace.allCases)
  func `a limit counts the members of its own list`(_ place: StorePlace) throws {
    let store = try home(place)
    let context = try store.reopened()
    let owner = try context.only(Owner.self)
    for number in 0..<2 {
      let cat = Kennel.Cat(name: "\(number)")
      context.insert(cat)
      cat.owner = owner
      owner.dogs.append(Kennel.Dog(name: "\(number)"))
    }
    try context.save()
    // A class without the property at that place.
    let bird = Kennel.Bird(name: "new")
    context.insert(bird)
    bird.owner = owner
    try context.save()
    let cat = Kennel.Cat(name: "fourth")
    context.insert(cat)
    cat.owner = owner
    #expect(try refusal(of: context).message.contains("Owner.cats"))
  }

  /// A reference that all classes inherit put every object into the list of one of them.
  @Test(arguments: StorePlace.allCases)
  func `a list of a subclass leaves out other classes that inherit its inverse`(
    _ place: StorePlace
  ) throws {
    let store = try home(place)
    let context = try store.reopened()
    let owner = try context.only(Owner.self)
    let cat = try context.only(Kennel.Cat.self)
    let dog = try context.only(Kennel.Dog.self)
    (cat.sitter, dog.sitter) = (owner, owner)
    cat.walkers.append(owner)
    dog.walkers.append(owner)
    #expect(owner.guests.map(\.name) == ["dog"])
    #expect(owner.walked.map(\.name) == ["dog"])
    try context.save()
    for context in [context, try store.reopened()] {
      let owner = try context.only(Owner.self)
      #expect(owner.guests.map(\.name) == ["dog"])
      #expect(owner.walked.map(\.name) == ["dog"])
      let cat = try context.only(Kennel.Cat.self)
      #expect(cat.sitter === owner)
      #expect(cat.walkers.map(\.name) == ["Ann"])
      #expect(
        try context.fetchCount(
          FetchDescriptor<Owner>(
            predicate: #Predicate { $0.guests.count == 1 && $0.walked.count == 1 })) == 1)
    }
    #expect(try store.container.check().isSound)
    let other = try store.reopened()
    other.delete(try other.only(Owner.self))
    try other.save()
    let left = try store.reopened().only(Kennel.Cat.self)
    #expect(left.sitter == nil && left.walkers.isEmpty)
    #expect(try store.container.check().isSound)
  }

  /// The pairs of cats, whose owners have no list of them, are in the table of the owners' list of dogs. A deletion removed
  /// them with that list, and no context read the cats again.
  @Test(arguments: StorePlace.allCases)
  func `a deleted owner leaves the lists of objects that it had no list of`(_ place: StorePlace)
    throws
  {
    let store = try home(place)
    let contexts = [store.context(), store.context()]
    let owner = try contexts[0].only(Owner.self)
    for pet in try contexts[0].all(Kennel.Pet.self) { pet.walkers.append(owner) }
    try contexts[0].save()
    let cats = try contexts.map { try $0.only(Kennel.Cat.self) }
    #expect(cats.allSatisfy { $0.walkers.map(\.name) == ["Ann"] })
    contexts[0].delete(owner)
    try contexts[0].save()
    for (context, cat) in zip(contexts, cats) {
      #expect(try context.all(Owner.self).isEmpty)
      #expect(cat.walkers.isEmpty)
    }
    #expect(try store.container.check().isSound)
  }

  /// A save that gave an owner a cat took the owner from its dog, whose reference is in the same column.
  @Test(arguments: StorePlace.allCases, [false, true])
  func `a single object of one class leaves that of its siblings`(
    _ place: StorePlace, isBySide: Bool
  ) throws {
    let store = try home(place)
    let writer = try store.reopened()
    try writer.only(Kennel.Dog.self).keeper = try writer.only(Owner.self)
    try writer.save()
    let context = try store.reopened()
    let (owner, cat) = (try context.only(Owner.self), try context.only(Kennel.Cat.self))
    if isBySide { owner.mouser = cat } else { cat.keeper = owner }
    try context.save()
    for context in [context, try store.reopened()] {
      let owner = try context.only(Owner.self)
      #expect(owner.guardDog?.name == "dog" && owner.mouser?.name == "cat")
      #expect(try context.only(Kennel.Dog.self).keeper === owner)
      #expect(try context.only(Kennel.Cat.self).keeper === owner)
    }
    #expect(try store.container.check().isSound)
  }

  @Test func `a list whose inverse cannot lead to all of its owners is refused`() throws {
    let error = #expect(throws: SwiftDataError.self) {
      try TestStore(.memory, Parlour.Poodle.self, Parlour.Groomer.self)
    }
    #expect(error == .invalidInverse)
    #expect(error?.message.contains("Animal.groomers") ?? false)
  }
}
