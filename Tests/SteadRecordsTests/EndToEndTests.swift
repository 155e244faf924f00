import Foundation
import SwiftData
import Testing

@Model final class Author {
  var name: String
  var born: Date?
  @Relationship(deleteRule: .cascade, inverse: \Book.author) var books: [Book] = []
  init(name: String) { self.name = name }
}
@Model final class Book {
  var title: String
  var pages = 0
  var author: Author?
  var tags: [BookTag]
  init(title: String, author: Author? = nil) { self.title = title; self.author = author; tags = [] }
}
@Model final class BookTag {
  @Attribute(.unique) var name: String
  @Relationship(inverse: \Book.tags) var books: [Book] = []
  init(name: String) { self.name = name }
}

/// One walk: insert, relate, save, fetch elsewhere, change, delete, upsert.
@Test func `end to end`() throws {
  let store = try StoreFile()
  for configuration in [
    ModelConfiguration(isStoredInMemoryOnly: true), ModelConfiguration(url: store.url),
  ] {
    let container = try ModelContainer(for: Author.self, configurations: configuration)
    let context = ModelContext(container)
    let a = Author(name: "Ann")
    context.insert(a)
    let b = Book(title: "One", author: a)
    context.insert(b)
    #expect(a.books.count == 1)
    a.books.append(Book(title: "Two"))
    let tag = BookTag(name: "x")
    b.tags.append(tag)
    #expect(tag.books.first === b)
    try context.save()
    #expect(!context.hasChanges)
    let other = ModelContext(container)
    let authors = try other.fetch(FetchDescriptor<Author>())
    #expect(authors.count == 1)
    #expect(authors[0].name == "Ann")
    #expect(authors[0].books.map(\.title) == ["One", "Two"])
    #expect(authors[0].books[0].tags.map(\.name) == ["x"])
    #expect(authors[0].books[0].author === authors[0])
    authors[0].name = "Bob"
    try other.save()
    context.processPendingChanges()
    #expect(a.name == "Bob")
    other.delete(authors[0])
    try other.save()
    #expect(try context.fetchCount(FetchDescriptor<Book>()) == 0)
    #expect(try context.fetchCount(FetchDescriptor<BookTag>()) == 1)
    let again = BookTag(name: "x")
    context.insert(again)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<BookTag>()) == 1)
  }
}
