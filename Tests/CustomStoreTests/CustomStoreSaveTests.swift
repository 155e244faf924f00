import Foundation
import RecordsTestSupport
import SwiftData
import Testing

@Suite("Saving to a store of the app's own") struct CustomStoreSaveTests {
  private let library = Library()

  @Test func `D1 replaces temporary identifiers by those that the store returns`() throws {
    let context = try library.context()
    let (author, book) = (Author("Tove"), Book("A"))
    author.books = [book]
    context.insert(author)
    let temporary = author.persistentModelID
    #expect(temporary.isTemporary)
    context.author = "importer"
    try context.save()
    #expect(library.content.takeCalls() == ["initialize", "save 2 0 0 by importer"])
    #expect(author.persistentModelID.storeIdentifier == "dictionary")
    #expect(author.persistentModelID != temporary)
    #expect(context.registeredModel(for: author.persistentModelID) as Author? === author)
    let stored = try #require(
      library.content.snapshots.first { $0.persistentIdentifier == book.persistentModelID })
    let json = String(decoding: try JSONEncoder().encode(stored), as: UTF8.self)
    let key = try #require(
      "\(author.persistentModelID)".split(separator: "/").last)
    #expect(json.contains("\"\(key)\""))
  }

  @Test func `each side of a changed relationship is saved`() throws {
    try library.write("Tove", "A", "B")
    let context = try library.context()
    let author = try context.only(Author.self)
    _ = library.content.takeCalls()
    author.books.removeFirst()
    try context.save()
    #expect(library.content.takeCalls() == ["save 0 2 0"])
    let second = try library.context()
    let books = try second.fetch(FetchDescriptor<Book>())
    #expect(books.map { $0.author?.name } == [nil, "Tove"])
    #expect(try second.fetch(FetchDescriptor<Author>()).first?.books.map(\.title) == ["B"])
  }

  @Test func `lists keep their order`() throws {
    try library.write("Tove", "A", "B", "C")
    let context = try library.context()
    let author = try context.only(Author.self)
    author.books.reverse()
    try context.save()
    author.books.insert(Book("D"), at: 1)
    try context.save()
    for context in [context, try library.context()] {
      let author = try context.only(Author.self)
      #expect(author.books.map(\.title) == ["C", "D", "B", "A"])
    }
  }

  @Test func `many-to-many relationships are saved`() throws {
    try library.write("Tove", "A", "B")
    let context = try library.context()
    let books = try context.fetch(FetchDescriptor<Book>())
    let shelf = Shelf("top")
    context.insert(shelf)
    shelf.books = books
    try context.save()
    books[0].shelves = []
    try context.save()
    let found = try library.context().only(Shelf.self)
    #expect(found.books.map(\.title) == ["B"])
  }

  @Test func `delete rules hold`() throws {
    try library.write("Tove", "A", "B")
    let context = try library.context()
    let author = try context.only(Author.self)
    _ = library.content.takeCalls()
    context.delete(author)
    try context.save()
    #expect(library.content.takeCalls() == ["save 0 0 3"])
    #expect(library.content.snapshots.isEmpty)
  }

  @Test func `when the store throws, all is still pending`() throws {
    try library.write("Tove", "A")
    let container = try library.container()
    let context = ModelContext(container)
    let author = try context.only(Author.self)
    author.name = "Tuulikki"
    let new = Book("B")
    author.books.append(new)
    library.content.state.withLock { $0.failure = StoreOutage() }
    #expect(throws: StoreOutage.self) { try context.save() }
    #expect(context.hasChanges)
    #expect(new.persistentModelID.isTemporary)
    let second = ModelContext(container)
    #expect(try second.fetch(FetchDescriptor<Author>()).map(\.name) == ["Tove"])
    #expect(try second.fetchCount(FetchDescriptor<Book>()) == 1)
    library.content.state.withLock { $0.failure = nil }
    try context.save()
    #expect(try second.fetch(FetchDescriptor<Author>()).map(\.name) == ["Tuulikki"])
    #expect(try library.context().fetch(FetchDescriptor<Author>()).first?.books.count == 2)
  }

  @Test func `rollback and undo go back to what is stored`() throws {
    try library.write("Tove", "A")
    let context = try library.context()
    let undo = UndoManager()
    context.undoManager = undo
    let author = try context.only(Author.self)
    author.name = "X"
    context.processPendingChanges()
    undo.undo()
    #expect(author.name == "Tove")
    author.books = []
    context.insert(Author("Y"))
    context.rollback()
    #expect(author.books.map(\.title) == ["A"])
    #expect(try context.fetchCount(FetchDescriptor<Author>()) == 1)
  }

  @Test func `deleting by predicate fetches and deletes`() throws {
    try library.write("Tove", "A", "B", "C")
    let context = try library.context()
    let author = try context.only(Author.self)
    try context.delete(model: Book.self, where: #Predicate { $0.pages > 10 })
    #expect(author.books.map(\.title) == ["A"])
    #expect(library.content.snapshots.count == 2)
  }

  @Test func `a new object without an identifier is an error`() throws {
    let context = try library.context()
    context.insert(Author("Tove"))
    library.content.state.withLock { $0.forgetsIdentifiers = true }
    let error = #expect(throws: SwiftDataError.self) { try context.save() }
    #expect(error?.code == .storeFailure)
    #expect(error?.message.contains("Author") == true)
    #expect(context.hasChanges)
  }

  @Test func `what the store changed is taken over`() throws {
    try library.write("Tove", "A")
    let context = try library.context()
    let author = try context.only(Author.self)
    let stamped = try library.changed(library.snapshot("Author"), "name", "Tove (1945)")
    library.content.state.withLock { $0.reregistered = [stamped] }
    author.name = "T"
    try context.save()
    #expect(try context.fetch(FetchDescriptor<Author>()).first?.name == "Tove (1945)")
    #expect(author.name == "Tove (1945)")
  }

  @Test func `erasing a container erases the store`() throws {
    try library.write("Tove", "A")
    let container = try library.container()
    let context = ModelContext(container)
    #expect(try context.fetchCount(FetchDescriptor<Book>()) == 1)
    try container.erase()
    #expect(library.content.snapshots.isEmpty)
    #expect(try context.fetch(FetchDescriptor<Book>()).isEmpty)
  }

  @Test func `a transaction that throws saves nothing`() throws {
    try library.write("Tove", "A")
    let context = try library.context()
    var book: Book?
    #expect(throws: StoreOutage.self) {
      try context.transaction {
        book = try context.fetch(FetchDescriptor<Book>()).first
        book?.pages = 99
        throw StoreOutage()
      }
    }
    context.rollback()
    #expect(book?.pages == 10)
    #expect(book?.author?.name == "Tove")
    try context.transaction { book?.pages = 11 }
    #expect(try library.context().fetch(FetchDescriptor<Book>()).first?.pages == 11)
  }

  @Test func `contexts of a container see each other's saves`() throws {
    let identifier = try library.write("Tove", "A")
    let container = try library.container()
    let (one, two) = (ModelContext(container), ModelContext(container))
    let author = try #require(one.model(for: identifier) as? Author)
    let twin = try #require(two.model(for: identifier) as? Author)
    author.name = "X"
    try one.save()
    two.processPendingChanges()
    #expect(twin.name == "X")
  }
}
