import Foundation
import Observation
import SwiftData

@MainActor
@Observable
final class LibraryViewModel {
  private(set) var books: [Book] = []
  private(set) var error: String?
  var searchText = "" { didSet { reload() } }
  var status: ReadingStatus? { didSet { reload() } }

  private let modelContext: ModelContext

  init(modelContext: ModelContext) {
    self.modelContext = modelContext
    reload()
  }

  func reload() {
    do {
      books = try modelContext.fetch(descriptor())
      error = nil
    } catch {
      self.error = error.localizedDescription
    }
  }

  private func descriptor() -> FetchDescriptor<Book> {
    let text = searchText
    let wanted = status?.rawValue ?? ""
    let predicate = #Predicate<Book> { book in
      (text.isEmpty || book.title.localizedStandardContains(text))
        && (wanted.isEmpty || book.status.rawValue == wanted)
    }
    return FetchDescriptor(
      predicate: predicate, sortBy: [SortDescriptor(\.title), SortDescriptor(\.addedAt)])
  }

  func currentlyReading() throws -> [Book] {
    let reading = ReadingStatus.reading
    return try modelContext.fetch(
      FetchDescriptor<Book>(
        predicate: #Predicate { $0.status == reading }, sortBy: [SortDescriptor(\.title)]))
  }

  func books(by familyName: String) throws -> [Book] {
    try modelContext.fetch(
      FetchDescriptor<Book>(
        predicate: #Predicate { $0.authors.contains { $0.familyName == familyName } },
        sortBy: [SortDescriptor(\.title)]))
  }

  func longQuotes(of book: Book) throws -> [Quote] {
    let id = book.persistentModelID
    return try modelContext.fetch(
      FetchDescriptor<Quote>(
        predicate: #Predicate { $0.book?.persistentModelID == id && ($0.page ?? 0) > 100 }))
  }

  func minutesRead(since date: Date) throws -> Int {
    let sessions = try modelContext.fetch(
      FetchDescriptor<ReadingSession>(predicate: #Predicate { $0.startedAt >= date }))
    return sessions.reduce(0) { $0 + $1.minutes }
  }

  func delete(_ book: Book) {
    modelContext.delete(book)
    reload()
  }
}
