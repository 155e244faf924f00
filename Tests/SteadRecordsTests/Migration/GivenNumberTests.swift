import Foundation
import RecordsTestSupport
import SteadTestSupport
import SwiftData
import Testing

// MARK: - Lists

private enum Tree1: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
  static var models: [any PersistentModel.Type] { [Base.self, Sub.self, Box.self] }

  @Model class Base {
    var name: String
    var box: Box?
    init(name: String) { self.name = name }
  }

  @Model final class Sub: Base {
    override init(name: String) { super.init(name: name) }
  }

  @Model final class Box {
    @Relationship(inverse: \Base.box) var items: [Base] = []
    var loose: [Base] = []
    init() {}
  }
}

/// Without the subclass.
private enum Tree2: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
  static var models: [any PersistentModel.Type] { [Base.self, Box.self] }

  @Model class Base {
    var name: String
    var box: Box?
    init(name: String) { self.name = name }
  }

  @Model final class Box {
    @Relationship(inverse: \Base.box) var items: [Base] = []
    var loose: [Base] = []
    init() {}
  }
}

/// With the subclass again.
private enum Tree3: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }
  static var models: [any PersistentModel.Type] { [Base.self, Sub.self, Box.self] }

  @Model class Base {
    var name: String
    var note: String?
    var box: Box?
    init(name: String) { self.name = name }
  }

  @Model final class Sub: Base {
    override init(name: String) { super.init(name: name) }
  }

  @Model final class Box {
    @Relationship(inverse: \Base.box) var items: [Base] = []
    var loose: [Base] = []
    init() {}
  }
}

private enum TreePlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Tree1.self, Tree2.self, Tree3.self] }
  static var stages: [MigrationStage] {
    [
      .lightweight(fromVersion: Tree1.self, toVersion: Tree2.self),
      .lightweight(fromVersion: Tree2.self, toVersion: Tree3.self),
    ]
  }
}

private protocol Named: PersistentModel {
  var name: String { get set }
}

/// A box of one version, with its lists: over an inverse, and of pairs.
private protocol Listing: PersistentModel {
  associatedtype Item: Named
  var items: [Item] { get set }
  var loose: [Item] { get set }
  init()
}

extension Tree1.Base: Named {}
extension Tree2.Base: Named {}
extension Tree1.Box: Listing {}
extension Tree2.Box: Listing {}

// MARK: - Classes that come and go

private enum Whole {
  @Model class Base {
    var name: String
    init(name: String) { self.name = name }
  }

  @Model final class Sub: Base {
    override init(name: String) { super.init(name: name) }
  }
}

private enum Alone {
  @Model class Base {
    var name: String
    init(name: String) { self.name = name }
  }
}

private enum Apart {
  @Model class Base {
    var name: String
    init(name: String) { self.name = name }
  }

  @Model final class Sub {
    var name: String
    init(name: String) { self.name = name }
  }
}

private enum Orphan {
  @Model final class Sub {
    var name: String
    init(name: String) { self.name = name }
  }
}

private enum Neither {
  @Model final class Other {
    var name: String
    init(name: String) { self.name = name }
  }
}

private enum Renamed {
  @Model final class Trunk {
    var name: String
    init(name: String) { self.name = name }
  }
}

extension Renamed.Trunk: RenamedModel {
  static var originalName: String { "Base" }
}

/// The renamed class, and a new one with its former name.
private enum Both {
  @Model final class Trunk {
    var name: String
    init(name: String) { self.name = name }
  }

  @Model class Base {
    var name: String
    init(name: String) { self.name = name }
  }
}

extension Both.Trunk: RenamedModel {
  static var originalName: String { "Base" }
}

/// A store that is opened with one version after the other.
private struct ChangingStore {
  let store: StoreFile
  /// The identifiers that objects have had.
  private(set) var seen: Set<PersistentIdentifier> = []

  init() throws { store = try StoreFile() }

