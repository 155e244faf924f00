import Foundation
import RecordsTestSupport
import SteadTestSupport
import SwiftData
import Testing

enum Kind: String, Codable { case moss, fern }

struct Size: Codable, Equatable {
  var width: Double
  var label: String?
  var marks: [Int]
}

@Model final class Specimen {
  var name: String
  var kind: Kind
  var size: Size?
  var found: Date
  var lost: Date?
  var number: UInt64
  var price: Decimal
  var bytes: Data
  var code: UUID
  var page: URL?
  var ratio: Double
  var tags: [String]
  var isRare = true

  init(_ name: String) {
    self.name = name
    kind = .fern
    size = Size(width: 0.1, label: nil, marks: [1, 2])
    found = Date(timeIntervalSinceReferenceDate: 700_000_000.123456)
    number = .max
    price = Decimal(string: "18446744073709551615.25") ?? 0
    bytes = Data([0, 255])
    code = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    page = URL(string: "https://example.org/a?b=c")
    ratio = -.infinity
    tags = ["ä", "\"", ""]
  }
}

@Model final class Stubborn {
  /// Can be encoded by the program that makes it, and never again.
  struct Part: Codable {
    var isStubborn = false
    private var isDecoded = false

    init(isStubborn: Bool = false) { self.isStubborn = isStubborn }

    func encode(to encoder: any Encoder) throws {
      if isStubborn, isDecoded { throw CocoaError(.coderInvalidValue) }
      var container = encoder.singleValueContainer()
      try container.encode(isStubborn)
    }

    init(from decoder: any Decoder) throws {
      isStubborn = try decoder.singleValueContainer().decode(Bool.self)
      isDecoded = true
    }
  }

  var part: Part? = Part()
  init() {}
}

@Model final class Tagged {
  @Attribute(.unique) var tag: String
  var count: Int

  init(_ tag: String, _ count: Int) {
    self.tag = tag
    self.count = count
  }
}

private enum NoPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [] }
  static var stages: [MigrationStage] { [] }
}

@Suite("A store in a JSON file") struct JSONStoreTests {
  private let directory: TemporaryDirectory

  private var url: URL { directory.file("specimens.json") }

  init() throws { directory = try TemporaryDirectory() }

  private func context() throws -> ModelContext {
    ModelContext(
      try ModelContainer(for: Specimen.self, configurations: JSONStoreConfiguration(url: url)))
  }

  private func write() throws {
    let context = try context()
    context.insert(Specimen("a"))
    try context.save()
  }

  /// Changes the text of the file.
  private func edit(_ old: String, _ new: String) throws {
    let text = try String(contentsOf: url, encoding: .utf8)
    try #require(text.contains(old))
    try text.replacing(old, with: new).write(to: url, atomically: true, encoding: .utf8)
  }

