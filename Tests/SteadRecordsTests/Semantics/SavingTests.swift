import Foundation
import SwiftData
import Testing

@Suite("insert, save, rollback, transaction") struct SavingTests {
  @Test(arguments: StorePlace.allCases)
  func `S1 insert takes in everything reachable`(_ place: StorePlace) throws {
    let store = try TestStore.clubs(place)
    let context = store.context()
    let club = Club(name: "Chess")
    let ann = Member(name: "Ann")
    let bob = Member(name: "Bob")
    club.members = [ann, bob]
    ann.skills = [Skill(title: "openings")]
    context.insert(club)
    context.insert(club)
    #expect(context.insertedModelsArray.count == 4)
    #expect(ann.club === club)
    #expect(ann.skills[0].holders.first === ann)
    try context.save()

    // From the other side, over two relationships.
    let eve = Member(name: "Eve", club: Club(name: "Go"))
    let ending = Skill(title: "endings")
    ending.holders = [eve]
    context.insert(ending)
    try context.save()
    context.insert(ending)
    #expect(!context.hasChanges)

    let reader = try store.reopened()
    #expect(try reader.count(Club.self) == 2)
    #expect(try reader.count(Member.self) == 3)
    #expect(try reader.count(Skill.self) == 2)
    let byName = FetchDescriptor<Member>(sortBy: [SortDescriptor(\.name)])
    let members = try reader.fetch(byName)
    #expect(members.map { $0.club?.name } == ["Chess", "Chess", "Go"])
    #expect(members.map { $0.skills.map(\.title) } == [["openings"], [], ["endings"]])
  }

  @Test(arguments: StorePlace.allCases)
  func `S2 both sides of a relationship change at once`(_ place: StorePlace) throws {
    let store = try TestStore.clubs(place)
    let context = store.context()
    let (chess, go) = (Club(name: "Chess"), Club(name: "Go"))
    let (ann, bob) = (Member(name: "Ann"), Member(name: "Bob"))
    context.insert(chess)
    context.insert(go)
    context.insert(ann)
    context.insert(bob)

    func check() {
      ann.club = chess
      #expect(chess.members.map(\.name) == ["Ann"])
      go.members.append(bob)
      #expect(bob.club === go)
      go.members.append(ann)
      #expect(ann.club === go)
      #expect(chess.members.isEmpty)
      #expect(go.members.map(\.name) == ["Bob", "Ann"])
      go.members.removeAll { $0 === bob }
      #expect(bob.club == nil)
      ann.club = nil
      #expect(go.members.isEmpty)
      chess.members = [ann, bob]
      #expect(bob.club === chess)
      chess.members = [bob]
      #expect(ann.club == nil)
      chess.members = []
      #expect(bob.club == nil)
    }
    check()
    try context.save()
    check()

    let skill = Skill(title: "endings")
    ann.skills.append(skill)
    #expect(skill.holders.first === ann)
    skill.holders.append(bob)
    #expect(bob.skills.first === skill)
    ann.skills.removeAll()
    #expect(skill.holders.map(\.name) == ["Bob"])
    try context.save()
    let reader = try store.reopened()
    #expect(try reader.only(Skill.self).holders.map(\.name) == ["Bob"])
  }

  @Test(arguments: StorePlace.allCases)
  func `S2 inverses of objects whose relationships were never loaded`(_ place: StorePlace) throws {
    let store = try TestStore.clubs(place)
    let writer = store.context()
    writer.insert(Member(name: "Ann", club: Club(name: "Chess")))
    writer.insert(Club(name: "Go"))
    try writer.save()

    let context = store.context()
    let ann = try context.only(Member.self)
    let clubs = try context.fetch(FetchDescriptor<Club>(sortBy: [SortDescriptor(\.name)]))
    ann.club = clubs[1]
    #expect(clubs[0].members.isEmpty)
    #expect(clubs[1].members.first === ann)
    clubs[0].members.append(ann)
    #expect(ann.club === clubs[0])
    #expect(clubs[1].members.isEmpty)
    try context.save()
    #expect(try store.reopened().only(Member.self).club?.name == "Chess")
  }

