import Foundation
import Observation
import SwiftData
import Testing

@Suite("identity, contexts, life cycle") struct IdentityTests {
  @Test(arguments: StorePlace.allCases)
  func `I1 one instance per identifier per context`(_ place: StorePlace) throws {
    let store = try TestStore.clubs(place)
    let writer = store.context()
    writer.insert(Member(name: "Ann", club: Club(name: "Chess")))
    try writer.save()

    let context = store.context()
    let ann = try context.only(Member.self)
    #expect(try context.only(Member.self) === ann)
    #expect(try context.only(Club.self).members.first === ann)
    #expect(context.model(for: ann.persistentModelID) === ann)
    let registered: Member? = context.registeredModel(for: ann.persistentModelID)
    #expect(registered === ann)
    let filtered = FetchDescriptor<Member>(predicate: #Predicate { $0.name == "Ann" })
    #expect(try context.fetch(filtered).first === ann)
    // The context that wrote the row has its own object of it, and goes on having one.
    let written = try #require(try writer.all(Member.self).first)
    #expect(written !== ann)
    #expect(try writer.only(Club.self).members.first === written)
  }

  @Test(arguments: StorePlace.allCases)
  func `I1 an object stays the same through its first save`(_ place: StorePlace) throws {
    let store = try TestStore.clubs(place)
    let context = store.context()
    let ann = Member(name: "Ann")
    context.insert(ann)
    #expect(try context.only(Member.self) === ann)
    try context.save()
    #expect(try context.only(Member.self) === ann)
    #expect(context.model(for: ann.persistentModelID) === ann)
  }

  @Test(arguments: StorePlace.allCases)
  func `I2 contexts have instances of their own, equal identifiers`(_ place: StorePlace) throws {
    let store = try TestStore.clubs(place)
    let first = store.context()
    let ann = Member(name: "Ann")
    first.insert(ann)
    first.insert(Member(name: "Bob"))
    try first.save()

    let second = store.context()
    let byName = FetchDescriptor<Member>(predicate: #Predicate { $0.name == "Ann" })
    let other = try #require(try second.fetch(byName).first)
    #expect(other !== ann)
    #expect(other.persistentModelID == ann.persistentModelID)
    #expect(other == ann)
    #expect(Set([other, ann]).count == 1)
    #expect(other.id == ann.id)
    #expect(try second.all(Member.self).count { $0 == ann } == 1)
  }

  @Test(arguments: StorePlace.allCases)
  func `I3 an identifier is temporary until the first save`(_ place: StorePlace) throws {
    let store = try TestStore.clubs(place)
    let context = store.context()
    let ann = Member(name: "Ann")
    context.insert(ann)
    let before = ann.persistentModelID
    #expect(before.storeIdentifier == nil)
    #expect(before.isTemporary)
    #expect(before.entityName == "Member")
    #expect(ann.persistentModelID == before)
    let named = [before: "Ann"]

    try context.save()
    let after = ann.persistentModelID
    #expect(after.storeIdentifier != nil)
    #expect(!after.isTemporary)
    #expect(after != before)
    #expect(named[after] == nil)
    #expect(context.model(for: after) === ann)

    let decoded = try JSONDecoder().decode(
      PersistentIdentifier.self, from: JSONEncoder().encode(after))
    #expect(decoded == after)
    #expect(decoded.hashValue == after.hashValue)
    #expect(decoded.id == after.id)
    let other = try store.reopened()
    #expect((other.model(for: decoded) as? Member)?.name == "Ann")
  }

  @Test func `I3 identifiers are ordered and survive reopening`() throws {
    let store = try TestStore.clubs(.file)
    let context = store.context()
    for name in ["a", "b", "c"] {
      context.insert(Member(name: name))
      try context.save()
    }
    let byName = FetchDescriptor<Member>(sortBy: [SortDescriptor(\.name)])
    let identifiers = try context.fetchIdentifiers(byName)
    #expect(identifiers == identifiers.sorted())
    #expect(try store.reopened().fetchIdentifiers(byName) == identifiers)
  }

  @Test(arguments: StorePlace.allCases)
  func `I4 unknown identifiers give nil or a placeholder`(_ place: StorePlace) throws {
    let store = try TestStore.clubs(place)
    let writer = store.context()
    let ann = Member(name: "Ann")
    let bob = Member(name: "Bob")
    writer.insert(ann)
    writer.insert(bob)
    try writer.save()

    let context = store.context()
    let notLoaded: Member? = context.registeredModel(for: ann.persistentModelID)
    #expect(notLoaded == nil)
    #expect((context.model(for: ann.persistentModelID) as? Member)?.name == "Ann")

    let gone = bob.persistentModelID
    writer.delete(bob)
    try writer.save()
    let placeholder = try #require(context.model(for: gone) as? Member)
    #expect(placeholder.name == "")
    #expect(placeholder.club == nil)
    #expect(placeholder.skills.isEmpty)
    #expect(placeholder.modelContext == nil)

    let foreign = try PersistentIdentifier.identifier(
      for: "another-store", entityName: "Member", primaryKey: 1)
    let missing: Member? = context.registeredModel(for: foreign)
    #expect(missing == nil)
    #expect((context.model(for: foreign) as? Member)?.age == 0)
  }

  @Test(arguments: StorePlace.allCases)
  func `I5 modelContext follows insertion and deletion`(_ place: StorePlace) throws {
    let store = try TestStore.clubs(place)
    let context = store.context()
    let ann = Member(name: "Ann")
    #expect(ann.modelContext == nil)
    context.insert(ann)
    #expect(ann.modelContext === context)
    try context.save()
    #expect(ann.modelContext === context)
    context.delete(ann)
    #expect(ann.modelContext === context)
    try context.save()
    #expect(ann.modelContext == nil)
    #expect(ann.name == "Ann")
  }

  @Test(arguments: StorePlace.allCases)
  func `I6 properties and relationships load when read`(_ place: StorePlace) throws {
    let store = try TestStore.clubs(place)
    let writer = store.context()
    for number in 0..<5 {
      let club = Club(name: "Club \(number)", city: "City \(number)")
      for place in 0..<3 { club.members.append(Member(name: "\(number).\(place)")) }
      writer.insert(club)
    }
    try writer.save()
    let members = try writer.fetchIdentifiers(FetchDescriptor<Member>())

    let context = store.context()
    var descriptor = FetchDescriptor<Club>(sortBy: [SortDescriptor(\.name)])
    let clubs = try context.fetch(descriptor)
    func loaded(_ context: ModelContext) -> Int {
      members.count { (context.registeredModel(for: $0) as Member?) != nil }
    }
    #expect(loaded(context) == 0)
    // One query brings the members of all clubs of the fetch.
    #expect(clubs[0].members.map(\.name) == ["0.0", "0.1", "0.2"])
    #expect(loaded(context) == 15)
    #expect(clubs[4].members.map(\.name) == ["4.0", "4.1", "4.2"])

    let prefetching = store.context()
    descriptor.relationshipKeyPathsForPrefetching = [\.members]
    let prefetched = try prefetching.fetch(descriptor)
    #expect(loaded(prefetching) == 15)
    #expect(prefetched[2].members.count == 3)

    let partial = store.context()
    descriptor.relationshipKeyPathsForPrefetching = []
    descriptor.propertiesToFetch = [\.name]
    let shells = try partial.fetch(descriptor)
    #expect(shells.map(\.name) == (0..<5).map { "Club \($0)" })
    #expect(shells.map(\.city) == (0..<5).map { "City \($0)" })
    #expect(shells[1].members.count == 3)
  }

  @Test(arguments: StorePlace.allCases)
  func `I6 a partly fetched object can be changed`(_ place: StorePlace) throws {
    let store = try TestStore.clubs(place)
    let writer = store.context()
    writer.insert(Club(name: "Chess", city: "Bern"))
    try writer.save()

    let context = store.context()
    var descriptor = FetchDescriptor<Club>()
    descriptor.propertiesToFetch = [\.name]
    let club = try #require(try context.fetch(descriptor).first)
    club.name = "Go"
    try context.save()
    let stored = try store.reopened().only(Club.self)
    #expect(stored.name == "Go")
    #expect(stored.city == "Bern")
    #expect(club.city == "Bern")
  }

  @Test func `I7 objects made before any container work until they are inserted`() throws {
    let club = Club(name: "Chess")
    let ann = Member(name: "Ann", club: club)
    club.members.append(ann)
    ann.skills = [Skill(title: "openings")]
    ann.name += "a"
    ann.isSelected = true
    #expect(ann.name == "Anna")
    #expect(ann.club === club)
    #expect(club.members.first === ann)
    #expect(ann.skills.map(\.title) == ["openings"])
    #expect(!ann.hasChanges)
    #expect(ann.persistentModelID != club.persistentModelID)
    #expect(Set([ann, ann]).count == 1)

    let store = try TestStore.clubs(.memory)
    let context = store.context()
    context.insert(ann)
    try context.save()
    #expect(ann.isSelected)
    let stored = try store.context().only(Member.self)
    #expect(stored.name == "Anna")
    #expect(stored.club?.name == "Chess")
    #expect(stored.skills.map(\.title) == ["openings"])
  }

  @Test(arguments: StorePlace.allCases)
  func `I8 hasChanges and the arrays of changed objects`(_ place: StorePlace) throws {
    let store = try TestStore.clubs(place)
    let context = store.context()
    #expect(!context.hasChanges)
    let (ann, bob) = (Member(name: "Ann"), Member(name: "Bob"))
    context.insert(ann)
    context.insert(bob)
    #expect(context.hasChanges)
    #expect(ann.hasChanges)
    #expect(context.insertedModelsArray.count == 2)
    #expect(context.insertedModelsArray.first === ann)
    #expect(context.changedModelsArray.isEmpty)
    try context.save()
    #expect(!context.hasChanges)
    #expect(!ann.hasChanges)
    #expect(context.insertedModelsArray.isEmpty)

    ann.age += 1
    #expect(context.changedModelsArray.count == 1)
    #expect(context.changedModelsArray.first === ann)
    #expect(ann.hasChanges)
    #expect(!bob.hasChanges)
    context.delete(bob)
    #expect(context.deletedModelsArray.first === bob)
    try context.save()
    #expect(context.changedModelsArray.isEmpty)
    #expect(context.deletedModelsArray.isEmpty)
    #expect(!context.hasChanges)

    // As on Apple's systems, an assignment counts, whether the value differs or not.
    ann.name = "Ann"
    #expect(ann.hasChanges)
    #expect(context.hasChanges)
    try context.save()
    _ = ann.name
    ann.isSelected = true
    #expect(!context.hasChanges)
  }

  @Test(arguments: StorePlace.allCases)
  func `I9 reading registers, writing notifies`(_ place: StorePlace) throws {
    let store = try TestStore.clubs(place)
    let context = store.context()
    let ann = Member(name: "Ann")
    #expect(
      notifies {
        _ = ann.name
      } by: {
        ann.name = "Anna"
      })
    context.insert(ann)
    try context.save()
    #expect(
      notifies {
        _ = ann.name
      } by: {
        ann.name = "Ann"
      })
    #expect(
      !notifies {
        _ = ann.name
      } by: {
        ann.age = 40
      })
    #expect(
      !notifies {
        _ = ann.isSelected
      } by: {
        ann.isSelected.toggle()
      })
    let club = Club(name: "Chess")
    #expect(
      notifies {
        _ = ann.club
      } by: {
        ann.club = club
      })
    // The other side of a relationship notifies, too.
    #expect(
      notifies {
        _ = club.members
      } by: {
        ann.club = nil
      })
  }

  @Test(arguments: StorePlace.allCases)
  func `I9 rollback notifies`(_ place: StorePlace) throws {
    let store = try TestStore.clubs(place)
    let context = store.context()
    let ann = Member(name: "Ann", club: Club(name: "Chess"))
    context.insert(ann)
    try context.save()
    ann.name = "Anna"
    #expect(
      notifies {
        _ = ann.name
      } by: {
        context.rollback()
      })
    #expect(ann.name == "Ann")
    let club = try #require(ann.club)
    ann.club = nil
    #expect(
      notifies {
        _ = club.members
      } by: {
        context.rollback()
      })
  }

  @Test(arguments: StorePlace.allCases)
  func `I9 another context's save notifies`(_ place: StorePlace) throws {
    let store = try TestStore.clubs(place)
    let context = store.context()
    let ann = Member(name: "Ann")
    context.insert(ann)
    try context.save()
    let other = store.context()
    let didNotify = try notifies {
      _ = ann.name
    } by: {
      try other.only(Member.self).name = "Anna"
      try other.save()
      context.processPendingChanges()
    }
    #expect(didNotify)
    #expect(ann.name == "Anna")
  }

  @Test(arguments: StorePlace.allCases)
  func `I10 isDeleted holds between delete and save`(_ place: StorePlace) throws {
    let store = try TestStore.clubs(place)
    let context = store.context()
    let ann = Member(name: "Ann")
    context.insert(ann)
    try context.save()
    #expect(!ann.isDeleted)
    context.delete(ann)
    #expect(ann.isDeleted)
    try context.save()
    #expect(!ann.isDeleted)
    #expect(ann.modelContext == nil)
    #expect(ann.name == "Ann")
  }

  /// Whether a change calls back the observer of some reads.
  private func notifies(
    _ reading: () -> Void, by change: () throws -> Void
  ) rethrows -> Bool {
    let fired = Box(false)
    withObservationTracking(reading) { fired.value = true }
    try change()
    return fired.value
  }
}