  /// Opens the store with a version, and saves some new objects, whose identifiers no object may have had. Deletes some.
  mutating func use(
    _ version: GivenNumberTests.Version, makes: () -> Bool = { true },
    deletes: () -> Bool = { false },
    _ note: String
  ) throws {
    let container = try ModelContainer(
      for: Schema(version.types), configurations: ModelConfiguration(url: store.url))
    let context = ModelContext(container)
    var objects = try version.types.flatMap { try Self.all($0, in: context) }
    // Objects of a class that was renamed have another name.
    seen.formUnion(objects.map(\.persistentModelID))
    let new = version.objects().filter { _ in makes() }
    for object in new { context.insert(object) }
    try context.save()
    for object in new {
      let isNew = seen.insert(object.persistentModelID).inserted
      #expect(isNew, "\(object.persistentModelID): \(note)")
    }
    objects += new
    for object in objects where deletes() { context.delete(object) }
    try context.save()
    let check = try container.check()
    #expect(check.problems.isEmpty, "\(check): \(note)")
  }

  private static func all<T: PersistentModel>(
    _ type: T.Type, in context: ModelContext
  ) throws -> [any PersistentModel] {
    try context.fetch(FetchDescriptor<T>())
  }
}

@Suite("Numbers that a migration takes from their rows") struct GivenNumberTests {
  enum Version: String, CaseIterable {
    case whole, alone, apart, orphan, neither, renamed, both

    var types: [any PersistentModel.Type] {
      switch self {
      case .whole: [Whole.Base.self, Whole.Sub.self]
      case .alone: [Alone.Base.self]
      case .apart: [Apart.Base.self, Apart.Sub.self]
      case .orphan: [Orphan.Sub.self]
      case .neither: [Neither.Other.self]
      case .renamed: [Renamed.Trunk.self]
      case .both: [Both.Trunk.self, Both.Base.self]
      }
    }

    /// A new object of each class.
    func objects() -> [any PersistentModel] {
      switch self {
      case .whole: [Whole.Base(name: "new"), Whole.Sub(name: "new")]
      case .alone: [Alone.Base(name: "new")]
      case .apart: [Apart.Base(name: "new"), Apart.Sub(name: "new")]
      case .orphan: [Orphan.Sub(name: "new")]
      case .neither: [Neither.Other(name: "new")]
      case .renamed: [Renamed.Trunk(name: "new")]
      case .both: [Both.Trunk(name: "new"), Both.Base(name: "new")]
      }
    }
  }

  /// The numbers of the dropped rows were given out again: members that were appended came before others, and an
  /// identifier that was kept of a dropped object led to a new one.
  @Test(arguments: [false, true])
  func `are not given to new objects, and no place waits for one`(byPlan: Bool) throws {
    let store = try StoreFile()
    func open(_ version: any VersionedSchema.Type) throws -> ModelContainer {
      try ModelContainer(
        for: Schema(versionedSchema: version), migrationPlan: byPlan ? TreePlan.self : nil,
        configurations: ModelConfiguration(url: store.url))
    }
    var seen: Set<PersistentIdentifier> = []
    do {
      let context = ModelContext(try open(Tree1.self))
      let (a, b, s) = (Tree1.Base(name: "a"), Tree1.Base(name: "b"), Tree1.Sub(name: "s"))
      context.insertAll(a, b, s)
      try context.save()
      let box = Tree1.Box()
      context.insert(box)
      box.loose = [a, b, s]
      try context.save()
      box.items = [s, b, a]
      box.loose = [s, b, a]
      try context.save()
      seen = [a.persistentModelID, b.persistentModelID, s.persistentModelID]
      try #require(seen.count == 3)
    }
    do {
      let container = try open(Tree2.self)
      let check = try container.check()
      #expect(check.problems.isEmpty, "\(check)")
      let context = ModelContext(container)
      let (box, c) = (try context.only(Tree2.Box.self), Tree2.Base(name: "c"))
      box.items.append(c)
      box.loose.append(c)
      try context.save()
      let stored = try ModelContext(container).only(Tree2.Box.self)
      #expect(stored.items.map(\.name) == ["b", "a", "c"])
      #expect(stored.loose.map(\.name) == ["b", "a", "c"])
      #expect(!seen.contains(c.persistentModelID))
      seen.insert(c.persistentModelID)
    }
    let context = ModelContext(try open(Tree3.self))
    let s = Tree3.Sub(name: "s")
    context.insert(s)
    try context.save()
    #expect(!seen.contains(s.persistentModelID))
  }

