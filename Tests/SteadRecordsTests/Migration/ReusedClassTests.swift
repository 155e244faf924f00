import Foundation
import SteadTestSupport
import SwiftData
import Testing

@testable import SteadRecords

enum Crate1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self, Tag.self, Mark.self] }

  @Model final class Item {
    var name: String
    @Relationship(inverse: \Tag.items) var tags: [Tag] = []
    var marks: [Mark] = []
    init(_ name: String) { self.name = name }
  }

  @Model final class Tag {
    var word: String
    var items: [Item] = []
    init(_ word: String) { self.word = word }
  }

  @Model final class Mark {
    var number: Int
    @Relationship(inverse: \Item.marks) var item: Item?
    init(_ number: Int) { self.number = number }
  }
}

/// Two classes are reused by a typealias, and lead to the first version's `Item`.
enum Crate2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Item.self, Tag.self, Mark.self] }
  typealias Tag = Crate1.Tag
  typealias Mark = Crate1.Mark

  @Model final class Item {
    var name: String
    var note: String = "none"
    @Relationship(inverse: \Tag.items) var tags: [Tag] = []
    var marks: [Mark] = []
    init(_ name: String) { self.name = name }
  }
}

/// The class of that name is only reached, too: it is the one that is declared in the version.
enum Crate3: VersionedSchema {
  static let versionIdentifier = Schema.Version(3, 0, 0)
  static var models: [any PersistentModel.Type] { [Crate1.Tag.self, Crate1.Mark.self, Shelf.self] }

  @Model final class Shelf {
    var place: String
    var items: [Item] = []
    init(_ place: String) { self.place = place }
  }

  @Model final class Item {
    var name: String
    var note: String = "none"
    var count: Int = 3
    @Relationship(inverse: \Crate1.Tag.items) var tags: [Crate1.Tag] = []
    var marks: [Crate1.Mark] = []
    var shelf: Shelf?
    init(_ name: String) { self.name = name }
  }
}

enum CratePlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Crate1.self, Crate2.self, Crate3.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: Crate1.self, toVersion: Crate2.self,
        willMigrate: { context in
          for item in try context.fetch(FetchDescriptor<Crate1.Item>()) { item.name += "!" }
        },
        didMigrate: { context in
          for item in try context.fetch(FetchDescriptor<Crate2.Item>()) {
            item.note = item.tags.map(\.word).joined()
          }
        }),
      .lightweight(fromVersion: Crate2.self, toVersion: Crate3.self),
    ]
  }
}

/// Versions that reuse classes of earlier ones.
///
/// A reused class leads to a class of its own version, which came into the schema beside the new one of that name: the
/// container was refused with `duplicateModel`.
@Suite struct ReusedClassTests {
  private let directory: TemporaryDirectory
  private let url: URL

  init() throws {
    directory = try TemporaryDirectory()
    url = directory.file("crates.store")
    let context = ModelContext(
      try ModelContainer(
        for: Schema(versionedSchema: Crate1.self), configurations: ModelConfiguration(url: url)))
    let tags = ["a", "b"].map { Crate1.Tag($0) }
    for number in 0..<3 {
      let item = Crate1.Item("item \(number)")
      context.insert(item)
      item.tags = tags
      item.marks = [Crate1.Mark(number), Crate1.Mark(number + 10)]
    }
    try context.save()
  }

  private func open(
    _ version: any VersionedSchema.Type, hasPlan: Bool = true
  ) throws -> ModelContainer {
    try ModelContainer(
      for: Schema(versionedSchema: version), migrationPlan: hasPlan ? CratePlan.self : nil,
      configurations: ModelConfiguration(url: url))
  }

