import Foundation
import SwiftData

typealias CurrentSchema = LibrarySchemaV2

enum LibrarySchemaV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Book.self, Author.self] }

  @Model
  final class Book {
    var isbn: String
    var title: String
    var pages: Int
    var isRead: Bool
    var writer: Author?

    init(isbn: String, title: String, pages: Int, isRead: Bool = false) {
      self.isbn = isbn
      self.title = title
      self.pages = pages
      self.isRead = isRead
    }
  }

  @Model
  final class Author {
    var name: String
    @Relationship(inverse: \Book.writer) var books: [Book] = []

    init(name: String) { self.name = name }
  }
}

enum LibrarySchemaV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Book.self, Author.self] }

  @Model
  final class Book {
    @Attribute(.unique) var isbn: String
    var title: String
    @Attribute(originalName: "pages") var pageCount: Int
    var isRead: Bool
    var status: ReadingStatus = ReadingStatus.wishlist
    var tags: [String] = []
    @Relationship(originalName: "writer") var author: Author?

    init(isbn: String, title: String, pageCount: Int) {
      self.isbn = isbn
      self.title = title
      self.pageCount = pageCount
      isRead = false
    }
  }

  @Model
  final class Author {
    var name: String
    var familyName: String?
    @Relationship(inverse: \Book.author) var books: [Book] = []

    init(name: String) { self.name = name }
  }
}

enum LibraryMigrationPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [LibrarySchemaV1.self, LibrarySchemaV2.self] }

  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: LibrarySchemaV1.self, toVersion: LibrarySchemaV2.self,
        willMigrate: { context in
          // The first version allowed two books of one number.
          var seen = Set<String>()
          let books = try context.fetch(
            FetchDescriptor<LibrarySchemaV1.Book>(sortBy: [SortDescriptor(\.title)]))
          for book in books where !seen.insert(book.isbn).inserted { context.delete(book) }
          try context.save()
        },
        didMigrate: { context in
          for book in try context.fetch(FetchDescriptor<LibrarySchemaV2.Book>()) {
            book.status = book.isRead ? .finished : .wishlist
          }
          for author in try context.fetch(FetchDescriptor<LibrarySchemaV2.Author>()) {
            author.familyName = author.name.split(separator: " ").last.map(String.init)
          }
          try context.save()
        })
    ]
  }
}
