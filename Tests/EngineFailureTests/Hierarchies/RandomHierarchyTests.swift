import SwiftData

/// Random inserts, edits, links and deletions over a class hierarchy in one table, by two contexts in turn.
@Suite("random objects of a class hierarchy") struct RandomHierarchyTests {
  @Test func `objects of each class are in their own lists and results`() async throws {
    var refusals = 0
    for seed in 1...UInt64(Effort.times(8)) {
      var trial = try Trial(seed)
      for _ in 0..<12 {
        try trial.turn()
        await Task.yield()
      }
      refusals += trial.refusals
    }
    #expect(refusals > 0)
  }
}

/// One store, two contexts on it, and what they should show.
private struct Trial {
  private typealias Kind = KennelContent.Kind

  private let seed: UInt64
  private var random: SplitMix
  private let store: TestStore
  private var contexts: [ModelContext]
  private var content = KennelContent()
  private var saved = KennelContent()
  private var count = 0
  private(set) var refusals = 0
  private var steps: [String] = []

  init(_ seed: UInt64) throws {
    self.seed = seed
    random = SplitMix(seed: seed)
    store = try Kennel.store(seed % 2 == 0 ? .file : .memory)
    contexts = [store.context(), store.context()]
  }

  private mutating func chance(_ of: Int) -> Bool { Int.random(in: 0..<of, using: &random) == 0 }

