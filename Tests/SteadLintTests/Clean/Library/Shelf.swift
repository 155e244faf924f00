import SwiftData

@Model
final class Shelf {
  var name: String
  @Relationship(deleteRule: .nullify) var books: [Book] = []

  init(name: String) { self.name = name }

  var isEmptyShelf: Bool { books.isEmpty }
}
