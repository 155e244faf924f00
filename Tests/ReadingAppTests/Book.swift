import Foundation
import SwiftData

@Model
final class Book {
  #Unique<Book>([\.isbn])
  #Index<Book>([\.title], [\.status, \.addedAt])

  var isbn: String
  var title: String
  var subtitle: String?
  var pageCount: Int
  var status: ReadingStatus
  var format: BookFormat = BookFormat.paperback
  var rating: Rating?
  var edition: Edition
  var tags: [String] = []
  var addedAt = Date.now
  private(set) var finishedAt: Date?
  @Attribute(.externalStorage) var cover: Data?

  @Relationship(inverse: \Author.books) var authors: [Author] = []
  @Relationship(deleteRule: .cascade, inverse: \ReadingSession.book)
  var sessions: [ReadingSession] = []
  @Relationship(deleteRule: .cascade, inverse: \Quote.book) var quotes: [Quote] = []
  var series: Series?
  var shelves: [Shelf]? = []

  @Transient var isHighlighted = false

  init(
    isbn: String, title: String, pageCount: Int, status: ReadingStatus = .wishlist,
    edition: Edition = Edition(publisher: "unknown", year: nil)
  ) {
    self.isbn = isbn
    self.title = title
    self.pageCount = pageCount
    self.status = status
    self.edition = edition
  }

  var pagesRead: Int { min(pageCount, sessions.reduce(0) { $0 + $1.pages }) }
  var progress: Double { pageCount == 0 ? 0 : Double(pagesRead) / Double(pageCount) }
  var byline: String { authors.map(\.fullName).sorted().joined(separator: ", ") }

  func finish(on date: Date = .now, rating: Rating? = nil) {
    status = .finished
    finishedAt = date
    self.rating = rating
  }
}

extension Book: CustomStringConvertible {
  var description: String { "\(title) (\(byline))" }
}