  @Test func `a store gets the container's migration plan`() throws {
    let error = #expect(throws: SwiftDataError.self) {
      try ModelContainer(
        for: Schema([Specimen.self]), migrationPlan: NoPlan.self,
        configurations: [JSONStoreConfiguration(url: url)] as [any DataStoreConfiguration])
    }
    #expect(error?.code == .unknownSchema)
  }

  @Test func `erase within a transaction throws and erases nothing`() throws {
    try write()
    let context = try context()
    try context.transaction {
      #expect(throws: SwiftDataError.transactionOpen) { try context.container.erase() }
    }
    #expect(try self.context().fetchCount(FetchDescriptor<Specimen>()) == 1)
  }

  @Test func `a value that cannot be encoded is no nil`() throws {
    let context = ModelContext(
      try ModelContainer(for: Stubborn.self, configurations: JSONStoreConfiguration(url: url)))
    let object = Stubborn()
    context.insert(object)
    try context.save()
    object.part = Stubborn.Part(isStubborn: true)
    let error = #expect(throws: SwiftDataError.self) { try context.save() }
    #expect(error?.code == .modelValidationFailure && error?.message.contains("part") == true)
    #expect(context.hasChanges)
  }

  @Test func `an observer of willSave may insert objects with unique values`() throws {
    let first = ModelContext(
      try ModelContainer(for: Tagged.self, configurations: JSONStoreConfiguration(url: url)))
    first.insert(Tagged("a", 1))
    try first.save()
    let context = ModelContext(
      try ModelContainer(
        for: Specimen.self, Tagged.self, configurations: JSONStoreConfiguration(url: url)))
    // The observer runs on this thread, within the save.
    nonisolated(unsafe) let saving = context
    let observer = NotificationCenter.default.addObserver(
      forName: ModelContext.willSave, object: context, queue: nil
    ) { _ in saving.insert(Tagged("a", 2)) }
    defer { NotificationCenter.default.removeObserver(observer) }
    // Until the notification nothing says that unique values are needed.
    context.insert(Specimen("b"))
    try context.save()
    let fresh = ModelContext(
      try ModelContainer(
        for: Specimen.self, Tagged.self, configurations: JSONStoreConfiguration(url: url)))
    #expect(try fresh.only(Tagged.self).count == 2)
  }

  @Test func `values of all kinds come back`() throws {
    try write()
    let (found, expected) = (
      try context().only(Specimen.self), Specimen("a")
    )
    #expect(found.name == "a")
    #expect(found.kind == .fern)
    #expect(found.size == expected.size)
    #expect(found.found == expected.found)
    #expect(found.lost == nil)
    #expect(found.number == .max)
    #expect(found.price == expected.price)
    #expect(found.bytes == expected.bytes)
    #expect(found.code == expected.code)
    #expect(found.page == expected.page)
    #expect(found.ratio == -.infinity)
    #expect(found.tags == expected.tags)
    #expect(found.isRare)
  }

  @Test func `predicates reach into structs`() throws {
    let context = try context()
    let wider = Specimen("b")
    wider.size?.width = 0.2
    context.insert(Specimen("a"))
    context.insert(wider)
    try context.save()
    let narrow = FetchDescriptor<Specimen>(predicate: #Predicate { $0.size?.width == 0.1 })
    #expect(try self.context().fetch(narrow).map(\.name) == ["a"])
  }

  @Test(arguments: ["", "not JSON", "{\"version\": 1}", "[]"])
  func `a file that does not parse is left as it is`(_ text: String) throws {
    try text.write(to: url, atomically: true, encoding: .utf8)
    let error = #expect(throws: SwiftDataError.self) { try context() }
    #expect(error?.code == .unreadableStore)
    #expect(try String(contentsOf: url, encoding: .utf8) == text)
  }

  @Test func `a file that is damaged later is left as it is`() throws {
    try write()
    let context = try context()
    let specimen = try context.only(Specimen.self)
    try edit("\"name\"", "name")
    let damaged = try Data(contentsOf: url)
    specimen.name = "b"
    #expect(throws: SwiftDataError.unreadableStore) { try context.save() }
    #expect(throws: SwiftDataError.unreadableStore) {
      try context.fetch(FetchDescriptor<Specimen>())
    }
    #expect(try Data(contentsOf: url) == damaged)
    #expect(context.hasChanges)
  }

  @Test func `a file of a later version is left as it is`() throws {
    try write()
    try edit("\"version\" : 1", "\"version\" : 2")
    let later = try Data(contentsOf: url)
    #expect(throws: SwiftDataError.unknownSchema) { try context() }
    #expect(try Data(contentsOf: url) == later)
  }

  @Test func `a file with other models is refused`() throws {
    try write()
    let error = #expect(throws: SwiftDataError.self) {
      try ModelContainer(for: Note.self, configurations: JSONStoreConfiguration(url: url))
    }
    #expect(error?.code == .unknownModel)
    #expect(error?.message.contains("Specimen") == true)
  }

  @Test func `a migration plan is refused`() throws {
    let configuration = JSONStoreConfiguration(schema: Schema([Specimen.self]), url: url)
    let error = #expect(throws: SwiftDataError.self) {
      try JSONStore(configuration, migrationPlan: NoPlan.self)
    }
    #expect(error?.message.contains("migration plan") == true)
  }

  @Test func `a property that the file lacks gets its default`() throws {
    try write()
    try edit("\"isRare\" : true,", "")
    #expect(try context().fetch(FetchDescriptor<Specimen>()).first?.isRare == true)
    try edit("\"name\" : \"a\",", "")
    #expect(throws: SwiftDataError.unreadableValue) {
      try context().fetch(FetchDescriptor<Specimen>())
    }
  }

  @Test func `saves of several programs are merged`() throws {
    let (one, two) = (try context(), try context())
    one.insert(Specimen("a"))
    try one.save()
    two.insert(Specimen("b"))
    try two.save()
    for context in [one, two, try context()] {
      #expect(try context.fetch(FetchDescriptor<Specimen>()).map(\.name) == ["a", "b"])
    }
  }

  @Test func `a save that cannot be written is pending`() throws {
    try write()
    let context = try context()
    let specimen = try context.only(Specimen.self)
    specimen.name = "b"
    try FileManager.default.removeItem(at: directory.url)
    #expect(throws: (any Error).self) { try context.save() }
    #expect(context.hasChanges)
    try FileManager.default.createDirectory(at: directory.url, withIntermediateDirectories: true)
  }
}
