import Foundation
import SteadTestSupport
import SwiftData
import Testing

@Suite("A reading tracker") @MainActor struct ReadingTests {
  @Test func `previews show the sample books`() throws {
    let container = try SampleData.previewContainer()
    let model = LibraryViewModel(modelContext: container.mainContext)
    #expect(model.error == nil)
    #expect(Set(model.books.map(\.title)) == ["The Island", "Älv and Harbour", "Manual"])
    #expect(try model.currentlyReading().map(\.description) == ["The Island (Ann Arbor, Bo Berg)"])
    let island = try #require(model.currentlyReading().first)
    #expect(island.pagesRead == 65)
    #expect(island.progress == 65.0 / 200)
    #expect(try model.longQuotes(of: island).map(\.text) == ["Adrift."])
    #expect(try Set(model.books(by: "Berg").map(\.isbn)) == ["1", "2"])
    #expect(try model.minutesRead(since: .distantPast) == 50)
  }

  @Test func `filters as one types`() throws {
    let container = try SampleData.previewContainer()
    let model = LibraryViewModel(modelContext: container.mainContext)
    model.searchText = "alv"
    #expect(model.books.map(\.isbn) == ["2"])
    model.status = .reading
    #expect(model.books.isEmpty)
    model.searchText = ""
    #expect(model.books.map(\.isbn) == ["1"])
    model.status = nil
    #expect(model.books.count == 3)
  }

  @Test func `deleting a book takes its history along`() throws {
    let container = try SampleData.previewContainer()
    let context = container.mainContext
    let model = LibraryViewModel(modelContext: context)
    let island = try #require(model.currentlyReading().first)
    island.shelves = try context.fetch(FetchDescriptor<Shelf>())
    try context.save()
    model.delete(island)
    try context.save()
    #expect(try Repository<ReadingSession>(context: context).count() == 0)
    #expect(try Repository<Quote>(context: context).count() == 0)
    #expect(try Repository<Author>(context: context).count() == 2)
    #expect(try Repository<Shelf>(context: context).all().allSatisfy { $0.books.isEmpty })
    #expect(model.books.count == 2)
  }

  @Test func `repositories serve every model`() throws {
    let container = try SampleData.previewContainer()
    let books = Repository<Book>(context: container.mainContext)
    #expect(try books.count(where: #Predicate { $0.pageCount > 100 }) == 2)
    #expect(try books.first(where: #Predicate { $0.isbn == "2" })?.edition.language == "sv")
    #expect(try books.page(1, size: 2, sortedBy: SortDescriptor(\.isbn)).map(\.isbn) == ["3"])
    #expect(
      try books.all(sortedBy: SortDescriptor(\.pageCount, order: .reverse)).map(\.isbn)
        == ["2", "1", "3"])
    try books.add(Book(isbn: "3", title: "Manual, again", pageCount: 9))
    #expect(try books.count() == 3)
    #expect(try books.first(where: #Predicate { $0.isbn == "3" })?.title == "Manual, again")
    try books.remove(where: #Predicate { $0.edition.year == nil })
    #expect(try books.all().map(\.isbn) == ["2"])
    let shelves = Repository<Shelf>(context: container.mainContext)
    let kinds = try shelves.all(sortedBy: SortDescriptor(\.position)).map(\.kind)
    #expect(kinds == [.smart(minimumRating: 4), .manual])
  }

  @Test func `imports books off the main actor`() async throws {
    let container = try SampleData.previewContainer()
    let json = """
      [{"isbn": "9", "title": "Delta", "pages": 90, "authors": ["Bo Berg", "Cy"], "series": "Waters"},
       {"isbn": "2", "title": "Älv", "pages": 321, "authors": ["Bo Berg"]}]
      """
    let importer = LibraryImporter(modelContainer: container)
    let source = try #require(URL(string: "https://example.org/books.json"))
    let log = try await importer.importBooks(from: Data(json.utf8), source: source)
    let context = container.mainContext
    #expect((context.model(for: log) as? ImportLog)?.source == source)
    let books = Repository<Book>(context: context)
    #expect(try books.count() == 4)
    #expect(try Repository<Author>(context: context).count() == 3)
    let delta = try #require(try books.first(where: #Predicate { $0.isbn == "9" }))
    #expect(delta.byline == "Bo Berg, Cy ")
    #expect(try Repository<Series>(context: context).count() == 1)
    #expect(try books.first(where: #Predicate { $0.isbn == "2" })?.pageCount == 321)

    try await importer.markFinished(delta.persistentModelID, rating: 5)
    #expect(delta.status == .finished)
    #expect(delta.finishedAt != nil)
    #expect(delta.rating == Rating(rawValue: 5))
  }

  @Test func `settings and goals are queried`() throws {
    let container = try SampleData.previewContainer()
    let context = container.mainContext
    let reader = try #require(try context.fetch(FetchDescriptor<Reader>()).first)
    reader.settings.remindsDaily = true
    reader.settings.dailyPages = 20
    try context.save()
    let reminded = #Predicate<Reader> { $0.settings.remindsDaily && $0.settings.dailyPages == 20 }
    #expect(try ModelContext(container).fetchCount(FetchDescriptor(predicate: reminded)) == 1)
    let ambitious = #Predicate<Reader> { ($0.goal?.books ?? 0) > 20 }
    #expect(try ModelContext(container).fetchCount(FetchDescriptor(predicate: ambitious)) == 1)
  }

  @Test func `an old library is migrated`() throws {
    let directory = try TemporaryDirectory()
    let configuration = ModelConfiguration(url: directory.file("library.store"))
    do {
      let old = try ModelContainer(
        for: Schema(versionedSchema: LibrarySchemaV1.self), configurations: configuration)
      let context = ModelContext(old)
      let author = LibrarySchemaV1.Author(name: "Ann Arbor")
      author.books = [
        LibrarySchemaV1.Book(isbn: "1", title: "A", pages: 10, isRead: true),
        LibrarySchemaV1.Book(isbn: "1", title: "B", pages: 20),
        LibrarySchemaV1.Book(isbn: "2", title: "C", pages: 30),
      ]
      context.insert(author)
      try context.save()
    }
    let container = try ModelContainer(
      for: Schema(versionedSchema: CurrentSchema.self), migrationPlan: LibraryMigrationPlan.self,
      configurations: configuration)
    let books = try ModelContext(container).fetch(
      FetchDescriptor<CurrentSchema.Book>(sortBy: [SortDescriptor(\.isbn)]))
    #expect(books.map(\.title) == ["A", "C"])
    #expect(books.map(\.pageCount) == [10, 30])
    #expect(books.map(\.status) == [.finished, .wishlist])
    #expect(books.map { $0.author?.familyName } == ["Arbor", "Arbor"])
  }
}
