import Foundation
import SwiftData
import Testing

@Suite("relationships and delete rules") struct RelationshipTests {
  @Test(arguments: StorePlace.allCases)
  func `R1 one optional candidate is taken as the inverse`(_ place: StorePlace) throws {
    let store = try TestStore(place, Album.self, Track.self)
    let context = store.context()
    let album = Album(title: "One")
    context.insert(album)
    let track = Track(title: "a")
    context.insert(track)
    track.album = album
    #expect(album.tracks.first === track)
    album.tracks.append(Track(title: "b"))
    try context.save()
    let relationship = try #require(
      store.schema.entitiesByName["Album"]?.relationshipsByName["tracks"])
    #expect(relationship.inverseName == "album")
    #expect(try store.reopened().only(Album.self).tracks.map(\.title) == ["a", "b"])
  }

  @Test(arguments: StorePlace.allCases)
  func `R1 a many-to-many inverse is not inferred`(_ place: StorePlace) throws {
    let store = try TestStore(place, Pupil.self, Course.self)
    let context = store.context()
    let ann = Pupil(name: "Ann")
    let swift = Course(name: "Swift")
    context.insert(ann)
    context.insert(swift)
    ann.courses.append(swift)
    #expect(swift.pupils.isEmpty)
    try context.save()
    let reader = try store.reopened()
    #expect(try reader.only(Pupil.self).courses.map(\.name) == ["Swift"])
    #expect(try reader.only(Course.self).pupils.isEmpty)
  }

  @Test(arguments: StorePlace.allCases)
  func `R1 an ambiguous inverse is none: each side is one-way`(_ place: StorePlace) throws {
    let store = try TestStore(place, Flight.self, Airport.self)
    let relationships = store.schema.entities.flatMap { Array($0.relationships) }
    #expect(relationships.count == 3)
    #expect(relationships.allSatisfy { $0.inverseName == nil })
    let context = store.context()
    let flight = Flight()
    let airport = Airport()
    context.insert(flight)
    context.insert(airport)
    flight.origin = airport
    #expect(airport.flights.isEmpty)
    airport.flights.append(flight)
    #expect(flight.destination == nil)
    try context.save()
    let reader = try store.reopened()
    #expect(try reader.only(Flight.self).origin != nil)
    #expect(try reader.only(Airport.self).flights.count == 1)
  }

  @Test(arguments: StorePlace.allCases)
  func `R2 naming the inverse on one side is enough`(_ place: StorePlace) throws {
    let store = try TestStore.clubs(place)
    let entities = store.schema.entitiesByName
    #expect(entities["Member"]?.relationshipsByName["club"]?.inverseName == "members")
    #expect(entities["Skill"]?.relationshipsByName["holders"]?.inverseName == "skills")
    let context = store.context()
    let skill = Skill(title: "endings")
    context.insert(skill)
    let ann = Member(name: "Ann")
    skill.holders.append(ann)
    #expect(ann.skills.first === skill)
    try context.save()
    #expect(try store.reopened().only(Member.self).skills.map(\.title) == ["endings"])
  }

  @Test(arguments: StorePlace.allCases)
  func `R3 a to-many relationship keeps its order and has no duplicates`(_ place: StorePlace) throws
  {
    let store = try TestStore.clubs(place)
    let context = store.context()
    let club = Club(name: "Chess")
    context.insert(club)
    let members = ["d", "b", "a", "c"].map { Member(name: $0) }
    club.members = members + [members[0]]
    #expect(club.members.map(\.name) == ["d", "b", "a", "c"])
    club.members.append(members[1])
    #expect(club.members.count == 4)
    try context.save()
    #expect(try store.reopened().only(Club.self).members.map(\.name) == ["d", "b", "a", "c"])
    club.members.swapAt(0, 3)
    club.members.insert(Member(name: "e"), at: 1)
    try context.save()
    #expect(club.members.map(\.name) == ["c", "e", "b", "a", "d"])
    #expect(try store.reopened().only(Club.self).members.map(\.name) == ["c", "e", "b", "a", "d"])
    club.members.remove(at: 2)
    club.members.append(Member(name: "f"))
    try context.save()
    #expect(try store.reopened().only(Club.self).members.map(\.name) == ["c", "e", "a", "d", "f"])
  }

  @Test(arguments: StorePlace.allCases)
  func `R3 many-to-many keeps the order of either side`(_ place: StorePlace) throws {
    let store = try TestStore.clubs(place)
    let context = store.context()
    let skills = ["z", "y", "x"].map { Skill(title: $0) }
    let ann = Member(name: "Ann")
    ann.skills = skills
    context.insert(ann)
    let bob = Member(name: "Bob")
    bob.skills = skills.reversed()
    context.insert(bob)
    try context.save()
    ann.skills.swapAt(0, 2)
    try context.save()
    let reader = try store.reopened()
    let members = try reader.fetch(FetchDescriptor<Member>(sortBy: [SortDescriptor(\.name)]))
    #expect(members[0].skills.map(\.title) == ["x", "y", "z"])
    #expect(members[1].skills.map(\.title) == ["x", "y", "z"])
    let held = try reader.fetch(FetchDescriptor<Skill>(sortBy: [SortDescriptor(\.title)]))
    #expect(held.map { $0.holders.map(\.name) } == Array(repeating: ["Ann", "Bob"], count: 3))
  }

  @Test(arguments: StorePlace.allCases)
  func `R3 a to-many relationship may be optional`(_ place: StorePlace) throws {
    let store = try TestStore.owners(place)
    let context = store.context()
    let ann = Owner(name: "Ann")
    ann.letters = nil
    context.insert(ann)
    try context.save()
    #expect(ann.letters?.isEmpty != false)
    ann.letters = [Letter(text: "a")]
    ann.letters?.append(Letter(text: "b"))
    try context.save()
    #expect(ann.letters?.first?.owner === ann)
    #expect(try store.reopened().only(Owner.self).letters?.map(\.text) == ["a", "b"])
    ann.letters = nil
    try context.save()
    #expect(try store.reopened().only(Owner.self).letters?.isEmpty != false)
    #expect(try store.reopened().all(Letter.self).allSatisfy { $0.owner == nil })
  }

  @Test(arguments: StorePlace.allCases)
  func `R4 nullify clears the reference to what was deleted`(_ place: StorePlace) throws {
    let store = try TestStore.owners(place)
    let context = store.context()
    let ann = Owner(name: "Ann")
    ann.pets = [Pet(name: "Rex"), Pet(name: "Tom")]
    context.insert(ann)
    try context.save()

    let other = store.context()
    other.delete(try other.only(Owner.self))
    try other.save()
    let pets = try other.all(Pet.self)
    #expect(pets.map(\.name).sorted() == ["Rex", "Tom"])
    #expect(pets.allSatisfy { $0.owner == nil })
    #expect(try store.reopened().all(Pet.self).allSatisfy { $0.owner == nil })
  }

  @Test(arguments: StorePlace.allCases)
  func `R4 deleting a child takes it out of the parent's relationship`(_ place: StorePlace) throws {
    let store = try TestStore.clubs(place)
    let context = store.context()
    let club = Club(name: "Chess")
    let (ann, bob) = (Member(name: "Ann", club: club), Member(name: "Bob", club: club))
    let skill = Skill(title: "endings")
    ann.skills = [skill]
    bob.skills = [skill]
    context.insert(ann)
    context.insert(bob)
    try context.save()
    context.delete(ann)
    try context.save()
    #expect(club.members.map(\.name) == ["Bob"])
    #expect(skill.holders.map(\.name) == ["Bob"])
    let reader = try store.reopened()
    #expect(try reader.only(Club.self).members.map(\.name) == ["Bob"])
    #expect(try reader.only(Skill.self).holders.map(\.name) == ["Bob"])
    context.delete(skill)
    try context.save()
    #expect(bob.skills.isEmpty)
    #expect(try store.reopened().only(Member.self).skills.isEmpty)
  }

  @Test(arguments: StorePlace.allCases)
  func `R6 deny refuses the save while children exist`(_ place: StorePlace) throws {
    let store = try TestStore.owners(place)
    let context = store.context()
    let ann = Owner(name: "Ann")
    let debt = Debt(amount: 5)
    ann.debts = [debt]
    context.insert(ann)
    try context.save()

    context.delete(ann)
    let error = #expect(throws: SwiftDataError.deletionDenied) { try context.save() }
    // It named neither the owner nor the debt, and a single one as "1 objects".
    #expect(
      error?.message
        == "The Owner of row 1 cannot be deleted while its debts holds 1 object, the Debt of row 1. Delete or move it first."
    )
    #expect(try store.reopened().count(Owner.self) == 1)
    context.delete(debt)
    try context.save()
    #expect(try store.reopened().count(Owner.self) == 0)
    #expect(try store.reopened().count(Debt.self) == 0)
  }

  @Test(arguments: StorePlace.allCases)
  func `R6 deny lets go when the child moved away`(_ place: StorePlace) throws {
    let store = try TestStore.owners(place)
    let context = store.context()
    let (ann, bob) = (Owner(name: "Ann"), Owner(name: "Bob"))
    let debt = Debt(amount: 5)
    ann.debts = [debt]
    context.insert(ann)
    context.insert(bob)
    try context.save()
    context.delete(ann)
    #expect(throws: SwiftDataError.deletionDenied) { try context.save() }
    context.rollback()
    #expect(ann.debts.count == 1)
    debt.owner = bob
    context.delete(ann)
    try context.save()
    #expect(try store.reopened().only(Debt.self).owner?.name == "Bob")
  }

  @Test(arguments: StorePlace.allCases)
  func `R7 noAction leaves a reference that reads as nil`(_ place: StorePlace) throws {
    let store = try TestStore.owners(place)
    let context = store.context()
    let ann = Owner(name: "Ann")
    ann.rumors = [Rumor(text: "psst")]
    context.insert(ann)
    try context.save()
    context.delete(ann)
    try context.save()
    let reader = try store.reopened()
    let rumor = try reader.only(Rumor.self)
    #expect(rumor.owner == nil)
    #expect(rumor.text == "psst")
    rumor.text = "heard"
    try reader.save()
    #expect(try store.reopened().only(Rumor.self).text == "heard")
  }

  @Test(arguments: StorePlace.allCases)
  func `R8 counts of a relationship are checked by save`(_ place: StorePlace) throws {
    let store = try TestStore.teams(place)
    let context = store.context()
    let crew = Crew(name: "Blue")
    context.insert(crew)
    #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
    crew.pilots = (0..<4).map { Pilot(name: "\($0)") }
    #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
    crew.pilots.removeLast()
    try context.save()
    #expect(try store.reopened().only(Crew.self).pilots.count == 3)
    for pilot in crew.pilots { context.delete(pilot) }
    #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
    context.rollback()
    #expect(crew.pilots.count == 3)
    context.delete(crew)
    try context.save()
    #expect(try store.reopened().count(Crew.self) == 0)
  }

  @Test(arguments: StorePlace.allCases)
  func `R8 a required to-one relationship must have its object`(_ place: StorePlace) throws {
    let store = try TestStore(place, Invoice.self, Customer.self)
    let context = store.context()
    let ann = Customer(name: "Ann")
    let invoice = Invoice(number: 1, customer: ann)
    context.insert(invoice)
    try context.save()
    #expect(ann.invoices.first === invoice)
    #expect(try store.reopened().only(Invoice.self).customer.name == "Ann")
    context.delete(ann)
    let error = #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
    #expect(error?.description.contains("Invoice.customer") == true)
    context.delete(invoice)
    try context.save()
    #expect(try store.reopened().count(Customer.self) == 0)
  }

  @Test(arguments: StorePlace.allCases)
  func `R9 deleting by predicate works on the store at once`(_ place: StorePlace) throws {
    let store = try TestStore.clubs(place)
    let context = store.context()
    let club = Club(name: "Chess")
    for age in 1...10 { context.insert(Member(name: "m\(age)", age: age, club: club)) }
    try context.save()
    let other = store.context()
    let kept = try context.fetch(
      FetchDescriptor<Member>(predicate: #Predicate { $0.age == 9 }))[0]

    try context.delete(model: Member.self, where: #Predicate { $0.age <= 7 })
    #expect(!context.hasChanges)
    #expect(try context.count(Member.self) == 3)
    #expect(try other.count(Member.self) == 3)
    #expect(club.members.count == 3)
    #expect(try context.all(Member.self).contains { $0 === kept })
    try context.delete(model: Member.self)
    #expect(try store.reopened().count(Member.self) == 0)
    #expect(club.members.isEmpty)
  }

  @Test(arguments: StorePlace.allCases)
  func `R9 deleting by predicate follows the delete rules`(_ place: StorePlace) throws {
    let store = try TestStore.owners(place)
    let context = store.context()
    for name in ["Ann", "Bob"] {
      let owner = Owner(name: name)
      owner.pets = [Pet(name: "pet of \(name)")]
      owner.letters = [Letter(text: "letter of \(name)", stamp: Stamp(price: 1))]
      context.insert(owner)
    }
    try context.save()
    try context.delete(model: Owner.self, where: #Predicate { $0.name == "Ann" })
    let reader = try store.reopened()
    #expect(try reader.count(Owner.self) == 1)
    #expect(try reader.only(Letter.self).text == "letter of Bob")
    #expect(try reader.count(Stamp.self) == 1)
    #expect(try reader.all(Pet.self).compactMap { $0.owner?.name } == ["Bob"])
    #expect(try reader.count(Pet.self) == 2)
  }

  @Test(arguments: StorePlace.allCases)
  func `R9 a simple class is deleted in one statement`(_ place: StorePlace) throws {
    let store = try TestStore(place, Seat.self)
    let context = store.context()
    for number in 0..<20 { context.insert(Seat(hall: "A", number: number)) }
    try context.save()
    let first = try context.fetch(
      FetchDescriptor<Seat>(predicate: #Predicate { $0.number == 0 }))[0]
    let last =
      context.insertedModelsArray.isEmpty
      ? try context.fetchIdentifiers(
        FetchDescriptor<Seat>(sortBy: [SortDescriptor(\.number, order: .reverse)]))[0] : nil
    try context.delete(model: Seat.self, where: #Predicate { $0.number < 5 || $0.number > 15 })
    #expect(try context.count(Seat.self) == 11)
    #expect(first.modelContext == nil)
    // An identifier is never given to another object.
    let next = Seat(hall: "B", number: 1)
    context.insert(next)
    try context.save()
    #expect(next.persistentModelID != last)
  }

  @Test(arguments: StorePlace.allCases)
  func `R9 includeSubclasses decides about subclasses`(_ place: StorePlace) throws {
    let store = try TestStore.vehicles(place)
    let context = store.context()
    func fill() throws {
      context.insert(Vehicle(name: "cart"))
      context.insert(Car(name: "mini", doors: 3))
      context.insert(Truck(name: "big", load: 9.5))
      try context.save()
    }
    try fill()
    try context.delete(model: Vehicle.self, includeSubclasses: false)
    #expect(try context.count(Vehicle.self) == 2)
    try context.delete(model: Car.self)
    #expect(try context.only(Vehicle.self) is Truck)
    try fill()
    try context.delete(model: Vehicle.self)
    #expect(try context.count(Vehicle.self) == 0)
  }

  @Test(arguments: StorePlace.allCases)
  func `R10 deleting twice, or what was never inserted, is no error`(_ place: StorePlace) throws {
    let store = try TestStore.clubs(place)
    let context = store.context()
    let ann = Member(name: "Ann")
    context.delete(ann)
    try context.save()
    context.insert(ann)
    context.delete(ann)
    #expect(try context.count(Member.self) == 0)
    try context.save()
    #expect(ann.modelContext == nil)
    let bob = Member(name: "Bob")
    context.insert(bob)
    try context.save()
    context.delete(bob)
    context.delete(bob)
    try context.save()
    context.delete(bob)
    try context.save()
    #expect(try store.reopened().count(Member.self) == 0)
  }

  @Test(arguments: StorePlace.allCases)
  func `R11 a to-many change alone marks both sides`(_ place: StorePlace) throws {
    let store = try TestStore.clubs(place)
    let context = store.context()
    let club = Club(name: "Chess")
    let ann = Member(name: "Ann")
    let skill = Skill(title: "endings")
    context.insert(club)
    context.insert(ann)
    context.insert(skill)
    try context.save()

    club.members.append(ann)
    #expect(club.hasChanges)
    #expect(ann.hasChanges)
    let did = NotificationProbe(ModelContext.didSave, of: context)
    try context.save()
    #expect(did.received[0]["updated"] == [club.persistentModelID, ann.persistentModelID])

    ann.skills.append(skill)
    #expect(skill.hasChanges)
    try context.save()
    #expect(did.received[1]["updated"] == [ann.persistentModelID, skill.persistentModelID])
    skill.holders.removeAll()
    try context.save()
    #expect(did.received[2]["updated"] == [ann.persistentModelID, skill.persistentModelID])
  }

  @Test(arguments: StorePlace.allCases)
  func `a relationship without an inverse to its own class`(_ place: StorePlace) throws {
    let store = try TestStore(place, Friend.self)
    let context = store.context()
    let (ann, bob) = (Friend(name: "Ann"), Friend(name: "Bob"))
    ann.friends = [bob, ann]
    context.insert(ann)
    try context.save()
    let reader = try store.reopened()
    let friends = try reader.fetch(FetchDescriptor<Friend>(sortBy: [SortDescriptor(\.name)]))
    #expect(friends[0].friends.map(\.name) == ["Bob", "Ann"])
    #expect(friends[1].friends.isEmpty)
    reader.delete(friends[1])
    try reader.save()
    #expect(friends[0].friends.map(\.name) == ["Ann"])
    #expect(try store.reopened().only(Friend.self).friends.map(\.name) == ["Ann"])
  }

  @Test(arguments: StorePlace.allCases)
  func `a to-one relationship without an inverse loses what is deleted`(_ place: StorePlace) throws
  {
    let store = try TestStore.owners(place)
    let context = store.context()
    let letter = Letter(text: "a", stamp: Stamp(price: 1))
    context.insert(letter)
    try context.save()
    let reader = try store.reopened()
    reader.delete(try reader.only(Stamp.self))
    try reader.save()
    #expect(try reader.only(Letter.self).stamp == nil)
    let unstamped = FetchDescriptor<Letter>(predicate: #Predicate { $0.stamp?.price == nil })
    #expect(try store.reopened().fetchCount(unstamped) == 1)
    context.delete(try context.only(Letter.self))
    try context.save()
  }
}