  /// Each path has lost a class, or its name, in between.
  @Test(arguments: [
    [Version.whole, .alone, .whole], [.apart, .alone, .apart], [.apart, .orphan, .apart],
    [.whole, .neither, .whole], [.whole, .alone, .apart], [.apart, .alone, .whole],
    [.whole, .orphan, .whole], [.whole, .orphan, .alone], [.alone, .renamed, .both],
    [.alone, .renamed, .neither, .both], [.both, .renamed, .alone], [.both, .alone, .both],
    [.whole, .renamed, .neither, .apart], [.orphan, .neither, .whole],
  ])
  func `are not given out again when their class's name comes back`(
    _ path: [Version]
  ) throws {
    var store = try ChangingStore()
    for version in path { try store.use(version, "\(path)") }
  }

  @Test func `are not given out again by random versions`() throws {
    for round in 0..<Effort.times(20) {
      var random = SplitMix(seed: Effort.seed &+ UInt64(round))
      var store = try ChangingStore()
      var path: [Version] = []
      for _ in 0..<8 {
        let version = Version.allCases[
          Int.random(in: 0..<Version.allCases.count, using: &random)]
        do {
          try store.use(
            version, makes: { Int.random(in: 0..<3, using: &random) > 0 },
            deletes: { Int.random(in: 0..<3, using: &random) == 0 },
            "seed \(Effort.seed), round \(round), \(path), then \(version)")
          path.append(version)
        } catch let error as SwiftDataError where error == .loadIssueModelContainer {
          // Rows of one table do not move into several, nor those of several into one.
        }
      }
      #expect(path.count > 1 || !Effort.isRepresentative)
    }
  }

  /// A place may be the number of a row that a migration drops.
  @Test func `are no places of members that are added later`() throws {
    for round in 0..<Effort.times(20) {
      var random = SplitMix(seed: Effort.seed &+ UInt64(round))
      let store = try StoreFile()
      var lists = Lists()
      for step in 0..<8 {
        let note = "seed \(Effort.seed), round \(round), step \(step)"
        if Bool.random(using: &random) {
          let new = [
            Tree1.Base(name: "base \(step)"), Tree1.Sub(name: "sub \(step)"),
            Tree1.Base(name: "last \(step)"),
          ].shuffled(using: &random)
          try lists.change(
            Tree1.Box.self, new, in: store.open(Tree1.Base.self, Tree1.Sub.self, Tree1.Box.self),
            note, using: &random)
        } else {
          lists.removeAll { $0.hasPrefix("sub") }
          try lists.change(
            Tree2.Box.self, [Tree2.Base(name: "base \(step)")],
            in: store.open(Tree2.Base.self, Tree2.Box.self), note, using: &random)
        }
      }
    }
  }

  /// The names of a box's members.
  private struct Lists {
    private var items: [String] = []
    private var loose: [String] = []

    mutating func removeAll(where isRemoved: (String) -> Bool) {
      items.removeAll(where: isRemoved)
      loose.removeAll(where: isRemoved)
    }

    /// Compares the lists with the store's, puts them into another order, adds members, and compares them again.
    mutating func change<Box: Listing>(
      _ type: Box.Type, _ new: [Box.Item], in container: ModelContainer, _ note: String,
      using random: inout SplitMix
    ) throws {
      try compare(type, in: container, note)
      let context = ModelContext(container)
      let found = try context.all(type).first
      let box = found ?? Box()
      if found == nil { context.insert(box) }
      if Bool.random(using: &random) { box.items.shuffle(using: &random) }
      if Bool.random(using: &random) { box.loose.shuffle(using: &random) }
      try context.save()
      for item in new { context.insert(item) }
      box.items += new
      box.loose += new
      try context.save()
      (items, loose) = (box.items.map(\.name), box.loose.map(\.name))
      try compare(type, in: container, note)
    }

    private func compare<Box: Listing>(
      _ type: Box.Type, in container: ModelContainer, _ note: String
    ) throws {
      let check = try container.check()
      #expect(check.problems.isEmpty, "\(check): \(note)")
      let box = try ModelContext(container).all(type).first
      #expect(box?.items.map(\.name) ?? [] == items, "\(note)")
      #expect(box?.loose.map(\.name) ?? [] == loose, "\(note)")
    }
  }
}
