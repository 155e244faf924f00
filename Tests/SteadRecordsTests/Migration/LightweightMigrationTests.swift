import Foundation
import SteadTestSupport
import SwiftData
import Testing

@testable import SteadRecords

/// Stores that follow their models without a plan, and those that cannot.
@Suite struct LightweightMigrationTests {
  private let directory: TemporaryDirectory
  private let url: URL

  init() throws {
    directory = try TemporaryDirectory()
    url = directory.file("shelf.store")
  }

  @discardableResult
  private func open(_ models: [any PersistentModel.Type]) throws -> ModelContainer {
    try ModelContainer(for: Schema(models), configurations: ModelConfiguration(url: url))
  }

  /// What the file and its log hold.
  private func bytes() throws -> [String: Data] {
    var result: [String: Data] = [:]
    for name in try directory.names where !name.hasSuffix("-shm") {
      let file = directory.file(name)
      if (try? file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) == true {
        result[name] = try Data(contentsOf: file)
      }
    }
    return result
  }

  /// Throws what opening throws, and checks that the store has stayed as it was, to the byte.
  private func refusal(_ models: [any PersistentModel.Type]) throws -> String {
    let before = try bytes()
    let error = try #require(
      #expect(throws: SwiftDataError.self) { try open(models) }, "The store was opened.")
    #expect(error == .loadIssueModelContainer)
    #expect(try bytes() == before)
    return error.message
  }

  private func fillShelf() throws {
    let context = ModelContext(try open(Shelf1.models))
    let ada = Shelf1.Author("Ada")
    let (first, second) = (Shelf1.Tag("first"), Shelf1.Tag("second"))
    for (index, title) in ["one", "two", "three"].enumerated() {
      let book = Shelf1.Book(title, pages: index)
      context.insert(book)
      if index < 2 { book.author = ada }
      book.tags = index == 0 ? [second, first] : [first]
      if index == 1 {
        book.note = "noted"
        book.cover = Data(repeating: 7, count: 200_000)
      }
    }
    try context.save()
  }