  /// Some steps of one context, and a save.
  mutating func turn() throws {
    steps = []
    if chance(5) { contexts[Int.random(in: 0..<2, using: &random)] = try store.reopened() }
    let context = contexts[Int.random(in: 0..<2, using: &random)]
    if content.owners.isEmpty {
      for name in ["a", "b"] {
        context.insert(Kennel.Owner(name: name))
        content.owners.insert(name)
      }
      for _ in 0..<6 { insert(into: context) }
    }
    for _ in 0..<Int.random(in: 1...8, using: &random) { try step(context) }
    if chance(2) { try check(context, "before the save") }
    let isRefused = content.pets.keys.contains { content.refuses($0) }
    do {
      try context.save()
      #expect(!isRefused, "a key of another class was taken; seed \(seed) \(steps)")
      saved = content
    } catch let error as SwiftDataError {
      #expect(
        isRefused && error == .modelValidationFailure, "\(error.message) seed \(seed) \(steps)")
      refusals += 1
      context.rollback()
      content = saved
    }
    for (number, context) in contexts.enumerated() { try check(context, "by context \(number)") }
  }

  // MARK: Steps

  private mutating func step(_ context: ModelContext) throws {
    let owners = try Dictionary(
      uniqueKeysWithValues: context.all(Kennel.Owner.self).map { ($0.name, $0) })
    let pets = try Dictionary(
      uniqueKeysWithValues: context.all(Kennel.Pet.self).map { ($0.name, $0) })
    let owner = owners.keys.sorted().randomElement(using: &random).flatMap { owners[$0] }
    let pet = pets.keys.sorted().randomElement(using: &random).flatMap { pets[$0] }
    switch Int.random(in: 0..<14, using: &random) {
    case 0..<3: insert(into: context)
    case 3 where owners.count < 4:
      count += 1
      steps.append("insert owner o\(count)")
      context.insert(Kennel.Owner(name: "o\(count)"))
      content.owners.insert("o\(count)")
    case 4: if let pet { edit(pet) }
    case 5...7: if let pet { lead(pet, to: chance(4) ? nil : owner) }
    case 8: if let pet { sit(pet, at: chance(4) ? nil : owner) }
    case 9: if let pet, let owner { walk(pet, by: owner) }
    case 10:
      if let pet {
        steps.append("delete \(pet.name)")
        content.pets[pet.name] = nil
        context.delete(pet)
      }
    case 12...: if let pet { keep(pet, by: chance(4) ? nil : owner) }
    case 11 where chance(2):
      if let owner {
        steps.append("delete \(owner.name)")
        content.delete(owner: owner.name)
        context.delete(owner)
      }
    default: break
    }
  }

  private mutating func insert(into context: ModelContext) {
    count += 1
    let kind = Kind.allCases.randomElement(using: &random) ?? .pet
    var pet = KennelContent.Pet(kind: kind)
    pet.chip = key(kind, \.chip)
    if kind.hasRing { pet.ring = key(kind, \.ring) }
    if kind.isDog || kind == .cat { pet.size = Int.random(in: 0..<4, using: &random) }
    let object = kind.make("p\(count)")
    pet.fill(object)
    steps.append("insert \(kind) p\(count) chip \(pet.chip ?? 0) ring \(pet.ring ?? 0)")
    context.insert(object)
    content.pets["p\(count)"] = pet
  }

  /// A key that no object of the class has; those of other classes are refused.
  private mutating func key(
    _ kind: Kind, _ path: KeyPath<KennelContent.Pet, Int?>
  ) -> Int? {
    guard chance(2) else { return nil }
    let pets = Array(content.pets.values) + Array(saved.pets.values)
    let taken = Set(pets.filter { $0.kind == kind || !chance(8) }.compactMap { $0[keyPath: path] })
    return (1..<1_000).first { !taken.contains($0) }
  }

  private mutating func edit(_ pet: Kennel.Pet) {
    guard var values = content.pets[pet.name] else { return }
    if values.kind.isDog || values.kind == .cat {
      (values.size, values.own) = (values.size + 1, (values.own + 1) % 5)
    }
    steps.append("edit \(pet.name)")
    values.fill(pet)
    content.pets[pet.name] = values
  }

  /// Leads a pet to an owner, from either side.
  private mutating func lead(_ pet: Kennel.Pet, to owner: Kennel.Owner?) {
    guard let values = content.pets[pet.name], values.kind.hasOwner else { return }
    if values.kind == .cat, let owner {
      // The list has a limit.
      let cats = content.members { $0.kind == .cat && $0.owner == owner.name }
      guard cats.count < 3 || cats.contains(pet.name) else { return }
    }
    let isBySide = chance(2)
    steps.append("\(pet.name) to \(owner?.name ?? "none")\(isBySide ? " by the list" : "")")
    content.pets[pet.name]?.owner = owner?.name
    switch pet {
    case let dog as Kennel.Dog:
      if !isBySide {
        dog.owner = owner
      } else if let owner {
        if !owner.dogs.contains(dog) { owner.dogs.append(dog) }
      } else {
        dog.owner?.dogs.removeAll { $0 === dog }
      }
    case let cat as Kennel.Cat:
      if !isBySide {
        cat.owner = owner
      } else if let owner {
        owner.cats = owner.cats.filter { $0 !== cat } + [cat]
      } else {
        cat.owner?.cats.removeAll { $0 === cat }
      }
    case let bird as Kennel.Bird: bird.owner = owner
    default: break
    }
  }

  private mutating func keep(_ pet: Kennel.Pet, by owner: Kennel.Owner?) {
    let isBySide = chance(2)
    switch pet {
    case let dog as Kennel.Dog:
      if isBySide, let owner { owner.guardDog = dog } else { dog.keeper = owner }
    case let cat as Kennel.Cat:
      if isBySide, let owner { owner.mouser = cat } else { cat.keeper = owner }
    default: return
    }
    steps.append("\(pet.name) kept by \(owner?.name ?? "none")\(isBySide ? " by its side" : "")")
    content.keep(pet.name, by: owner?.name)
  }

  private mutating func sit(_ pet: Kennel.Pet, at owner: Kennel.Owner?) {
    steps.append("\(pet.name) sits at \(owner?.name ?? "none")")
    content.pets[pet.name]?.sitter = owner?.name
    if let dog = pet as? Kennel.Dog, let owner, chance(2) {
      if !owner.guests.contains(dog) { owner.guests.append(dog) }
    } else {
      pet.sitter = owner
    }
  }

  private mutating func walk(_ pet: Kennel.Pet, by owner: Kennel.Owner) {
    let isAdded = content.pets[pet.name]?.walkers.contains(owner.name) == false
    steps.append("\(pet.name) \(isAdded ? "walks" : "does not walk") with \(owner.name)")
    if isAdded {
      content.pets[pet.name]?.walkers.insert(owner.name)
    } else {
      content.pets[pet.name]?.walkers.remove(owner.name)
    }
    if let dog = pet as? Kennel.Dog, chance(2) {
      if isAdded { owner.walked.append(dog) } else { owner.walked.removeAll { $0 === dog } }
    } else if isAdded {
      pet.walkers.append(owner)
    } else {
      pet.walkers.removeAll { $0 === owner }
    }
  }

  // MARK: Checks

  private func check(_ context: ModelContext, _ moment: String) throws {
    let comment: Comment = "seed \(seed) \(moment) \(steps)"
    let pets = try context.all(Kennel.Pet.self)
    #expect(
      Dictionary(uniqueKeysWithValues: pets.map { ($0.name, KennelContent.Pet($0)) })
        == content.pets, comment)
    for owner in try context.all(Kennel.Owner.self) {
      let name = owner.name
      try check(owner.dogs, content.members { $0.kind.isDog && $0.owner == name }, comment)
      try check(owner.cats, content.members { $0.kind == .cat && $0.owner == name }, comment)
      try check(owner.guests, content.members { $0.kind.isDog && $0.sitter == name }, comment)
      let kept = content.pets.filter { $0.value.keeper == name }
      #expect(owner.guardDog?.name == kept.first { $0.value.kind.isDog }?.key, comment)
      #expect(owner.mouser?.name == kept.first { $0.value.kind == .cat }?.key, comment)
      try check(
        owner.walked, content.members { $0.kind.isDog && $0.walkers.contains(name) }, comment)
    }
    try checkClasses(context, comment)
    try checkPredicates(context, comment)
  }

  /// The class of an object in a typed array is asked of the object itself, since it may not be that of the array.
  private func check<T: Kennel.Pet>(
    _ list: [T], _ expected: Set<String>, _ comment: Comment
  ) throws {
    let objects = list.map { $0 as AnyObject }
    try #require(
      objects.allSatisfy { KennelContent.Kind($0) == .cat } == (T.self == Kennel.Cat.self)
        || objects.isEmpty, comment)
    #expect(list.count == expected.count && Set(list.map(\.name)) == expected, comment)
  }

  private func checkClasses(_ context: ModelContext, _ comment: Comment) throws {
    func names<T: Kennel.Pet>(_ type: T.Type) throws -> Set<String> {
      Set(try context.all(type).map(\.name))
    }
    #expect(try names(Kennel.Dog.self) == content.members { $0.kind.isDog }, comment)
    #expect(try names(Kennel.Puppy.self) == content.members { $0.kind == .puppy }, comment)
    #expect(try names(Kennel.Cat.self) == content.members { $0.kind == .cat }, comment)
    #expect(
      try context.count(Kennel.Bird.self) == content.members { $0.kind == .bird }.count, comment)
  }

  private func checkPredicates(_ context: ModelContext, _ comment: Comment) throws {
    func owners(_ predicate: Predicate<Kennel.Owner>) throws -> Set<String> {
      Set(try context.fetch(FetchDescriptor(predicate: predicate)).map(\.name))
    }
    func expected(_ count: (String) -> Bool) -> Set<String> { content.owners.filter(count) }
    let (one, size) = (1, 2)
    #expect(
      try owners(#Predicate { $0.dogs.count == one })
        == expected { name in content.members { $0.kind.isDog && $0.owner == name }.count == 1 },
      comment)
    #expect(
      try owners(#Predicate { $0.cats.contains { $0.size == size } })
        == expected { name in
          !content.members { $0.kind == .cat && $0.owner == name && $0.size == 2 }.isEmpty
        }, comment)
    #expect(
      try owners(#Predicate { $0.guests.count > $0.walked.count })
        == expected { name in
          content.members { $0.kind.isDog && $0.sitter == name }.count
            > content.members { $0.kind.isDog && $0.walkers.contains(name) }.count
        }, comment)
    let dogs = FetchDescriptor<Kennel.Pet>(predicate: #Predicate { $0 is Kennel.Dog })
    #expect(
      try Set(context.fetch(dogs).map(\.name)) == content.members { $0.kind.isDog }, comment)
    let cats = FetchDescriptor<Kennel.Cat>(predicate: #Predicate { $0.size == size })
    #expect(
      try Set(context.fetch(cats).map(\.name))
        == content.members { $0.kind == .cat && $0.size == 2 }, comment)
  }
}
