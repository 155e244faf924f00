import Foundation
import SwiftData

/// The models of the real stores: SampleModel, versions 1 and 2.
enum CarsV1 {
  @Model class Car {
    var maker: String?
    var model: String?
    @Attribute(.unique) var numberPlate: String
    var markedForDeletionAsOf: Date?
    var color: Data?
    var owner: Person?
    init(numberPlate: String) { self.numberPlate = numberPlate }
  }

  @Model class SportCar: Car {
    override init(numberPlate: String) { super.init(numberPlate: numberPlate) }
  }

  @Model final class ExpensiveSportCar: SportCar {
    var isLimitedEdition: Bool = true
    override init(numberPlate: String) { super.init(numberPlate: numberPlate) }
  }

  @Model final class Person {
    var id: UUID
    var firstName: String?
    var lastName: String?
    var updatedAt: Date
    @Relationship(inverse: \Car.owner) var cars: [Car] = []
    init(id: UUID, updatedAt: Date) {
      self.id = id
      self.updatedAt = updatedAt
    }
  }
}

/// Version 2: without colours and identifiers, and one class has another name.
enum CarsV2 {
  @Model class Car {
    var maker: String?
    var model: String?
    var numberPlate: String
    var markedForDeletionAsOf: Date?
    var owner: Person?
    init(numberPlate: String) { self.numberPlate = numberPlate }
  }

  @Model class SportCar: Car {
    override init(numberPlate: String) { super.init(numberPlate: numberPlate) }
  }

  @Model final class LuxuryCar: SportCar {
    var isLimitedEdition: Bool = true
    override init(numberPlate: String) { super.init(numberPlate: numberPlate) }
  }

  @Model final class Person {
    var firstName: String?
    var lastName: String?
    var updatedAt: Date
    @Relationship(inverse: \Car.owner) var cars: [Car] = []
    init(updatedAt: Date) { self.updatedAt = updatedAt }
  }
}

/// SampleModel2, version 2.
enum Library {
  @Model class Writer {
    var age: Int
    init(age: Int) { self.age = age }
  }

  @Model final class Author: Writer {
    @Attribute(.unique) var alias: String
    @Relationship(inverse: \Book.author) var books: [Book] = []
    init(alias: String) {
      self.alias = alias
      super.init(age: 0)
    }
  }

  @Model class Book {
    var title: String
    var price: Decimal
    var publishedAt: Date
    @Attribute(.unique) var uniqueID: UUID
    @Attribute(originalName: "frontCover") var cover: Data?
    var pagesCount: Int?
    var author: Author?
    @Relationship(deleteRule: .cascade, inverse: \Page.book) var pages: [Page] = []
    init(title: String, price: Decimal, publishedAt: Date, uniqueID: UUID) {
      self.title = title
      self.price = price
      self.publishedAt = publishedAt
      self.uniqueID = uniqueID
    }
  }

  @Model final class GraphicNovel: Book {
    var isBlackAndWhite: Bool = false
    override init(title: String, price: Decimal, publishedAt: Date, uniqueID: UUID) {
      super.init(title: title, price: price, publishedAt: publishedAt, uniqueID: uniqueID)
    }
  }

  @Model final class Page {
    var number: Int
    var isBookmarked: Bool
    var content: Data?
    var book: Book?
    init(number: Int, isBookmarked: Bool) {
      self.number = number
      self.isBookmarked = isBookmarked
    }
  }

  @Model final class Feedback {
    var rating: Double
    var authorAlias: String
    var comment: String?
    var bookID: UUID
    init(rating: Double, authorAlias: String, bookID: UUID) {
      self.rating = rating
      self.authorAlias = authorAlias
      self.bookID = bookID
    }
  }
}

/// SampleModel3, version 1.
enum Pets {
  @Model final class User {
    var name: String
    var petName: String?
    init(name: String) { self.name = name }
  }
}
