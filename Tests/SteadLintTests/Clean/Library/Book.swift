import Foundation
import SwiftData

@Model
final class Book {
  @Attribute(.unique) var isbn: String
  var title: String
  var author: String
  var addedAt: Date
  var rating: Int?
  @Attribute(.externalStorage) var cover: Data?
  @Relationship(deleteRule: .cascade, inverse: \Note.book) var notes: [Note] = []
  @Relationship(deleteRule: .nullify, inverse: \Shelf.books) var shelves: [Shelf] = []

  init(isbn: String, title: String, author: String, addedAt: Date = .now) {
    self.isbn = isbn
    self.title = title
    self.author = author
    self.addedAt = addedAt
  }
}
