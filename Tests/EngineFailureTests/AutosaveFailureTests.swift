@Suite("Autosaves that failed", .serialized) @MainActor struct AutosaveFailureTests {
  /// What the object is changed in again, to mend why it was not saved.
  enum Remedy: CaseIterable { case sameProperties, deletion, otherObjects }

  /// The property was noted as changed already, and no turn was asked for.
  @Test(.hangLimit, arguments: Remedy.allCases, [false, true])
  func `a failed autosave is tried again once the cause is mended`(
    _ remedy: Remedy, isNew: Bool
  ) async throws {
    let store = try TestStore(Account.self)
    let main = store.container.mainContext
    let first = Account(email: "a", login: "a")
    main.insertAll(first, Account(email: "b", login: "b"))
    try main.save()
    // With the address of one row and the login of another it can be neither.
    let account = isNew ? Account(email: "a", login: "b") : Account(email: "c", login: "c")
    main.insert(account)
    if !isNew {
      try main.save()
      (account.email, account.login) = ("a", "b")
    }
    for _ in 0..<3 { await Task { @MainActor in }.value }
    #expect(main.hasChanges)
    switch remedy {
    case .sameProperties: (account.email, account.login) = ("d", "d")
    case .deletion: main.delete(account)
    case .otherObjects:
      for other in try main.all(Account.self) where other !== account {
        (other.email, other.login) = (other.email + "!", other.login + "!")
      }
    }
    while main.hasChanges {
      try Task.checkCancellation()
      await Task { @MainActor in }.value
    }
    let count = remedy == .deletion ? 2 : 3
    #expect(try store.reopened().count(Account.self) == count)
  }

  /// A change of one side of a relationship is noted on the other side, too, where it may be noted already.
  @Test(.hangLimit, arguments: SpoiltLinks.allCases, [false, true])
  func `a failed autosave is tried again once a relationship is mended`(
    _ links: SpoiltLinks, byOtherSide: Bool
  ) async throws {
    for isLoaded in [false, true] {
      let store = try SpoiltLinks.store()
      let main = store.container.mainContext
      try await links.mendAfterAutosave(main, isLoaded: isLoaded, byOtherSide: byOtherSide)
      try #expect(links.isMended(store.reopened()))
      let clerk = Clerk(modelContainer: try SpoiltLinks.store().container)
      try await clerk.mend(links, isLoaded: isLoaded, byOtherSide: byOtherSide)
      try #expect(links.isMended(ModelContext(clerk.modelContainer)))
    }
  }
}

@ModelActor private actor Clerk {
  func mend(_ links: SpoiltLinks, isLoaded: Bool, byOtherSide: Bool) async throws {
    modelContext.autosaveEnabled = true
    try await links.mendAfterAutosave(modelContext, isLoaded: isLoaded, byOtherSide: byOtherSide)
  }
}

/// Relationships that a save refuses, and how they are mended.
enum SpoiltLinks: CaseIterable {
  case crewIsEmpty, crewIsFull, menuIsEmpty, menuIsFull, courseIsEmpty, courseIsFull
  case deletionIsDenied, buyerIsDeleted

  static func store() throws -> TestStore {
    try TestStore(
      .memory, Crew.self, Sailor.self, Menu.self, Dish.self, Course.self, Student.self,
      Library.self, Volume.self, Invoice.self, Buyer.self, Company.self)
  }

  private func fill(_ context: ModelContext) throws {
    let (crew, menu, course) = (Crew(number: 1), Menu(name: "m"), Course(name: "c"))
    let (sealing, other) = (Library(name: "sealing"), Library(name: "other"))
    context.insertAll(crew, menu, course, sealing, other)
    crew.sailors = [Sailor(number: 1)]
    menu.dishes = [Dish(name: "1")]
    course.students = [Student(name: "1")]
    sealing.sealed = [Volume(title: "1")]
    context.insertAll(Invoice(number: 1, buyer: Buyer(number: 1)), Buyer(number: 2))
    try context.save()
  }