  @Test func `a version takes its own class of a name, and says which`() throws {
    for version: any VersionedSchema.Type in [Crate2.self, Crate3.self] {
      let schema = Schema(versionedSchema: version)
      #expect(schema.findings.problems.isEmpty)
      let item = try #require(schema.models.first { $0.name == "Item" })
      #expect(String(reflecting: item.type).contains("\(version).Item"))
      #expect(schema.models.count { $0.name == "Item" } == 1)
      let note = try #require(schema.findings.replacements.first)
      #expect(note.contains("\(version).Item") && note.contains("Crate1.Item"))
      // The relationships that cannot be used in code, and what to do.
      for words in [
        "Crate1.Tag.items", "Crate1.Mark.item", "Declare their classes in", "\(version) to",
      ] {
        #expect(note.contains(words), "\(note)")
      }
      #expect(schema.entitiesByName["Tag"]?.relationshipsByName["items"]?.inverseName == "tags")
      #expect(schema.entitiesByName["Mark"]?.relationshipsByName["item"]?.inverseName == "marks")
    }
    #expect(Schema(versionedSchema: Crate1.self).findings.replacements.isEmpty)
  }

  @Test(arguments: [false, true])
  func `a store follows through versions that reuse classes`(hasPlan: Bool) throws {
    for _ in 0..<2 {
      let container = try open(Crate2.self, hasPlan: false)
      let context = ModelContext(container)
      let items = try context.fetch(FetchDescriptor<Crate2.Item>(sortBy: [SortDescriptor(\.name)]))
      #expect(items.map(\.name) == ["item 0", "item 1", "item 2"])
      #expect(items.allSatisfy { Set($0.tags.map(\.word)) == ["a", "b"] && $0.marks.count == 2 })
      #expect(try container.check().problems.isEmpty)
    }
    let container = try open(Crate3.self, hasPlan: hasPlan)
    let items = try ModelContext(container).fetch(FetchDescriptor<Crate3.Item>())
    #expect(items.allSatisfy { $0.tags.count == 2 && $0.count == 3 })
  }

  @Test func `closures of a stage work with both versions' classes`() throws {
    let container = try open(Crate3.self)
    let items = try ModelContext(container).fetch(
      FetchDescriptor<Crate3.Item>(sortBy: [SortDescriptor(\.name)]))
    #expect(items.map(\.name) == ["item 0!", "item 1!", "item 2!"])
    #expect(items.allSatisfy { $0.note.count == 2 && $0.marks.count == 2 })
  }

  @Test func `links to objects of a reused class are stored from the own class's side`() throws {
    let context = ModelContext(try open(Crate2.self, hasPlan: false))
    let item = Crate2.Item("new")
    context.insert(item)
    try context.save()
    let (tag, mark) = (Crate1.Tag("c"), Crate1.Mark(7))
    item.tags.append(tag)
    item.marks.append(mark)
    try context.save()
    let again = ModelContext(try open(Crate2.self, hasPlan: false))
    let found = try #require(
      try again.fetch(FetchDescriptor<Crate2.Item>(predicate: #Predicate { $0.name == "new" }))
        .first)
    #expect(found.tags.map(\.word) == ["c"] && found.marks.map(\.number) == [7])
    again.delete(found)
    try again.save()
    #expect(try again.fetchCount(FetchDescriptor<Crate1.Mark>()) == 7)
  }

  /// Its type in the program is another version's class, of which there are no objects.
  @Test func `a relationship to a replaced class reads as empty, and the next save throws`() throws
  {
    let context = ModelContext(try open(Crate2.self, hasPlan: false))
    let tag = try #require(try context.fetch(FetchDescriptor<Crate1.Tag>()).first)
    let mark = try #require(try context.fetch(FetchDescriptor<Crate1.Mark>()).first)
    for item in try context.fetch(FetchDescriptor<Crate2.Item>()) { _ = item.tags.count }
    #expect(tag.items.isEmpty && mark.item == nil)
    tag.word = "changed"
    let error = #expect(throws: SwiftDataError.self) { try context.save() }
    #expect(error?.code == .unknownModel)
    #expect(error?.message.contains("Tag.items") == true)
    try context.save()
    let items = try ModelContext(try open(Crate2.self, hasPlan: false)).fetch(
      FetchDescriptor<Crate2.Item>())
    #expect(
      items.allSatisfy { Set($0.tags.map(\.word)).contains("changed") && $0.marks.count == 2 })
  }

