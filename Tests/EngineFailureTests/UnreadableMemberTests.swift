import SteadSQLite

enum Binding: String, Codable { case paper, leather }

/// Has volumes by each way that a relationship is stored, and under each rule that a deletion must keep.
@Model final class Library {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \Volume.keeper) var kept: [Volume] = []
  @Relationship(deleteRule: .nullify, inverse: \Volume.lender) var lent: [Volume] = []
  @Relationship(deleteRule: .deny, inverse: \Volume.sealer) var sealed: [Volume] = []
  @Relationship(deleteRule: .cascade, inverse: \Volume.sharers) var shared: [Volume] = []
  @Relationship(deleteRule: .cascade, inverse: \Volume.crown) var jewel: Volume?
  @Relationship(deleteRule: .nullify, inverse: \Volume.host) var guest: Volume?
  @Relationship(deleteRule: .deny, inverse: \Volume.vault) var relic: Volume?
  @Relationship(maximumModelCount: 3, inverse: \Volume.cabinet) var few: [Volume] = []
  init(name: String) { self.name = name }
}

@Model final class Volume {
  var title: String
  var binding = Binding.paper
  var keeper: Library?
  var lender: Library?
  var sealer: Library?
  var sharers: [Library] = []
  var crown: Library?
  var host: Library?
  var vault: Library?
  var cabinet: Library?
  init(title: String) { self.title = title }
}

/// One object that could not be read made the lists of all owners read as empty. Deletions then skipped their rules, and
/// were saved.
@Suite("Relationships to objects that cannot be read") struct UnreadableMemberTests {
  enum Link: CaseIterable {
    case kept, lent, sealed, shared, jewel, guest, relic

    var isList: Bool { self == .kept || self == .lent || self == .sealed || self == .shared }
    var denies: Bool { self == .sealed || self == .relic }
    var cascades: Bool { self == .kept || self == .shared || self == .jewel }

    fileprivate func set(_ volumes: [Volume], of library: Library) {
      switch self {
      case .kept: library.kept = volumes
      case .lent: library.lent = volumes
      case .sealed: library.sealed = volumes
      case .shared: library.shared = volumes
      case .jewel: library.jewel = volumes.last
      case .guest: library.guest = volumes.last
      case .relic: library.relic = volumes.last
      }
    }

    fileprivate func titles(of library: Library) -> [String] {
      switch self {
      case .kept: library.kept.map(\.title)
      case .lent: library.lent.map(\.title)
      case .sealed: library.sealed.map(\.title)
      case .shared: library.shared.map(\.title)
      case .jewel: library.jewel.map { [$0.title] } ?? []
      case .guest: library.guest.map { [$0.title] } ?? []
      case .relic: library.relic.map { [$0.title] } ?? []
      }
    }
  }

  private func sql(_ statement: String, in store: TestStore) throws {
    var options = SQLiteOptions(.file(store.url.path))
    options.isWritable = true
    options.trustsSchema = true
    _ = try SQLiteConnection(options).rows(statement, [])
  }

  private func spoil(_ store: TestStore, _ title: String = "a1") throws {
    try sql("UPDATE Volume SET binding = 'papyrus' WHERE title = '\(title)'", in: store)
  }

  private func repair(_ store: TestStore) throws {
    try sql("UPDATE Volume SET binding = 'leather' WHERE binding = 'papyrus'", in: store)
  }

  /// Two libraries with two volumes each, of which "a1" cannot be read.
  private func store(_ link: Link) throws -> TestStore {
    let store = try TestStore(Library.self, Volume.self)
    let writer = store.context()
    for name in ["a", "b"] {
      let library = Library(name: name)
      writer.insert(library)
      let volumes = [Volume(title: "\(name)0"), Volume(title: "\(name)1")]
      for volume in volumes { writer.insert(volume) }
      link.set(volumes, of: library)
    }
    try writer.save()
    try spoil(store)
    return store
  }

  private func libraries(_ context: ModelContext) throws -> [Library] {
    try context.fetch(FetchDescriptor<Library>(sortBy: [SortDescriptor(\.name)]))
  }

  @Test(arguments: Link.allCases)
  func `all others are in the lists and references of their owners`(_ link: Link) throws {
    let store = try store(link)
    let found = try libraries(store.context())
    #expect(link.titles(of: found[0]) == (link.isList ? ["a0"] : []))
    #expect(link.titles(of: found[1]) == (link.isList ? ["b0", "b1"] : ["b1"]))
    let alone = try #require(try libraries(store.context()).last)
    #expect(link.titles(of: alone) == (link.isList ? ["b0", "b1"] : ["b1"]))
  }