  @Test(arguments: StorePlace.allCases)
  func `S3 pending changes are seen by their own context alone`(_ place: StorePlace) throws {
    let store = try TestStore.clubs(place)
    let context = store.context()
    let other = store.context()
    for (name, age) in [("Ann", 20), ("Bob", 30), ("Cid", 40)] {
      context.insert(Member(name: name, age: age))
    }
    try context.save()

    context.insert(Member(name: "Dan", age: 50))
    let members = try context.fetch(FetchDescriptor<Member>(sortBy: [SortDescriptor(\.name)]))
    members[0].age = 60
    context.delete(members[1])
    let older = #Predicate<Member> { $0.age > 35 }
    var descriptor = FetchDescriptor(predicate: older, sortBy: [SortDescriptor(\.age)])
    #expect(try context.fetch(descriptor).map(\.name) == ["Cid", "Dan", "Ann"])
    #expect(try context.fetchCount(descriptor) == 3)
    #expect(try context.count(Member.self) == 3)
    #expect(try context.fetchIdentifiers(descriptor).count == 3)
    descriptor.fetchLimit = 2
    #expect(try context.fetch(descriptor).map(\.name) == ["Cid", "Dan"])
    descriptor.fetchOffset = 1
    #expect(try context.fetch(descriptor).map(\.name) == ["Dan", "Ann"])
    #expect(try other.fetch(descriptor).isEmpty)

    descriptor = FetchDescriptor(predicate: older)
    descriptor.includePendingChanges = false
    #expect(try context.fetch(descriptor).map(\.name) == ["Cid"])
    #expect(try context.fetchCount(descriptor) == 1)
    #expect(try other.count(Member.self) == 3)
    try context.save()
    #expect(try other.fetchCount(FetchDescriptor(predicate: older)) == 3)
  }

  @Test(arguments: StorePlace.allCases)
  func `S3 a predicate over a relationship sees pending changes`(_ place: StorePlace) throws {
    let store = try TestStore.clubs(place)
    let context = store.context()
    let club = Club(name: "Chess")
    let ann = Member(name: "Ann", club: club)
    context.insert(ann)
    context.insert(Member(name: "Bob"))
    try context.save()
    club.name = "Go"
    let inGo = FetchDescriptor<Member>(predicate: #Predicate { $0.club?.name == "Go" })
    #expect(try context.fetch(inGo).map(\.name) == ["Ann"])
    #expect(try store.context().fetch(inGo).isEmpty)
  }

  @Test(arguments: StorePlace.allCases)
  func `S3 batches refuse pending changes`(_ place: StorePlace) throws {
    let store = try TestStore.clubs(place)
    let context = store.context()
    context.insert(Member(name: "Ann"))
    #expect(throws: SwiftDataError.includePendingChangesWithBatchSize) {
      _ = try context.fetch(FetchDescriptor<Member>(), batchSize: 10)
    }
    var descriptor = FetchDescriptor<Member>()
    descriptor.includePendingChanges = false
    #expect(try context.fetch(descriptor, batchSize: 10).isEmpty)
  }

  // It read the settings alone. So nobody saw that a context which was made on the main actor and set to
  // save never did, in a program whose `main` is asynchronous: it asked for the main thread, and the main
  // actor isn't there.
  @Test @MainActor
  func `S4 only the main context saves by itself`() async throws {
    let store = try TestStore.clubs(.memory)
    #expect(!store.context().autosaveEnabled)
    #expect(store.container.mainContext.autosaveEnabled)
    #expect(store.container.mainContext === store.container.mainContext)
    let importer = MemberImporter(modelContainer: store.container)
    #expect(await !importer.autosaves)

    let other = store.context()
    other.insert(Member(name: "Ann"))
    await mainActorTurns(3)
    #expect(other.hasChanges)
    other.autosaveEnabled = true
    await mainActorTurns(2)
    #expect(!other.hasChanges)
    #expect(try store.context().count(Member.self) == 1)
  }

