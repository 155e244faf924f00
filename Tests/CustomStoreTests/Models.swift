import Foundation
import SwiftData

@Model final class Author {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \Book.author) var books: [Book] = []
  var rivals: [Author] = []

  init(_ name: String) { self.name = name }
}

@Model final class Book {
  var title: String
  var pages = 0
  var author: Author?
  @Relationship(inverse: \Shelf.books) var shelves: [Shelf] = []

  init(_ title: String, pages: Int = 0) {
    self.title = title
    self.pages = pages
  }
}

@Model final class Shelf {
  var place: String
  var books: [Book] = []

  init(_ place: String) { self.place = place }
}

@Model final class Note {
  var text: String
  init(_ text: String) { self.text = text }
}

@Model final class Tag {
  @Attribute(.unique) var code: String
  var count: Int

  init(_ code: String, count: Int) {
    self.code = code
    self.count = count
  }
}

@Model class Animal {
  var name: String
  init(_ name: String) { self.name = name }
}

@Model class Dog: Animal {
  var tricks = 0

  init(_ name: String, tricks: Int) {
    super.init(name)
    self.tricks = tricks
  }
}

@Model final class Sheepdog: Dog {
  var flock: [String] = []
  var pasture: Pasture?

  init(_ name: String, tricks: Int, flock: [String]) {
    super.init(name, tricks: tricks)
    self.flock = flock
  }
}

@Model final class Pasture {
  var acres: Int
  @Relationship(inverse: \Sheepdog.pasture) var dogs: [Sheepdog] = []
  init(_ acres: Int) { self.acres = acres }
}