  private func load(_ context: ModelContext) throws {
    for sailor in try context.all(Sailor.self) { _ = sailor.crew?.sailors.count }
    for menu in try context.all(Menu.self) { _ = menu.dishes.count }
    for student in try context.all(Student.self) { _ = student.courses.map(\.students.count) }
    for library in try context.all(Library.self) { _ = library.sealed.map(\.sealer?.name) }
    for invoice in try context.all(Invoice.self) { _ = invoice.buyer.number }
  }

  private func spoil(_ context: ModelContext) throws {
    switch self {
    case .crewIsEmpty: try context.only(Sailor.self).crew = nil
    case .crewIsFull:
      try context.only(Crew.self).sailors += (2...4).map { Sailor(number: $0) }
    case .menuIsEmpty: try context.only(Menu.self).dishes = []
    case .menuIsFull:
      try context.only(Menu.self).dishes += [Dish(name: "2"), Dish(name: "3")]
    case .courseIsEmpty: try context.only(Course.self).students = []
    case .courseIsFull:
      try context.only(Course.self).students += [Student(name: "2"), Student(name: "3")]
    case .deletionIsDenied: context.delete(try library("sealing", context))
    case .buyerIsDeleted: context.delete(try buyer(1, context))
    }
  }

  private func mend(_ context: ModelContext, byOtherSide: Bool) throws {
    switch (self, byOtherSide) {
    case (.crewIsEmpty, false):
      try context.only(Crew.self).sailors.append(context.only(Sailor.self))
    case (.crewIsEmpty, true): try context.only(Sailor.self).crew = context.only(Crew.self)
    case (.crewIsFull, false): try context.only(Crew.self).sailors.removeLast()
    case (.crewIsFull, true): try context.all(Sailor.self).last { $0.crew != nil }?.crew = nil
    case (.menuIsEmpty, _): try context.only(Menu.self).dishes.append(context.only(Dish.self))
    case (.menuIsFull, _): try context.only(Menu.self).dishes.removeFirst()
    case (.courseIsEmpty, false):
      try context.only(Course.self).students.append(context.only(Student.self))
    case (.courseIsEmpty, true):
      try context.only(Student.self).courses.append(context.only(Course.self))
    case (.courseIsFull, false): try context.only(Course.self).students.removeLast()
    case (.courseIsFull, true): try context.all(Student.self).last?.courses = []
    case (.deletionIsDenied, false):
      try library("other", context).sealed.append(context.only(Volume.self))
    case (.deletionIsDenied, true):
      try context.only(Volume.self).sealer = library("other", context)
    case (.buyerIsDeleted, _): try context.only(Invoice.self).buyer = buyer(2, context)
    }
  }

  private func library(_ name: String, _ context: ModelContext) throws -> Library {
    try context.only(where: #Predicate { $0.name == name })
  }

  private func buyer(_ number: Int, _ context: ModelContext) throws -> Buyer {
    try context.only(where: #Predicate { $0.number == number })
  }

  /// - Parameter context: One that saves by itself.
  func mendAfterAutosave(
    _ context: ModelContext, isLoaded: Bool, byOtherSide: Bool,
    isolation: isolated (any Actor)? = #isolation
  ) async throws {
    try fill(context)
    if isLoaded { try load(context) }
    try spoil(context)
    // The turn that saves comes before this task's next one.
    for _ in 0..<3 { await Task.yield() }
    #expect(context.hasChanges)
    try mend(context, byOtherSide: byOtherSide)
    while context.hasChanges {
      try Task.checkCancellation()
      await Task.yield()
    }
  }

  func isMended(_ context: ModelContext) throws -> Bool {
    switch self {
    case .crewIsEmpty: try context.only(Crew.self).sailors.count == 1
    case .crewIsFull: try context.only(Crew.self).sailors.count == 3
    case .menuIsEmpty: try context.only(Menu.self).dishes.count == 1
    case .menuIsFull: try context.only(Menu.self).dishes.count == 2
    case .courseIsEmpty: try context.only(Course.self).students.count == 1
    case .courseIsFull: try context.only(Course.self).students.count == 2
    case .deletionIsDenied: try context.only(Library.self).sealed.count == 1
    case .buyerIsDeleted: try context.only(Buyer.self).number == 2
    }
  }
}
