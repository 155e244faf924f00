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
}
