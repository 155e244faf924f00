import Foundation
import RecordsTestSupport
import SteadTestSupport
import SwiftData
import Testing

@Suite("A save to several stores, of which some are an app's own") struct SeveralStoresTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// Tokens in a JSON file, and notes in this library's store.
  private func mixedContext() throws -> ModelContext {
    let (json, sqlite) = (Schema([Token.self]), Schema([Note.self]))
    let configurations: [any DataStoreConfiguration] = [
      JSONStoreConfiguration("tokens", schema: json, url: directory.file("tokens.json")),
      ModelConfiguration("notes", schema: sqlite, url: directory.file("notes.store")),
    ]
    return ModelContext(
      try ModelContainer(for: Schema([Token.self, Note.self]), configurations: configurations))
  }

  /// The custom store had saved when the other one refused to commit, and made one more of each new object at each attempt.
  @Test(arguments: [false, true])
  func `no store is written if a file of this library's stores is not at its path`(
    isInTransaction: Bool
  ) throws {
    let context = try mixedContext()
    context.insert(Note("first"))
    try context.save()
    let file = directory.file("notes.store").path
    let paths = ["", "-wal", "-shm"].map { file + $0 }
    func write() throws {
      context.insert(Token("a", 1))
      context.insert(Note("second"))
      for path in paths { try FileManager.default.moveItem(atPath: path, toPath: path + ".away") }
    }
    #expect(throws: SwiftDataError.unreadableStore) {
      if isInTransaction { return try context.transaction { try write() } }
      try write()
      try context.save()
    }
    for _ in 0..<2 {
      #expect(throws: SwiftDataError.unreadableStore) { try context.save() }
    }
    #expect(
      try !String(contentsOf: directory.file("tokens.json"), encoding: .utf8).contains("Token"))
    for path in paths { try FileManager.default.moveItem(atPath: path + ".away", toPath: path) }
    try context.save()
    for context in [context, try mixedContext()] {
      #expect(try context.all(Token.self).map(\.name) == ["a"])
      #expect(try context.all(Note.self).map(\.text).sorted() == ["first", "second"])
    }
  }

  // MARK: Stores that other programs change

  private typealias Contested = ContestedStore<JSONStore>

  private func json(_ name: String, _ type: any PersistentModel.Type) -> JSONStoreConfiguration {
    JSONStoreConfiguration(name, schema: Schema([type]), url: directory.file("\(name).json"))
  }

  /// Notes in one JSON file, and after them tags in another one, whose rival comes between the check of a save and its
  /// writing.
  private func contestedContext(_ rival: Contested.Rival = .init()) throws -> ModelContext {
    var tags = Contested.Configuration(json("tags", Tag.self), rival)
    tags.schema = Schema([Tag.self])
    let configurations: [any DataStoreConfiguration] = [
      json("notes", Note.self), tags,
    ]
    return ModelContext(
      try ModelContainer(
        for: Schema([Note.self, Tag.self]), configurations: configurations))
  }

  private func addTag(_ code: String) throws {
    let context = ModelContext(
      try ModelContainer(
        for: Schema([Tag.self]),
        configurations: [json("tags", Tag.self)] as [any DataStoreConfiguration]))
    context.insert(Tag(code, count: 1))
    try context.save()
  }

  private func codes(_ context: ModelContext) throws -> [String] {
    try context.all(Tag.self).map(\.code).sorted()
  }

  /// The error said to save again, which made the new objects of the stores before twice.
  @Test
  func
    `a store that changes when another one has saved is an error whose remedy makes no object twice`()
    throws
  {
    let rival = Contested.Rival()
    let context = try contestedContext(rival)
    rival.add { [self] in try addTag("theirs") }
    context.insert(Note("note"))
    context.insert(Tag("mine", count: 2))
    let error = try #require(throws: SwiftDataError.self) { try context.save() }
    #expect(error.code == .storeLocked && error.message.contains("rollback()"), "\(error)")
    #expect(context.insertedModelsArray.count == 2)
    context.rollback()
    context.insert(Tag("mine", count: 2))
    try context.save()
    for context in [context, try contestedContext()] {
      #expect(try context.all(Note.self).map(\.text) == ["note"])
      #expect(try codes(context) == ["mine", "theirs"])
    }
  }
}
