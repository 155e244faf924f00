@Suite("Limits of to-many relationships") struct MemberLimitTests {
  private func store(_ place: StorePlace = .memory) throws -> TestStore {
    try TestStore(
      place, Crew.self, Sailor.self, Menu.self, Dish.self, Course.self, Student.self)
  }

  /// A crew of two sailors and one of one.
  private func fill(_ store: TestStore) throws {
    let context = store.context()
    for (number, sailors) in [(1, [1, 2]), (2, [3])] {
      let crew = Crew(number: number)
      crew.sailors = sailors.map { Sailor(number: $0) }
      context.insert(crew)
    }
    try context.save()
  }

  private func sailor(_ number: Int, _ context: ModelContext) throws -> Sailor {
    try context.only(where: #Predicate { $0.number == number })
  }

  private func crew(_ number: Int, _ context: ModelContext) throws -> Crew {
    try context.only(where: #Predicate { $0.number == number })
  }

  enum Loss: CaseIterable, CustomTestStringConvertible {
    case deleted, deletedByPredicate, ledNowhere, ledElsewhere, movedByList

    var testDescription: String { "\(self)" }
  }

  /// A save counted the members of loaded owners alone, so that the last member of a crew that was not loaded could go.
  @Test(arguments: Loss.allCases, [false, true])
  func `the last member stays, whether or not its owner is loaded`(
    loss: Loss, isOwnerLoaded: Bool
  ) throws {
    let store = try store()
    try fill(store)
    let context = store.context()
    let last = try sailor(3, context)
    if isOwnerLoaded { #expect(last.crew?.sailors.count == 1) }
    let error: SwiftDataError
    if loss == .deletedByPredicate {
      let thrown = #expect(throws: SwiftDataError.self) {
        try context.delete(model: Sailor.self, where: #Predicate { $0.number == 3 })
      }
      error = try #require(thrown)
    } else {
      switch loss {
      case .deleted: context.delete(last)
      case .ledNowhere: last.crew = nil
      case .ledElsewhere: last.crew = try crew(1, context)
      default: try crew(1, context).sailors.append(last)
      }
      error = try refusal(of: context)
      #expect(context.hasChanges)
    }
    #expect(error == .modelValidationFailure)
    #expect(error.message.contains("Crew.sailors"))
    #expect(try store.context().fetchCount(FetchDescriptor<Sailor>()) == 3)
    #expect(try sailor(3, store.context()).crew?.number == 2)
  }

  /// Two contexts that each deleted one of two left none, where neither had loaded the owner.
  @Test(arguments: StorePlace.allCases, [false, true])
  func `two contexts that each delete one of two leave one`(
    place: StorePlace, isOwnerLoaded: Bool
  ) throws {
    let store = try store(place)
    try fill(store)
    let (first, second) = (store.context(), try store.reopened())
    let (one, other) = (try sailor(1, first), try sailor(2, second))
    if isOwnerLoaded { #expect(one.crew?.sailors.count == 2 && other.crew?.sailors.count == 2) }
    first.delete(one)
    second.delete(other)
    try first.save()
    #expect(try refusal(of: second) == .modelValidationFailure)
    #expect(try crew(1, store.reopened()).sailors.map(\.number) == [2])
    second.rollback()
    second.delete(try crew(1, second))
    second.delete(try sailor(2, second))
    try second.save()
  }

  /// Two contexts that each added one exceeded the greatest number together.
  @Test(arguments: [false, true])
  func `two contexts together do not exceed the greatest number`(byList: Bool) throws {
    let store = try store()
    try fill(store)
    let (first, second) = (store.context(), store.context())
    for context in [first, second] {
      let sailor = Sailor(number: 9)
      context.insert(sailor)
      if byList {
        try crew(1, context).sailors.append(sailor)
      } else {
        sailor.crew = try crew(1, context)
      }
    }
    try first.save()
    #expect(try refusal(of: second) == .modelValidationFailure)
    #expect(try crew(1, store.context()).sailors.count == 3)
  }

  /// A relationship that is stored as pairs, with and without an inverse.
  @Test(arguments: [false, true])
  func `members of pairs are counted, too`(isDeletedByPredicate: Bool) throws {
    let store = try store()
    let writer = store.context()
    let (menu, course) = (Menu(name: "menu"), Course(name: "course"))
    writer.insertAll(menu, course)
    menu.dishes = [Dish(name: "soup")]
    course.students = [Student(name: "Ann"), Student(name: "Bob")]
    try writer.save()

    let context = store.context()
    if isDeletedByPredicate {
      #expect(throws: SwiftDataError.modelValidationFailure) {
        try context.delete(model: Dish.self)
      }
      #expect(throws: SwiftDataError.modelValidationFailure) {
        try context.delete(model: Student.self)
      }
      try context.delete(model: Student.self, where: #Predicate { $0.name == "Ann" })
    } else {
      context.delete(try context.only(Dish.self))
      #expect(try refusal(of: context) == .modelValidationFailure)
      context.rollback()
      context.delete(try context.only(Student.self, where: #Predicate { $0.name == "Ann" }))
      try context.save()
      try context.only(Student.self).courses = []
      #expect(try refusal(of: context) == .modelValidationFailure)
      context.rollback()
    }
    let other = store.context()
    let late = Student(name: "Cid")
    other.insert(late)
    late.courses = [try other.only(Course.self)]
    try other.save()
    let more = Student(name: "Dan")
    context.insert(more)
    more.courses = [try context.only(Course.self)]
    #expect(try refusal(of: context) == .modelValidationFailure)
    let reader = store.context()
    #expect(try reader.only(Course.self).students.map(\.name) == ["Bob", "Cid"])
    #expect(try reader.only(Menu.self).dishes.count == 1)
  }

  /// Two contexts delete, move and add sailors at random; the reference is a dictionary of crews by sailor.
  @Test(arguments: 0..<4)
  func `random changes of two contexts keep every crew within its limits`(
    seed: UInt64
  ) async throws {
    for place in 0..<Effort.times(20) {
      var trial = try CrewTrial(seed: seed * 1_000 + UInt64(place), store())
      for _ in 0..<8 { try trial.round() }
      await Task.yield()
    }
  }
}

/// A store, and what it holds: the crew of each sailor.
private struct CrewTrial {
  /// What one context has changed and not saved.
  private struct Changes {
    /// The crews of the sailors that it has led elsewhere, or nowhere.
    var sailors: [Int: Int?] = [:]
    var inserted: Set<Int> = []
    var deletedSailors: Set<Int> = []
    var deletedCrews: Set<Int> = []
  }

  private var random: SplitMix
  private let store: TestStore
  private let seed: UInt64
  private var sailors: [Int: Int?] = [:]
  private var crews: Set<Int> = []
  private var next = 1

  init(seed: UInt64, _ store: TestStore) throws {
    (random, self.seed, self.store) = (SplitMix(seed: seed), seed, store)
    let context = store.context()
    for number in 1...3 {
      let crew = Crew(number: number)
      context.insert(crew)
      crews.insert(number)
      for _ in 0..<Int.random(in: 1...2, using: &random) {
        crew.sailors.append(Sailor(number: next))
        sailors[next] = number
        next += 1
      }
    }
    try context.save()
  }

  mutating func round() throws {
    let (context, other) = (store.context(), store.context())
    var (mine, others) = (Changes(), Changes())
    for _ in 0..<Int.random(in: 1...3, using: &random) { try change(context, &mine) }
    if Bool.random(using: &random) {
      for _ in 0..<2 { try change(other, &others) }
      try save(other, others)
    }
    try save(context, mine)
  }

  private func sailor(_ number: Int, _ context: ModelContext) throws -> Sailor? {
    try context.fetch(FetchDescriptor<Sailor>(predicate: #Predicate { $0.number == number })).first
  }

  private func crew(_ number: Int, _ context: ModelContext) throws -> Crew? {
    try context.fetch(FetchDescriptor<Crew>(predicate: #Predicate { $0.number == number })).first
  }

  /// The crew that a context shows for a sailor.
  private func crew(of sailor: Int, _ changes: Changes) -> Int? {
    let crew = changes.sailors[sailor] ?? (sailors[sailor] ?? nil)
    return crew.flatMap { changes.deletedCrews.contains($0) ? nil : $0 }
  }

  private mutating func change(_ context: ModelContext, _ changes: inout Changes) throws {
    let known = Set(sailors.keys).union(changes.inserted).subtracting(changes.deletedSailors)
    let alive = crews.subtracting(changes.deletedCrews).sorted()
    let found = known.sorted().randomElement(using: &random)
    guard let number = alive.randomElement(using: &random), let crew = try crew(number, context)
    else { return }
    if Int.random(in: 0..<4, using: &random) == 0 { _ = crew.sailors.count }
    let action = Int.random(in: 0..<10, using: &random)
    if action < 2 {
      let sailor = Sailor(number: next)
      context.insert(sailor)
      if action == 0 { sailor.crew = crew } else { crew.sailors.append(sailor) }
      changes.inserted.insert(next)
      changes.sailors[next] = .some(number)
      next += 1
      return
    }
    if action == 2 {
      context.delete(crew)
      changes.deletedCrews.insert(number)
      // Those that the program has put there itself. Others may lead the rest elsewhere until the save.
      for sailor in known where changes.sailors[sailor] == .some(number) {
        changes.sailors[sailor] = .some(nil)
      }
      return
    }
    guard let found, let sailor = try sailor(found, context) else { return }
    if Int.random(in: 0..<4, using: &random) == 0 { _ = sailor.crew?.number }
    switch action {
    case 3...5:
      context.delete(sailor)
      changes.deletedSailors.insert(found)
    case 6:
      sailor.crew = nil
      if self.crew(of: found, changes) != nil { changes.sailors[found] = .some(nil) }
    default:
      let isThere = self.crew(of: found, changes) == number
      if action == 7 {
        crew.sailors.append(sailor)
      } else {
        sailor.crew = crew
      }
      if !isThere { changes.sailors[found] = .some(number) }
    }
  }

  private mutating func save(_ context: ModelContext, _ changes: Changes) throws {
    var after = sailors
    for sailor in changes.inserted { after[sailor] = .some(nil) }
    for (sailor, crew) in changes.sailors where after[sailor] != nil {
      after[sailor] = .some(crew)
    }
    let staying = crews.subtracting(changes.deletedCrews)
    for sailor in changes.deletedSailors { after[sailor] = nil }
    for (sailor, crew) in after {
      after[sailor] = .some(crew.flatMap { staying.contains($0) ? $0 : nil })
    }
    let isAllowed = staying.allSatisfy { crew in
      (1...3).contains(after.values.count { $0 == crew })
    }
    do {
      try context.save()
      #expect(isAllowed, "seed \(seed): saved")
    } catch let error as SwiftDataError {
      #expect(!isAllowed && error == .modelValidationFailure, "seed \(seed): \(error)")
      context.rollback()
    }
    if isAllowed { (sailors, crews) = (after, staying) }
    let found = try store.context().all(Sailor.self).map { ($0.number, $0.crew?.number) }
    #expect(Dictionary(found) { one, _ in one } == sailors, "seed \(seed): the store's sailors")
    #expect(Set(try store.context().all(Crew.self).map(\.number)) == crews, "seed \(seed)")
  }
}
