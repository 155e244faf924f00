import Foundation
import SwiftData

// Versions of one app's models, each with what the ones before it lacked.

/// Books with one author each, and tags without a way back.
enum Shelf1 {
  @Model final class Book {
    var title: String
    var pages: Int
    var note: String?
    @Attribute(.externalStorage) var cover: Data?
    var author: Author?
    var tags: [Tag] = []
    init(_ title: String, pages: Int = 1) {
      self.title = title
      self.pages = pages
    }
  }

  @Model final class Author {
    var name: String
    @Relationship(inverse: \Book.author) var books: [Book] = []
    init(_ name: String) { self.name = name }
  }

  @Model final class Tag {
    var word: String
    init(_ word: String) { self.word = word }
  }

  static let models: [any PersistentModel.Type] = [Book.self, Author.self, Tag.self]
}

/// Books with several authors, unique tags with a way back, and a defaulted column.
enum Shelf2 {
  @Model final class Book {
    @Attribute(originalName: "title") var name: String
    var pages: Int?
    var note: String = "none"
    var cover: Data?
    var stars: Double = 0.5
    @Relationship(originalName: "author", inverse: \Author.books) var authors: [Author] = []
    @Relationship(inverse: \Tag.books) var tags: [Tag] = []
    init(_ name: String) { self.name = name }
  }

  @Model final class Author {
    var name: String
    var books: [Book] = []
    init(_ name: String) { self.name = name }
  }

  @Model final class Tag {
    @Attribute(.unique) var word: String
    var books: [Book] = []
    init(_ word: String) { self.word = word }
  }

  static let models: [any PersistentModel.Type] = [Book.self, Author.self, Tag.self]
}

/// Authors are gone, books are called publications, and have a superclass and a model before all others by name.
enum Shelf3 {
  @Model class Item {
    var name: String
    init(_ name: String) { self.name = name }
  }

  @Model final class Publication: Item {
    var pages: Int?
    @Relationship(originalName: "tags") var tag: Tag?
    override init(_ name: String) { super.init(name) }
  }

  @Model final class Tag {
    @Attribute(.unique) var word: String
    @Relationship(inverse: \Publication.tag) var books: [Publication] = []
    init(_ word: String) { self.word = word }
  }

  @Model final class Archive {
    var place: String = "here"
    init() {}
  }

  static let models: [any PersistentModel.Type] = [
    Item.self, Publication.self, Tag.self, Archive.self,
  ]
}

extension Shelf3.Publication: RenamedModel {
  static var originalName: String { "Book" }
}

/// A hierarchy, and another model that comes before it by name.
enum Fleet1 {
  @Model class Vehicle {
    var name: String
    init(_ name: String) { self.name = name }
  }
  @Model final class Boat: Vehicle {
    var sails: Int = 0
    override init(_ name: String) { super.init(name) }
  }
  @Model final class Wagon: Vehicle {
    var wheels: Int = 4
    override init(_ name: String) { super.init(name) }
  }
  static let models: [any PersistentModel.Type] = [Vehicle.self, Boat.self, Wagon.self]
}

enum Fleet2 {
  @Model final class Anchor {
    var weight: Int = 1
    init() {}
  }
  @Model class Vehicle {
    var name: String
    var owner: String = "none"
    init(_ name: String) { self.name = name }
  }
  @Model final class Boat: Vehicle {
    var sails: Int = 0
    var color: String = "white"
    override init(_ name: String) { super.init(name) }
  }
  static let models: [any PersistentModel.Type] = [Vehicle.self, Boat.self, Anchor.self]
}