  @Test(arguments: Link.allCases, [false, true])
  func `a deletion is not saved while a rule cannot be applied`(
    _ link: Link, isLoaded: Bool
  ) throws {
    for isRolledBack in [false, true] {
      let store = try store(link)
      let context = store.context()
      let library = try #require(try libraries(context).first)
      if isLoaded { _ = link.titles(of: library) }
      context.delete(library)
      for _ in 0..<2 {
        let error = try refusal(of: context)
        #expect(
          error == .unreadableValue || link.isList && link.denies && error == .deletionDenied)
        if error == .unreadableValue { #expect(error.message.contains("Volume.binding of row")) }
      }
      if isRolledBack { context.rollback() }
      try repair(store)
      let reader = try store.reopened()
      #expect(try reader.count(Library.self) == 2 && reader.count(Volume.self) == 4)
      let stored = try libraries(reader)
      #expect(stored.map { link.titles(of: $0).count } == (link.isList ? [2, 2] : [1, 1]))
      if isRolledBack { context.delete(library) }
      if link.denies {
        #expect(try refusal(of: context) == .deletionDenied)
      } else {
        try context.save()
        let gone = link.cascades ? (link.isList ? 2 : 1) : 0
        #expect(try store.reopened().count(Volume.self) == 4 - gone)
      }
      #expect(try store.container.check().isSound)
    }
  }

  @Test(arguments: [Link.kept, .lent, .shared])
  func `what is added to or removed from such a list is saved, and the object stays in it`(
    _ link: Link
  ) throws {
    let store = try store(link)
    let context = store.context()
    let library = try #require(try libraries(context).first)
    let new = Volume(title: "a2")
    switch link {
    case .kept: library.kept.append(new)
    case .lent: library.lent.append(new)
    default: library.shared.append(new)
    }
    try context.save()
    #expect(link.titles(of: library) == ["a0", "a2"])
    try repair(store)
    let stored = try libraries(store.reopened())
    #expect(link.titles(of: stored[0]) == ["a0", "a1", "a2"])
    #expect(try store.container.check().isSound)
  }

  /// Undo took a row that could not be read for none, and the save cleared the reference.
  @Test(arguments: [Link.jewel, .guest, .relic])
  func `undo leads a reference to an unreadable object again`(_ link: Link) throws {
    let store = try store(link)
    let context = store.context()
    let manager = UndoManager()
    manager.groupsByEvent = false
    context.undoManager = manager
    let library = try libraries(context)[0]
    library.name = "c"
    link.set([], of: library)
    manager.undo()
    try context.save()
    try repair(store)
    let stored = try store.reopened()
    let volume = try stored.only(Volume.self, where: #Predicate { $0.title == "a1" })
    #expect(
      try link.titles(of: stored.only(Library.self, where: #Predicate { $0.name == "c" })) == ["a1"]
    )
    #expect([volume.crown, volume.host, volume.vault].contains { $0?.name == "c" })
  }

  /// The members were counted without the one that could not be read.
  @Test func `an unreadable member counts towards a limit`() throws {
    let store = try store(.kept)
    let writer = store.context()
    let owner = try libraries(writer)[1]
    owner.few = (0..<3).map { Volume(title: "f\($0)") }
    try writer.save()
    try spoil(store, "f1")
    let context = store.context()
    let library = try libraries(context)[1]
    library.few.append(Volume(title: "f3"))
    #expect(try refusal(of: context) == .modelValidationFailure)
    library.few.removeAll { $0.title == "f0" }
    try context.save()
    #expect(library.few.map(\.title) == ["f2", "f3"])
  }

  /// Random libraries in whose lists random members cannot be read: what a deletion leaves is sound, or is refused.
  @Test(arguments: 0..<2) func `random deletions leave nothing dangling`(seed: UInt64) async throws
  {
    for round in 0..<UInt64(Effort.times(6)) {
      var random = SplitMix(seed: seed &* 1_000 &+ round)
      let store = try TestStore(Library.self, Volume.self)
      let writer = store.context()
      let all = (0..<4).map { Library(name: "\($0)") }
      for library in all { writer.insert(library) }
      for number in 0..<12 {
        let volume = Volume(title: "v\(number)")
        writer.insert(volume)
        volume.keeper = Bool.random(using: &random) ? all.randomElement(using: &random) : nil
        volume.lender = Bool.random(using: &random) ? all.randomElement(using: &random) : nil
        volume.sharers = all.filter { _ in Int.random(in: 0..<4, using: &random) == 0 }
        volume.crown = all.randomElement(using: &random)
        volume.host = all.randomElement(using: &random)
      }
      try writer.save()
      var bad: Set<String> = []
      for _ in 0..<2 { bad.insert("v\(Int.random(in: 0..<12, using: &random))") }
      let owners = try libraries(try store.reopened()).filter { library in
        [
          library.kept, library.lent, library.shared,
          [library.jewel, library.guest].compactMap(\.self),
        ]
        .joined().contains { bad.contains($0.title) }
      }.map(\.name)
      for title in bad { try spoil(store, title) }
      let context = store.context()
      let found = try libraries(context)
      let library = try #require(found.randomElement(using: &random))
      for other in found where Bool.random(using: &random) {
        _ = (other.kept.count, other.lent.count, other.jewel, other.guest)
      }
      let name = library.name
      context.delete(library)
      // A cascade may lead to another volume's lists, of which none matters to it.
      if owners.contains(name) {
        #expect(try refusal(of: context) == .unreadableValue, "seed \(seed), round \(round)")
      } else {
        try context.save()
      }
      try repair(store)
      #expect(try store.container.check().isSound, "seed \(seed), round \(round)")
      if context.hasChanges { try context.save() }
      #expect(try store.container.check().isSound, "seed \(seed), round \(round)")
      #expect(try store.reopened().count(Library.self) == 3)
      await Task.yield()
    }
  }
}
