import Foundation
import RecordsTestSupport
import SwiftData
import Testing

@Suite("Fetching from a store of the app's own") struct CustomStoreFetchTests {
  private let library = Library()

  @Test func `what one context saves another fetches`() throws {
    let container = try library.container()
    let context = ModelContext(container)
    let author = Author("Tove")
    author.books = [Book("Moomin", pages: 12), Book("Summer", pages: 3)]
    context.insert(author)
    try context.save()
    #expect(library.content.snapshots.count == 3)
    for container in [container, try library.container()] {
      let second = ModelContext(container)
      let found = try second.fetch(FetchDescriptor<Author>())
      #expect(found.map(\.name) == ["Tove"])
      #expect(found.first?.books.map(\.title) == ["Moomin", "Summer"])
      #expect(found.first?.books.first?.author === found.first)
      #expect(found.first?.persistentModelID == author.persistentModelID)
    }
  }

  @Test func `D1 filters in memory for a store that prefers it`() throws {
    try library.write("Tove", "A", "B", "C")
    let context = try library.context()
    _ = library.content.takeCalls()
    let long = FetchDescriptor<Book>(predicate: #Predicate { $0.pages > 10 })
    #expect(try Set(context.fetch(long).map(\.title)) == ["B", "C"])
    #expect(library.content.calls.prefix(2) == ["fetch some Book", "fetch all Book"])
    #expect(try context.fetchCount(long) == 2)
    #expect(try context.fetchIdentifiers(long).count == 2)
    let byAuthor = FetchDescriptor<Book>(predicate: #Predicate { $0.author?.name == "Tove" })
    #expect(try library.context().fetch(byAuthor).count == 3)
  }

  @Test func `D1 sorts in memory for a store that prefers it`() throws {
    try library.write("Tove", "A", "B", "C")
    let context = try library.context()
    _ = library.content.takeCalls()
    var descriptor = FetchDescriptor<Book>(sortBy: [SortDescriptor(\.pages, order: .reverse)])
    #expect(try context.fetch(descriptor).map(\.title) == ["C", "B", "A"])
    #expect(library.content.calls.prefix(2) == ["fetch all Book sorted", "fetch all Book"])
    (descriptor.fetchOffset, descriptor.fetchLimit) = (1, 1)
    #expect(try context.fetch(descriptor).map(\.title) == ["B"])
    #expect(try context.fetchIdentifiers(descriptor).count == 1)
  }

  @Test func `a store that answers is asked once`() throws {
    try library.write("Tove", "A", "B")
    library.content.state.withLock { state in
      (state.hasCache, state.givesRelated) = (true, true)
      state.answer = { "\($0.persistentIdentifier)".hasSuffix("key2") }
    }
    let context = try library.context()
    _ = library.content.takeCalls()
    let any = FetchDescriptor<Book>(predicate: #Predicate { $0.pages > 1_000 })
    #expect(try context.fetch(any).count == 1)
    #expect(library.content.takeCalls() == ["fetch some Book"])
    #expect(try context.fetchCount(any) == 1)
  }

  @Test func `related objects are taken from the store's cache`() throws {
    try library.write("Tove", "A", "B")
    library.content.state.withLock { $0.hasCache = true }
    let context = try library.context()
    _ = library.content.takeCalls()
    let author = try context.only(Author.self)
    #expect(author.books.count == 2)
    #expect(library.content.calls == ["fetch all Author", "cached 2"])
  }

  @Test func `limit and offset are the store's`() throws {
    try library.write("Tove", "A", "B", "C")
    var descriptor = FetchDescriptor<Book>()
    (descriptor.fetchOffset, descriptor.fetchLimit) = (1, 1)
    #expect(try library.context().fetch(descriptor).map(\.title) == ["B"])
    #expect(try library.context().fetchCount(descriptor) == 1)
  }

  @Test func `an object is one object, however it is reached`() throws {
    let identifier = try library.write("Tove", "A")
    let context = try library.context()
    let author = try context.only(Author.self)
    let book = try context.only(Book.self)
    #expect(author.books.first === book)
    #expect(book.author === author)
    #expect(context.model(for: identifier) === author)
    #expect(context.registeredModel(for: identifier) as Author? === author)
  }

  @Test func `an identifier is enough to find an object`() throws {
    let identifier = try library.write("Tove", "A")
    let data = try JSONEncoder().encode(identifier)
    let decoded = try JSONDecoder().decode(PersistentIdentifier.self, from: data)
    #expect(decoded == identifier)
    let author = try #require(try library.context().model(for: decoded) as? Author)
    #expect(author.name == "Tove")
    #expect(author.books.map(\.title) == ["A"])
  }

  @Test func `pending changes are seen`() throws {
    try library.write("Tove", "A", "B", "C")
    let context = try library.context()
    let books = try context.fetch(FetchDescriptor<Book>())
    context.delete(books[0])
    books[1].pages = 500
    context.insert(Book("D", pages: 600))
    var long = FetchDescriptor<Book>(predicate: #Predicate { $0.pages >= 500 })
    long.sortBy = [SortDescriptor(\.pages)]
    #expect(try context.fetch(long).map(\.title) == ["B", "D"])
    #expect(try context.fetchCount(FetchDescriptor<Book>()) == 3)
    long.includePendingChanges = false
    #expect(try context.fetch(long).isEmpty)
    var all = FetchDescriptor<Book>()
    all.includePendingChanges = false
    #expect(try context.fetchCount(all) == 3)
    #expect(try library.context().fetchCount(FetchDescriptor<Book>()) == 3)
  }

  @Test func `changes of other programs are seen by the next fetch`() throws {
    try library.write("Tove", "A", "B")
    let context = try library.context()
    let author = try context.only(Author.self)
    let book = try #require(author.books.first)
    library.put(try library.changed(library.snapshot("Book"), "title", "Z"))
    #expect(book.title == "A")
    _ = try context.fetch(FetchDescriptor<Book>())
    #expect(book.title == "Z")
    library.content.state.withLock { state in
      state.snapshots.removeAll { $0.persistentIdentifier == book.persistentModelID }
    }
    #expect(try context.fetch(FetchDescriptor<Book>()).map(\.title) == ["B"])
    #expect(book.modelContext == nil)
  }

  @Test func `what a store throws reaches the caller`() throws {
    let context = try library.context()
    library.content.state.withLock { $0.fetchFailure = StoreOutage() }
    #expect(throws: StoreOutage.self) { try context.fetch(FetchDescriptor<Book>()) }
    #expect(throws: StoreOutage.self) { try context.fetchCount(FetchDescriptor<Book>()) }
    for error in [DataStoreError.invalidPredicate, .unsupportedFeature] {
      library.content.state.withLock { $0.fetchFailure = error }
      #expect(throws: error) { try context.fetch(FetchDescriptor<Book>()) }
    }
  }

  @Test func `a snapshot of another store is refused`() throws {
    try library.write("Tove")
    let foreign = try PersistentIdentifier.identifier(
      for: "elsewhere", entityName: "Author", primaryKey: "key1")
    library.content.state.withLock { state in
      state.snapshots = state.snapshots.map {
        $0.copy(persistentIdentifier: foreign, remappedIdentifiers: nil)
      }
    }
    let context = try library.context()
    #expect(throws: SwiftDataError.unreadableValue) {
      try context.fetch(FetchDescriptor<Author>())
    }
  }

  @Test func `contexts announce themselves`() throws {
    let container = try library.container()
    do {
      let context = ModelContext(container)
      #expect(library.content.takeCalls() == ["initialize"])
      withExtendedLifetime(context) {}
    }
    #expect(library.content.takeCalls() == ["invalidate"])
  }

  @Test func `aggregates and batches see all objects`() throws {
    try library.write("Tove", "A", "B", "C")
    let context = try library.context()
    #expect(try context.sum(of: \Book.pages) == 60)
    var titles: [String] = []
    try context.enumerate(FetchDescriptor<Book>(), batchSize: 2) { titles.append($0.title) }
    #expect(titles.sorted() == ["A", "B", "C"])
  }
}