  @Test func `a link from a new object to one of a reused class throws instead of being lost`()
    throws
  {
    let context = ModelContext(try open(Crate2.self, hasPlan: false))
    let item = Crate2.Item("new")
    context.insert(item)
    item.marks.append(Crate1.Mark(8))
    let error = #expect(throws: SwiftDataError.self) { try context.save() }
    #expect(error?.message.contains("Mark.item") == true)
  }

  /// The errors named an `Item` that was not in the schema, which has an `Item`.
  @Test func `an object of a replaced class is refused by the names of both classes`() throws {
    let context = ModelContext(try open(Crate2.self, hasPlan: false))
    func check(_ code: SwiftDataError.Code, _ body: () throws -> Void) {
      let error = #expect(throws: SwiftDataError.self) { try body() }
      #expect(error?.code == code)
      let message = error?.message ?? ""
      #expect(message.contains("Crate1.Item is not in the container's schema"), "\(message)")
      #expect(message.contains("which has SteadRecordsTests.Crate2.Item by that name"))
      #expect(message.contains("Use that class"))
    }
    check(.unknownSchema) { _ = try context.fetch(FetchDescriptor<Crate1.Item>()) }
    check(.unknownModel) {
      context.insert(Crate1.Item("other"))
      try context.save()
    }
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Crate2.Item>()) == 3)
  }

  /// Where the owner of the list is when the program sets it.
  enum Owner: CaseIterable { case stored, new, notInserted }
  enum Way: CaseIterable { case assigned, appended, appendedWithUndo }

  /// The engine took the objects of a list for those of the version's own class, and the program ended.
  @Test(arguments: Owner.allCases, Way.allCases)
  func `objects of a replaced class in a relationship are refused`(
    owner: Owner, way: Way
  ) throws {
    let context = ModelContext(try open(Crate2.self, hasPlan: false))
    let manager = UndoManager()
    if way == .appendedWithUndo { context.undoManager = manager }
    let tag =
      try owner == .stored
      ? #require(try context.fetch(FetchDescriptor<Crate1.Tag>()).first) : Crate1.Tag("new")
    if owner == .new { context.insert(tag) }
    let mark =
      try owner == .stored
      ? #require(try context.fetch(FetchDescriptor<Crate1.Mark>()).first) : Crate1.Mark(99)
    if owner == .new { context.insert(mark) }
    let other = Crate1.Item("other")
    mark.item = other
    if way != .assigned { tag.items.append(other) } else { tag.items = [other] }
    if owner == .notInserted {
      context.insert(tag)
      context.insert(mark)
    }
    let error = #expect(throws: SwiftDataError.self) { try context.save() }
    #expect(error?.code == .unknownModel)
    let message = error?.message ?? ""
    #expect(message.contains("Tag.items leads to SteadRecordsTests.Crate2.Item"), "\(message)")
    #expect(message.contains("Mark.item leads to SteadRecordsTests.Crate2.Item"), "\(message)")
    #expect(message.contains("Declare Tag in this version"))
    tag.word = "saved"
    try context.save()
    #expect(other.modelContext == nil)
    let again = ModelContext(try open(Crate2.self, hasPlan: false))
    let items = try again.fetch(FetchDescriptor<Crate2.Item>())
    #expect(items.count == 3 && items.allSatisfy { $0.tags.count == 2 && $0.marks.count == 2 })
    if owner == .stored {
      #expect(items.allSatisfy { $0.tags.contains { $0.word == "saved" } })
    }
    context.processPendingChanges()
    while manager.canUndo { manager.undo() }
    context.delete(tag)
    try context.save()
  }
}
