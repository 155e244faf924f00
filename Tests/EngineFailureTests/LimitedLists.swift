import SwiftData

@Model class Individual {
  var number: Int
  init(number: Int) { self.number = number }
}

@Model class Patient: Individual {
  var ward: Ward?
  override init(number: Int) { super.init(number: number) }
}

@Model final class Infant: Patient {
  override init(number: Int) { super.init(number: number) }
}

@Model final class Expert: Individual {
  var panels: [Panel] = []
  override init(number: Int) { super.init(number: number) }
}

/// Has one or two patients, who are individuals of one of two classes.
@Model class Ward {
  var number: Int
  @Relationship(minimumModelCount: 1, maximumModelCount: 2, inverse: \Patient.ward)
  var patients: [Patient] = []
  init(number: Int) { self.number = number }
}

/// Inherits its list.
@Model final class Clinic: Ward {
  override init(number: Int) { super.init(number: number) }
}

/// Has one or two experts, who have several panels.
@Model final class Panel {
  var number: Int
  @Relationship(minimumModelCount: 1, maximumModelCount: 2, inverse: \Expert.panels)
  var experts: [Expert] = []
  init(number: Int) { self.number = number }
}

/// Has one or two patients, who don't know of it.
@Model final class Trip {
  var number: Int
  @Relationship(minimumModelCount: 1, maximumModelCount: 2) var riders: [Patient] = []
  init(number: Int) { self.number = number }
}

@Model final class Shelf {
  var number: Int
  @Relationship(minimumModelCount: 1, maximumModelCount: 2, inverse: \Tome.shelves)
  var tomes: [Tome] = []
  init(number: Int) { self.number = number }
}

@Model final class Tome {
  var number: Int
  var shelves: [Shelf] = []
  init(number: Int) { self.number = number }
}

/// A class of objects with a limited list, and the class of the list's members.
struct LimitedList<Owner: PersistentModel, Member: PersistentModel> {
  let limits: ClosedRange<Int>
  let makeOwner: (Int) -> Owner
  let makeMember: (Int) -> Member
  let ownerNumber: KeyPath<Owner, Int>
  let memberNumber: KeyPath<Member, Int>
  let list: ReferenceWritableKeyPath<Owner, [Member]>
  let otherSide: OtherSide
  let owner: (Int) -> Predicate<Owner>
  let members: ([Int]) -> Predicate<Member>

  enum OtherSide {
    case none
    case reference(ReferenceWritableKeyPath<Member, Owner?>)
    case list(ReferenceWritableKeyPath<Member, [Owner]>)
  }

  var isReference: Bool { if case .reference = otherSide { true } else { false } }
}

extension LimitedList where Owner == Crew, Member == Sailor {
  static var ofReference: Self {
    Self(
      limits: 1...3, makeOwner: Crew.init, makeMember: Sailor.init, ownerNumber: \.number,
      memberNumber: \.number, list: \.sailors, otherSide: .reference(\.crew),
      owner: { number in #Predicate { $0.number == number } },
      members: { numbers in #Predicate { numbers.contains($0.number) } })
  }
}

extension LimitedList where Owner == Shelf, Member == Tome {
  static var ofPairs: Self {
    Self(
      limits: 1...2, makeOwner: Shelf.init, makeMember: Tome.init, ownerNumber: \.number,
      memberNumber: \.number, list: \.tomes, otherSide: .list(\.shelves),
      owner: { number in #Predicate { $0.number == number } },
      members: { numbers in #Predicate { numbers.contains($0.number) } })
  }
}

extension LimitedList where Owner == Ward, Member == Patient {
  static var ofSubclasses: Self {
    Self(
      limits: 1...2,
      makeOwner: { $0.isMultiple(of: 2) ? Clinic(number: $0) : Ward(number: $0) },
      makeMember: { $0.isMultiple(of: 2) ? Infant(number: $0) : Patient(number: $0) },
      ownerNumber: \.number, memberNumber: \.number, list: \.patients,
      otherSide: .reference(\.ward), owner: { number in #Predicate { $0.number == number } },
      members: { numbers in #Predicate { numbers.contains($0.number) } })
  }
}

extension LimitedList where Owner == Panel, Member == Expert {
  static var ofSubclassPairs: Self {
    Self(
      limits: 1...2, makeOwner: Panel.init, makeMember: Expert.init, ownerNumber: \.number,
      memberNumber: \.number, list: \.experts, otherSide: .list(\.panels),
      owner: { number in #Predicate { $0.number == number } },
      members: { numbers in #Predicate { numbers.contains($0.number) } })
  }
}

extension LimitedList where Owner == Trip, Member == Patient {
  static var oneWay: Self {
    Self(
      limits: 1...2, makeOwner: Trip.init,
      makeMember: { $0.isMultiple(of: 2) ? Infant(number: $0) : Patient(number: $0) },
      ownerNumber: \.number, memberNumber: \.number, list: \.riders, otherSide: .none,
      owner: { number in #Predicate { $0.number == number } },
      members: { numbers in #Predicate { numbers.contains($0.number) } })
  }
}
