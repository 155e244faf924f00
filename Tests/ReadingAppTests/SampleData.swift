import Foundation
import SwiftData

@MainActor
enum SampleData {
  static let schema = Schema([
    Book.self, Author.self, Reader.self, Shelf.self, Series.self, ReadingSession.self, Quote.self,
    ImportLog.self,
  ])

  /// A container for previews: in memory, with a few books.
  static func previewContainer() throws -> ModelContainer {
    let container = try ModelContainer(
      for: schema, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    for book in books() { container.mainContext.insert(book) }
    let reader = Reader(handle: "ann")
    reader.goal = Goal(books: 24, year: 2026)
    reader.shelves = [
      Shelf(name: "Favourites", kind: .smart(minimumRating: 4)), Shelf(name: "Sea", position: 1),
    ]
    container.mainContext.insert(reader)
    try container.mainContext.save()
    return container
  }

  static func books() -> [Book] {
    let (ann, bo) = (
      Author(givenName: "Ann", familyName: "Arbor"), Author(givenName: "Bo", familyName: "Berg")
    )
    let island = Book(isbn: "1", title: "The Island", pageCount: 200, status: .reading)
    island.authors = [ann, bo]
    island.tags = ["sea", "travel"]
    island.sessions = [
      ReadingSession(minutes: 30, pages: 40), ReadingSession(minutes: 20, pages: 25),
    ]
    island.quotes = [Quote(text: "Ashore.", page: 12), Quote(text: "Adrift.", page: 150)]
    let harbour = Book(
      isbn: "2", title: "Älv and Harbour", pageCount: 320,
      edition: Edition(publisher: "Quay", year: 2019, language: "sv"))
    harbour.authors = [bo]
    harbour.series = Series(name: "Waters")
    let manual = Book(isbn: "3", title: "Manual", pageCount: 0, status: .paused)
    return [island, harbour, manual]
  }
}
