import Foundation
import SwiftData

struct ImportedBook: Decodable, Sendable {
  var isbn: String
  var title: String
  var pages: Int
  var authors: [String]
  var series: String?
}

@ModelActor
actor LibraryImporter {
  func importBooks(from data: Data, source: URL) throws -> PersistentIdentifier {
    let imported = try JSONDecoder().decode([ImportedBook].self, from: data)
    for item in imported { try insert(item) }
    let log = ImportLog(source: source, count: imported.count)
    modelContext.insert(log)
    try modelContext.save()
    return log.persistentModelID
  }

  private func insert(_ item: ImportedBook) throws {
    let book = Book(isbn: item.isbn, title: item.title, pageCount: item.pages)
    modelContext.insert(book)
    book.authors = try item.authors.map(author)
    if let name = item.series { book.series = try series(name) }
  }

  private func author(named name: String) throws -> Author {
    let parts = name.split(separator: " ", maxSplits: 1).map(String.init)
    let (given, family) = (parts[0], parts.count > 1 ? parts[1] : "")
    let predicate = #Predicate<Author> { $0.givenName == given && $0.familyName == family }
    if let known = try modelContext.fetch(FetchDescriptor(predicate: predicate)).first {
      return known
    }
    let author = Author(givenName: given, familyName: family)
    modelContext.insert(author)
    return author
  }

  private func series(_ name: String) throws -> Series {
    let predicate = #Predicate<Series> { $0.name == name }
    return try modelContext.fetch(FetchDescriptor(predicate: predicate)).first ?? Series(name: name)
  }

  func markFinished(_ id: PersistentIdentifier, rating: Int) throws {
    guard let book = self[id, as: Book.self] else { return }
    book.finish(rating: Rating(rawValue: rating))
    try modelContext.save()
  }
}
