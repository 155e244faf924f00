@Suite("Delete rules that were not kept") struct DeletionFailureTests {
  /// The rule deny was not asked for an owner that had never been saved.
  @Test func `deny holds for an owner that was never saved`() throws {
    let store = try TestStore(Landlord.self, Tenant.self, Rumor.self)
    let context = store.context()
    let (landlord, tenant) = (Landlord(name: "L"), Tenant(name: "T"))
    context.insert(landlord)
    landlord.tenants = [tenant]
    context.delete(landlord)
    #expect(throws: SwiftDataError.deletionDenied) { try context.save() }
    #expect(try store.reopened().all(Tenant.self).isEmpty)

    context.delete(tenant)
    try context.save()
    let reader = try store.reopened()
    #expect(try reader.all(Landlord.self).isEmpty)
    #expect(try reader.all(Tenant.self).isEmpty)
  }

  /// With the rule noAction objects in memory went on referring to what was deleted.
  @Test func `noAction leaves no reference in memory`() throws {
    let store = try TestStore(Landlord.self, Tenant.self, Rumor.self)
    let context = store.context()
    let (landlord, rumor) = (Landlord(name: "L"), Rumor(text: "R"))
    context.insert(landlord)
    landlord.rumors = [rumor]
    try context.save()
    #expect(rumor.landlord === landlord)
    context.delete(landlord)
    try context.save()
    #expect(rumor.landlord == nil)
    #expect(try store.context().only(Rumor.self).landlord == nil)
    #expect(try store.reopened().only(Rumor.self).landlord == nil)
  }

  /// Objects of the context that asked for a batch deletion went on referring to what it deleted.
  @Test func `noAction leaves no reference after a batch deletion`() throws {
    let container = try ModelContainer(
      for: Landlord.self, Tenant.self, Rumor.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let writer = ModelContext(container)
    let rumor = Rumor(text: "R")
    writer.insert(rumor)
    rumor.landlord = Landlord(name: "L")
    try writer.save()

    let context = ModelContext(container)
    let found = try #require(context.model(for: rumor.persistentModelID) as? Rumor)
    #expect(found.landlord?.name == "L")
    try context.delete(model: Landlord.self, where: #Predicate { $0.name == "L" })
    #expect(found.landlord == nil)
  }

  /// The deletion of an object that led nowhere kept what others gave it meanwhile from it.
  @Test func `a reference that was left is none to take away`() throws {
    let store = try TestStore(Landlord.self, Tenant.self, Rumor.self)
    let writer = store.context()
    let (landlord, rumor) = (Landlord(name: "L"), Rumor(text: "R"))
    writer.insertAll(landlord, rumor)
    rumor.landlord = landlord
    try writer.save()
    writer.delete(landlord)
    try writer.save()

    let reader = store.context()
    let deleted = try reader.only(Rumor.self)
    reader.delete(deleted)
    rumor.landlord = Landlord(name: "M")
    try writer.save()
    reader.processPendingChanges()
    #expect(deleted.landlord?.name == "M")
    #expect(deleted.isDeleted)
  }

  /// The same, where all that a context knows is that something was committed.
  @Test func `noAction leaves no reference after an unknown commit`() throws {
    let store = try TestStore(Landlord.self, Tenant.self, Rumor.self)
    let writer = store.context()
    let rumor = Rumor(text: "R")
    writer.insert(rumor)
    rumor.landlord = Landlord(name: "L")
    try writer.save()
    let outsider = ModelContext(try store.secondContainer())

    let context = store.context()
    let found = try context.only(Rumor.self)
    let landlord = try #require(found.landlord)
    // More commits than are remembered.
    try outsider.delete(model: Landlord.self)
    for number in 0...600 {
      outsider.insert(Rumor(text: "\(number)"))
      try outsider.save()
    }
    context.processPendingChanges()
    #expect(found.landlord == nil)
    #expect(landlord.modelContext == nil)
  }

  /// Rows of another table than the deleted objects' were taken for theirs, where they had their numbers.
  @Test func `deletions keep references to rows of other tables with their numbers`() throws {
    let store = try TestStore(Landlord.self, Tenant.self, Rumor.self)
    let context = store.context()
    let (kept, other) = (Landlord(name: "kept"), Landlord(name: "other"))
    context.insert(kept)
    try context.save()
    context.insert(other)
    let (rumor, deleted) = (Rumor(text: "R"), Rumor(text: "deleted"))
    context.insert(deleted)
    try context.save()
    rumor.landlord = kept
    try context.save()
    // The deleted rumor has the number of the landlord that stays.
    context.rollback()
    context.delete(deleted)
    context.delete(other)
    try context.save()
    #expect(rumor.landlord === kept)
  }

  /// `inverseName` was nil until a container was opened.
  @Test func `a schema knows its inverses before a container does`() throws {
    let schema = Schema([Landlord.self, Tenant.self, Rumor.self])
    let tenant = try #require(schema.entitiesByName["Tenant"])
    #expect(tenant.relationshipsByName["landlord"]?.inverseName == "tenants")
  }

  /// After the deletion of a saved parent `parent.child` still gave the child.
  @Test func `a deleted object has no destinations`() throws {
    let store = try TestStore(Parent.self, Child.self)
    let context = store.context()
    let (parent, child) = (Parent(name: "p"), Child(name: "c"))
    context.insertAll(parent, child)
    parent.children = [child]
    parent.favorite = child
    try context.save()

    context.delete(parent)
    for _ in 0..<2 {
      #expect(parent.favorite == nil)
      #expect(parent.children.isEmpty)
      #expect(child.parent == nil)
      #expect(child.favoringParent == nil)
      #expect(parent.name == "p")
      try context.save()
    }
    #expect(parent.modelContext == nil)
  }

  /// Releasing a chain of objects that hold each other overflowed the stack, also one that a
  /// context had.
  @Test func `a long chain that was saved is released`() throws {
    // A frame of the recursion took more than 100 bytes, and a thread has half a megabyte.
    let count = 30_000
    let store = try TestStore(Bead.self)
    weak var last: Bead?
    do {
      let context = store.context()
      let first = Bead(number: 0)
      var end = first
      for number in 1..<count {
        let bead = Bead(number: number)
        end.next = bead
        end = bead
      }
      last = end
      context.insert(first)
      try context.save()
      #expect(last != nil)
    }
    #expect(last == nil)
    #expect(try store.context().fetchCount(FetchDescriptor<Bead>()) == count)
  }
}
