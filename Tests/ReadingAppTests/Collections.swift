import SwiftData

@Model
final class Shelf {
  var name: String
  var position: Int
  var kind: Kind = Kind.manual
  var owner: Reader?
  @Relationship(inverse: \Book.shelves) var books: [Book] = []

  enum Kind: Codable, Equatable {
    case manual
    case smart(minimumRating: Int)
    case tagged(String)
  }

  init(name: String, position: Int = 0, kind: Kind = .manual) {
    self.name = name
    self.position = position
    self.kind = kind
  }
}

@Model
final class Series {
  @Attribute(.unique) var name: String
  @Relationship(deleteRule: .nullify, inverse: \Book.series) var books: [Book] = []

  init(name: String) {
    self.name = name
  }
}