  @Test func `relationships and columns follow`() throws {
    try fillShelf()
    let context = ModelContext(try open(Shelf2.models))
    let books = try context.fetch(
      FetchDescriptor<Shelf2.Book>(sortBy: [SortDescriptor(\.pages)]))
    #expect(books.map(\.name) == ["one", "two", "three"] && books.map(\.pages) == [0, 1, 2])
    #expect(books.map { $0.authors.map(\.name) } == [["Ada"], ["Ada"], []])
    #expect(books.map { $0.tags.map(\.word) } == [["second", "first"], ["first"], ["first"]])
    #expect(books.map(\.note) == ["none", "noted", "none"])
    #expect(books.map(\.stars) == [0.5, 0.5, 0.5])
    #expect(books[1].cover == Data(repeating: 7, count: 200_000))
    let tags = try context.fetch(FetchDescriptor<Shelf2.Tag>(sortBy: [SortDescriptor(\.word)]))
    #expect(tags.map { $0.books.count } == [3, 1])
    // What is unique now updates the object that is there.
    context.insert(Shelf2.Tag("first"))
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Shelf2.Tag>()) == 2)
    books[2].authors.append(try #require(books[0].authors.first))
    try context.save()
    let author = try #require(
      try ModelContext(context.container).fetch(FetchDescriptor<Shelf2.Author>()).first)
    #expect(author.books.map(\.name) == ["one", "two", "three"])
  }

  @Test func `identifiers and unique duplicates`() throws {
    try fillShelf()
    let context = ModelContext(try open(Shelf1.models))
    let before = try context.fetch(FetchDescriptor<Shelf1.Book>()).map(\.persistentModelID)
    context.insert(Shelf1.Tag("first"))
    try context.save()
    let message = try refusal(Shelf2.models)
    #expect(message.contains("Tag.word is now unique") && message.contains("rows 2 and 3"))
    #expect(!message.contains("first"))
    let tags = try context.fetch(FetchDescriptor<Shelf1.Tag>())
    context.delete(try #require(tags.last))
    try context.save()
    let after = try ModelContext(open(Shelf2.models)).fetch(FetchDescriptor<Shelf2.Book>())
    #expect(after.map(\.persistentModelID) == before)
  }

  @Test func `a model is renamed and gets a superclass`() throws {
    try fillShelf()
    try open(Shelf2.models)
    let message = try refusal(Shelf3.models)
    #expect(message.contains("Publication.tag leads to one object now") && message.contains(": 1."))
    do {
      let context = ModelContext(try open(Shelf2.models))
      let book = try #require(
        try context.fetch(FetchDescriptor<Shelf2.Book>()).first { $0.name == "one" })
      book.tags.removeLast()
      try context.save()
    }
    let container = try open(Shelf3.models)
    let context = ModelContext(container)
    let items = try context.fetch(
      FetchDescriptor<Shelf3.Publication>(sortBy: [SortDescriptor(\.pages)]))
    #expect(items.map(\.name) == ["one", "two", "three"] && items.map(\.pages) == [0, 1, 2])
    #expect(items.map { $0.tag?.word } == ["second", "first", "first"])
    #expect(try context.fetchCount(FetchDescriptor<Shelf3.Item>()) == 3)
    let tag = try #require(
      try context.fetch(FetchDescriptor<Shelf3.Tag>()).first { $0.word == "first" })
    #expect(tag.books.map(\.name) == ["two", "three"])
    context.insert(Shelf3.Item("plain"))
    try context.save()
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Shelf3.Publication>()) == 3)
  }

  /// The numbers of classes depend on the names of all models: rows became objects of another class.
  @Test func `classes keep their rows`() throws {
    do {
      let context = ModelContext(try open(Fleet1.models))
      context.insert(Fleet1.Vehicle("sled"))
      context.insert(Fleet1.Boat("raft"))
      context.insert(Fleet1.Wagon("cart"))
      try context.save()
    }
    let context = ModelContext(try open(Fleet2.models))
    let all = try context.fetch(FetchDescriptor<Fleet2.Vehicle>(sortBy: [SortDescriptor(\.name)]))
    #expect(all.map(\.name) == ["raft", "sled"] && all.map(\.owner) == ["none", "none"])
    let boats = try context.fetch(FetchDescriptor<Fleet2.Boat>())
    #expect(boats.map(\.name) == ["raft"] && boats.map(\.color) == ["white"])
  }

  @Test func `what is removed does not come back`() throws {
    try fillShelf()
    try open([Shelf1.Tag.self])
    let context = ModelContext(try open(Shelf1.models))
    #expect(try context.fetchCount(FetchDescriptor<Shelf1.Book>()) == 0)
    #expect(try context.fetchCount(FetchDescriptor<Shelf1.Tag>()) == 2)
  }

  @Test func `what is lost is in the backup`() throws {
    try fillShelf()
    do {
      let container = try open(Shelf2.models)
      let migration = try #require(container.migrations.first)
      #expect(migration.url == url && migration.difference.losesData)
      let backup = try #require(migration.backup)
      #expect(backup.lastPathComponent == "shelf.store.backup")
      #expect(try backup.mode == 0o600)
      let copy = try ModelContainer(
        for: Schema(Shelf1.models), configurations: ModelConfiguration(url: backup))
      let books = try ModelContext(copy).fetch(FetchDescriptor<Shelf1.Book>())
      #expect(books.count == 3 && books.compactMap(\.author).count == 2)
    }
    // Another opening changes nothing, and keeps the backup.
    #expect(try open(Shelf2.models).migrations.isEmpty)
    #expect(try directory.names.contains("shelf.store.backup"))
    try open(Shelf2.models).erase()
    #expect(try !directory.names.contains("shelf.store.backup"))
  }

  /// Earlier versions of the library wrote schemas that tell types by their names alone, and the types may be gone.
  @Test func `a schema of types that are gone is completed from the columns`() throws {
    try fillShelf()
    let schema = try sqlite("SELECT value FROM stead_metadata WHERE key = 'schema'")
    func withoutForms(_ value: Any) -> Any {
      if let list = value as? [Any] { return list.map(withoutForms) }
      guard var fields = value as? [String: Any] else { return value }
      fields["form"] = nil
      if fields["valueType"] != nil { fields["valueType"] = "gone" }
      return fields.mapValues(withoutForms)
    }
    let json = try JSONSerialization.jsonObject(with: Data(schema.utf8))
    let old = String(
      decoding: try JSONSerialization.data(withJSONObject: withoutForms(json)), as: UTF8.self)
    #expect(schema.contains("form") && !old.contains("form"))
    try sqlite(
      "UPDATE stead_metadata SET value = '\(old)' WHERE key = 'schema'; "
        + "DELETE FROM stead_metadata WHERE key = 'tables';")
    let context = ModelContext(try open(Shelf2.models))
    let books = try context.fetch(
      FetchDescriptor<Shelf2.Book>(sortBy: [SortDescriptor(\.pages)]))
    #expect(books.map(\.name) == ["one", "two", "three"])
    #expect(books.map(\.note) == ["none", "noted", "none"])
    #expect(books.map { $0.authors.count } == [1, 1, 0])
    #expect(books.map { $0.tags.count } == [2, 1, 1])
  }

  @discardableResult
  private func sqlite(_ sql: String) throws -> String {
    try ToolRun.text(["sqlite3", url.filePath, sql])
  }

  @Test func `nothing is copied where nothing is lost`() throws {
    let context = ModelContext(try open([Fleet1.Vehicle.self]))
    context.insert(Fleet1.Vehicle("sled"))
    try context.save()
    let migration = try #require(try open(Fleet1.models).migrations.first)
    #expect(!migration.difference.losesData && migration.backup == nil)
    #expect(try !directory.names.contains("shelf.store.backup"))
  }

  @Test func `the difference is told in sentences`() {
    let difference = SchemaDifference(from: Schema(Shelf1.models), to: Schema(Shelf2.models))
    let text = difference.description
    for sentence in [
      "Book.title is called name.", "Tag.word is unique now.",
      "Book.stars, a required Double, is new. Existing rows get its default value.",
      "Book.pages was required and is optional.",
      "Book.note was optional and is required; nil becomes its default value.",
      "Book.cover is no longer stored in files of its own.",
      "Book.authors led to one object and leads to several.", "books leads back from Book.tags.",
    ] {
      #expect(text.contains(sentence), "\(sentence)")
    }
    #expect(difference.refusals.isEmpty && difference.losesData)
    #expect(SchemaDifference(from: Schema(Shelf1.models), to: Schema(Shelf1.models)).isEmpty)
  }
}
