import SwiftData

/// What a kennel holds, by the objects' names: the reference of random tests, made from what is documented alone.
struct KennelContent {
  enum Kind: CaseIterable {
    case pet, dog, puppy, cat, bird

    var isDog: Bool { self == .dog || self == .puppy }
    /// Whether the class has the key `ring`.
    var hasRing: Bool { self == .cat || self == .bird }
    var hasOwner: Bool { self != .pet }

    func make(_ name: String) -> Kennel.Pet {
      switch self {
      case .pet: Kennel.Pet(name: name)
      case .dog: Kennel.Dog(name: name)
      case .puppy: Kennel.Puppy(name: name)
      case .cat: Kennel.Cat(name: name)
      case .bird: Kennel.Bird(name: name)
      }
    }

    init(_ pet: AnyObject) {
      self =
        switch pet {
        case is Kennel.Puppy: .puppy
        case is Kennel.Dog: .dog
        case is Kennel.Cat: .cat
        case is Kennel.Bird: .bird
        default: .pet
        }
    }
  }

  struct Pet: Equatable {
    var kind: Kind
    var chip: Int?
    var ring: Int?
    /// Of dogs and cats.
    var size = 0
    /// Of one class alone: bones, months or claws.
    var own = 0
    var owner: String?
    var sitter: String?
    /// Of dogs and cats; an owner has one of each.
    var keeper: String?
    var walkers: Set<String> = []
  }

  var pets: [String: Pet] = [:]
  var owners: Set<String> = []

  /// The pets that an owner has in one of the lists.
  func members(_ isMember: (Pet) -> Bool) -> Set<String> {
    Set(pets.filter { isMember($0.value) }.keys)
  }

  mutating func delete(owner: String) {
    owners.remove(owner)
    for (name, pet) in pets {
      if pet.kind.isDog, pet.owner == owner {
        pets[name] = nil
        continue
      }
      if pet.owner == owner { pets[name]?.owner = nil }
      if pet.sitter == owner { pets[name]?.sitter = nil }
      if pet.keeper == owner { pets[name]?.keeper = nil }
      pets[name]?.walkers.remove(owner)
    }
  }

  /// Leads a dog or a cat to its keeper, whose former one of that kind has none then.
  mutating func keep(_ name: String, by owner: String?) {
    guard let kind = pets[name]?.kind else { return }
    for (other, pet) in pets
    where owner != nil && pet.keeper == owner && pet.kind.isDog == kind.isDog {
      pets[other]?.keeper = nil
    }
    pets[name]?.keeper = owner
  }

  /// Whether the class of another pet keeps a pet from being saved.
  func refuses(_ name: String) -> Bool {
    guard let pet = pets[name] else { return false }
    return pets.contains { other, held in
      other != name && held.kind != pet.kind
        && ((pet.chip != nil && held.chip == pet.chip)
          || (pet.ring != nil && held.ring == pet.ring))
    }
  }
}

extension KennelContent.Pet {
  /// What an object has.
  init(_ pet: Kennel.Pet) {
    self.init(kind: KennelContent.Kind(pet), chip: pet.chip)
    switch pet {
    case let dog as Kennel.Dog:
      (size, owner, keeper) = (dog.size, dog.owner?.name, dog.keeper?.name)
      own = (dog as? Kennel.Puppy)?.months ?? dog.bone.count
    case let cat as Kennel.Cat:
      (size, owner, own, ring) = (cat.size, cat.owner?.name, cat.claws, cat.ring)
      keeper = cat.keeper?.name
    case let bird as Kennel.Bird: (owner, ring) = (Self.present(bird.owner)?.name, bird.ring)
    default: break
    }
    if kind.isDog {
      sitter = pet.sitter?.name
      walkers = Set(pet.walkers.map(\.name))
    } else {
      sitter = Self.present(pet.sitter)?.name
      walkers = Set(pet.walkers.compactMap { Self.present($0)?.name })
    }
  }

  /// A relationship without an inverse leads to a deleted object until the save.
  private static func present(_ owner: Kennel.Owner?) -> Kennel.Owner? {
    owner?.isDeleted == true ? nil : owner
  }

  /// Gives an object the values of its attributes.
  func fill(_ pet: Kennel.Pet) {
    pet.chip = chip
    switch pet {
    case let puppy as Kennel.Puppy: (puppy.size, puppy.months) = (size, own)
    case let dog as Kennel.Dog: (dog.size, dog.bone) = (size, String(repeating: "b", count: own))
    case let cat as Kennel.Cat: (cat.size, cat.claws, cat.ring) = (size, own, ring)
    case let bird as Kennel.Bird: bird.ring = ring
    default: break
    }
  }
}
