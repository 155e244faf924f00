import Foundation
import SteadTestSupport
import SwiftData
import Testing

/// Every fetch of a model failed if two objects in a store had one unique key, and so did the removal of one of them. A property
/// that an app makes unique leaves such objects, as does another program.
@Suite("Objects that share a unique key in a JSON file") struct SharedKeyTests {
  private static let shared = FetchDescriptor<Tagged>(predicate: #Predicate { $0.tag == "key0" })
  private let directory: TemporaryDirectory
  private var url: URL { directory.file("tagged.json") }

  init() throws {
    directory = try TemporaryDirectory()
    let context = try context()
    for count in 0..<3 { context.insert(Tagged("key\(count)", count)) }
    try context.save()
    try edit("\"key1\"", "\"key0\"")
  }

  private func context() throws -> ModelContext {
    ModelContext(
      try ModelContainer(for: Tagged.self, configurations: JSONStoreConfiguration(url: url)))
  }

  private func edit(_ old: String, _ new: String) throws {
    let text = try String(contentsOf: url, encoding: .utf8)
    try text.replacing(old, with: new).write(to: url, atomically: true, encoding: .utf8)
  }

  @Test func `they are read, changed and deleted`() throws {
    let context = try context()
    var one = Self.shared
    one.fetchLimit = 1
    #expect(try context.fetch(one).count == 1)
    let found = try context.fetch(Self.shared)
    #expect(Set(found.map(\.count)) == [0, 1])
    for object in found { object.count += 10 }
    context.insert(Tagged("key3", 3))
    try context.save()
    found[0].tag = "key2"
    #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
    found[0].tag = "key4"
    try context.save()
    #expect(try self.context().fetch(Self.shared).count == 1)
    try context.delete(model: Tagged.self)
    #expect(try self.context().fetchCount(FetchDescriptor<Tagged>()) == 0)
  }

  @Test func `a new object with their key updates one of them`() throws {
    let context = try context()
    context.insert(Tagged("key0", 7))
    try context.save()
    let found = try self.context().fetch(Self.shared)
    #expect(found.count == 2 && found.contains { $0.count == 7 })
  }

  @Test func `keys that another program has exchanged are fetched`() throws {
    let context = try context()
    let before = try context.fetch(FetchDescriptor<Tagged>())
    try edit("\"key2\"", "\"key9\"")
    try edit("\"key0\"", "\"key2\"")
    try edit("\"key9\"", "\"key0\"")
    let after = try context.fetch(FetchDescriptor<Tagged>())
    #expect(after.map(\.tag) == ["key2", "key2", "key0"])
    #expect(zip(before, after).allSatisfy { $0 === $1 })
  }
}