  @Test(arguments: StorePlace.allCases) @MainActor
  func `S5 autosave comes at the end of a turn`(_ place: StorePlace) async throws {
    let store = try TestStore.clubs(place)
    let main = store.container.mainContext
    let other = store.context()
    main.insert(Member(name: "Ann"))
    main.insert(Member(name: "Bob"))
    #expect(try other.count(Member.self) == 0)
    #expect(main.hasChanges)
    await mainActorTurns(2)
    #expect(!main.hasChanges)
    #expect(try other.count(Member.self) == 2)

    main.autosaveEnabled = false
    main.insert(Member(name: "Cid"))
    await mainActorTurns(3)
    #expect(try other.count(Member.self) == 2)
    main.autosaveEnabled = true
    await mainActorTurns(2)
    #expect(try other.count(Member.self) == 3)
  }

  @MainActor private func mainActorTurns(_ count: Int) async {
    for _ in 0..<count { await Task { @MainActor in }.value }
  }

  @Test(arguments: StorePlace.allCases)
  func `S6 transaction runs and saves, or does not save`(_ place: StorePlace) throws {
    struct Refusal: Error {}
    let store = try TestStore.clubs(place)
    let context = store.context()
    try context.transaction { context.insert(Member(name: "Ann")) }
    #expect(!context.hasChanges)
    #expect(try store.reopened().count(Member.self) == 1)
    #expect(throws: Refusal.self) {
      try context.transaction {
        context.insert(Member(name: "Bob"))
        throw Refusal()
      }
    }
    #expect(try store.reopened().count(Member.self) == 1)
    context.rollback()
    #expect(try context.count(Member.self) == 1)
  }

  @Test(arguments: StorePlace.allCases)
  func `S7 rollback discards everything unsaved`(_ place: StorePlace) throws {
    let store = try TestStore.clubs(place)
    let context = store.context()
    let club = Club(name: "Chess", city: "Bern")
    let (ann, bob) = (Member(name: "Ann", club: club), Member(name: "Bob", club: club))
    let skill = Skill(title: "endings")
    ann.skills = [skill]
    context.insert(ann)
    context.insert(bob)
    try context.save()

    club.name = "Go"
    club.city = nil
    ann.club = nil
    ann.skills = []
    bob.nickname = "B"
    context.delete(bob)
    let eve = Member(name: "Eve", club: club)
    context.insert(eve)
    context.rollback()

    #expect(!context.hasChanges)
    #expect(club.name == "Chess")
    #expect(club.city == "Bern")
    #expect(ann.club === club)
    #expect(ann.skills.first === skill)
    #expect(skill.holders.first === ann)
    #expect(bob.nickname == nil)
    #expect(!bob.isDeleted)
    #expect(eve.modelContext == nil)
    #expect(club.members.map(\.name) == ["Ann", "Bob"])
    #expect(try context.count(Member.self) == 2)
    try context.save()
    #expect(try store.reopened().count(Member.self) == 2)
    // What was thrown out can be inserted afterwards.
    context.insert(eve)
    try context.save()
    #expect(try store.reopened().count(Member.self) == 3)
  }

  @Test(arguments: StorePlace.allCases)
  func `S7 rollback brings back what a cascade was to delete`(_ place: StorePlace) throws {
    let store = try TestStore.folders(place)
    let context = store.context()
    let root = Folder(name: "root", children: [Folder(name: "a"), Folder(name: "b")])
    context.insert(root)
    try context.save()
    context.delete(root)
    #expect(try context.count(Folder.self) == 0)
    context.rollback()
    #expect(try context.count(Folder.self) == 3)
    #expect(root.children.map(\.name) == ["a", "b"])
    #expect(root.children.allSatisfy { $0.parent === root && !$0.isDeleted })
  }

  @Test(arguments: StorePlace.allCases)
  func `S9 willSave and didSave name the context and what changed`(_ place: StorePlace) throws {
    let store = try TestStore.clubs(place)
    let context = store.context()
    let (ann, bob, cid) = (Member(name: "Ann"), Member(name: "Bob"), Member(name: "Cid"))
    context.insert(ann)
    context.insert(bob)
    try context.save()

    let will = NotificationProbe(ModelContext.willSave, of: context)
    let did = NotificationProbe(ModelContext.didSave, of: context)
    let elsewhere = NotificationProbe(ModelContext.didSave, of: store.context())
    ann.age += 1
    context.insert(cid)
    let deleted = bob.persistentModelID
    context.delete(bob)
    try context.save()
    #expect(will.received.count == 1)
    #expect(did.received.count == 1)
    #expect(elsewhere.received.isEmpty)
    let sets = try #require(did.received.first)
    typealias Key = ModelContext.NotificationKey
    #expect(sets[Key.insertedIdentifiers.rawValue] == [cid.persistentModelID])
    #expect(sets[Key.updatedIdentifiers.rawValue] == [ann.persistentModelID])
    #expect(sets[Key.deletedIdentifiers.rawValue] == [deleted])
    #expect(sets["inserted"] == [cid.persistentModelID])
    #expect(sets["updated"] == [ann.persistentModelID])
    #expect(sets["deleted"] == [deleted])
    // Nothing to save, nothing to tell.
    try context.save()
    #expect(did.received.count == 1)
  }

  @Test(arguments: StorePlace.allCases)
  func `S9 changes made while willSave is posted are saved, too`(_ place: StorePlace) throws {
    let store = try TestStore.clubs(place)
    let context = store.context()
    let ann = Member(name: "Ann")
    context.insert(ann)
    nonisolated(unsafe) let stamped = ann  // Posted on the thread that saves, which is this one.
    let token = NotificationCenter.default.addObserver(
      forName: ModelContext.willSave, object: context, queue: nil
    ) { _ in stamped.nickname = "stamped" }
    defer { NotificationCenter.default.removeObserver(token) }
    try context.save()
    #expect(!context.hasChanges)
    #expect(try store.reopened().only(Member.self).nickname == "stamped")
  }

  @Test(arguments: StorePlace.allCases)
  func `S10 a refused save changes nothing and keeps the changes`(_ place: StorePlace) throws {
    let store = try TestStore.teams(place)
    let context = store.context()
    let crew = Crew(name: "Blue")
    crew.pilots = [Pilot(name: "Ann"), Pilot(name: "Bob")]
    context.insert(crew)
    try context.save()

    crew.name = "Red"
    crew.pilots = (0..<5).map { Pilot(name: "Pilot \($0)") }
    let error = #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
    #expect(error?.description.contains("Crew") == true)
    #expect(error?.description.contains("pilots") == true)
    let reader = try store.reopened()
    #expect(try reader.only(Crew.self).name == "Blue")
    #expect(try reader.only(Crew.self).pilots.map(\.name) == ["Ann", "Bob"])
    #expect(context.hasChanges)
    #expect(crew.name == "Red")
    #expect(crew.pilots.count == 5)

    crew.pilots.removeLast(3)
    try context.save()
    #expect(!context.hasChanges)
    #expect(try store.reopened().only(Crew.self).pilots.map(\.name) == ["Pilot 0", "Pilot 1"])
  }

  @Test(arguments: StorePlace.allCases)
  func `S11 saved changes reach the clean objects of other contexts`(_ place: StorePlace) throws {
    let store = try TestStore.clubs(place)
    let (one, two) = (store.context(), store.context())
    let ann = Member(name: "Ann", club: Club(name: "Chess"))
    one.insert(ann)
    try one.save()
    let club = try #require(ann.club)

    let twin = try two.only(Member.self)
    twin.name = "Anna"
    twin.club?.members.append(Member(name: "Bob"))
    try two.save()
    #expect(ann.name == "Ann")
    one.processPendingChanges()
    #expect(ann.name == "Anna")
    #expect(club.members.map(\.name) == ["Anna", "Bob"])

    twin.club = nil
    try two.save()
    one.processPendingChanges()
    #expect(ann.club == nil)
    #expect(club.members.map(\.name) == ["Bob"])

    two.delete(twin)
    try two.save()
    #expect(try one.count(Member.self) == 1)
    #expect(ann.name == "Anna")
  }

  @Test(arguments: StorePlace.allCases)
  func `S11 conflicts are decided property by property`(_ place: StorePlace) throws {
    let store = try TestStore.clubs(place)
    let (one, two) = (store.context(), store.context())
    let ann = Member(name: "Ann", age: 20)
    one.insert(ann)
    try one.save()

    ann.name = "Anna"
    let twin = try two.only(Member.self)
    twin.name = "Annette"
    twin.age = 21
    try two.save()
    one.processPendingChanges()
    #expect(ann.name == "Anna")
    #expect(ann.age == 21)
    try one.save()
    let stored = try store.reopened().only(Member.self)
    #expect(stored.name == "Anna")
    #expect(stored.age == 21)
    two.processPendingChanges()
    #expect(twin.name == "Anna")
  }

  @Test @MainActor
  func `S11 the main context merges on its own`() async throws {
    let store = try TestStore.clubs(.file)
    let main = store.container.mainContext
    let ann = Member(name: "Ann")
    main.insert(ann)
    try main.save()
    let other = store.context()
    try other.only(Member.self).name = "Anna"
    try other.save()
    // Not before the main actor's next turn.
    #expect(ann.name == "Ann")
    await changed(ann, to: "Anna")
    #expect(ann.name == "Anna")
  }

  /// Waits until an object has a name, which other work brings about.
  @MainActor private func changed(_ member: Member, to name: String) async {
    while member.name != name { await Task.yield() }
  }

  @Test func `S12 a store opened with allowsSave: false is read only`() throws {
    let store = try TestStore.clubs(.file)
    let writer = store.context()
    writer.insert(Member(name: "Ann"))
    try writer.save()

    let configuration = ModelConfiguration(url: store.url, allowsSave: false)
    let container = try ModelContainer(for: store.schema, configurations: configuration)
    let context = ModelContext(container)
    let ann = try context.only(Member.self)
    #expect(ann.name == "Ann")
    ann.name = "Anna"
    #expect(throws: SwiftDataError.readOnlyStore) { try context.save() }
    #expect(context.hasChanges)
    #expect(try store.reopened().only(Member.self).name == "Ann")
    #expect(throws: SwiftDataError.self) { try context.delete(model: Member.self) }
    #expect(try store.reopened().count(Member.self) == 1)
  }
}

@ModelActor actor MemberImporter {
  var autosaves: Bool { modelContext.autosaveEnabled }

  func insert(_ name: String) throws -> PersistentIdentifier {
    let member = Member(name: name)
    modelContext.insert(member)
    try modelContext.save()
    return member.persistentModelID
  }

  func rename(_ id: PersistentIdentifier, to name: String) throws -> Bool {
    guard let member = self[id, as: Member.self] else { return false }
    member.name = name
    try modelContext.save()
    return true
  }

  func isOnMainThread() -> Bool { Thread.isMainThread }

  func isRegistered(_ id: PersistentIdentifier) -> Bool {
    let model = self[id, as: Member.self]
    let registered: Member? = modelContext.registeredModel(for: id)
    return model != nil && model === registered
  }
}
