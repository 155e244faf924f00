import SwiftData

/// All delete rules on one class.
@Model final class Owner {
  var name: String
  @Relationship(deleteRule: .nullify, inverse: \Pet.owner) var pets: [Pet] = []
  @Relationship(deleteRule: .cascade, inverse: \Letter.owner) var letters: [Letter]? = []
  @Relationship(deleteRule: .deny, inverse: \Debt.owner) var debts: [Debt] = []
  @Relationship(deleteRule: .noAction, inverse: \Rumor.owner) var rumors: [Rumor] = []

  init(name: String) { self.name = name }
}

@Model final class Pet {
  var name: String
  var owner: Owner?
  init(name: String) { self.name = name }
}

@Model final class Letter {
  var text: String
  var owner: Owner?
  @Relationship(deleteRule: .cascade) var stamp: Stamp?
  init(text: String, stamp: Stamp? = nil) {
    self.text = text
    self.stamp = stamp
  }
}

@Model final class Stamp {
  var price: Int
  init(price: Int) { self.price = price }
}

@Model final class Debt {
  var amount: Int
  var owner: Owner?
  init(amount: Int) { self.amount = amount }
}

@Model final class Rumor {
  var text: String
  var owner: Owner?
  init(text: String) { self.text = text }
}

/// Two cascades that go round in a circle.
@Model final class Chicken {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \Egg.layer) var eggs: [Egg] = []
  @Relationship(deleteRule: .cascade, inverse: \Egg.chick) var origin: Egg?
  init(name: String) { self.name = name }
}

@Model final class Egg {
  var layer: Chicken?
  @Relationship(deleteRule: .cascade) var chick: Chicken?
  init() {}
}

/// An inverse that is inferred: one candidate, the to-one side optional.
@Model final class Album {
  var title: String
  var tracks: [Track] = []
  init(title: String) { self.title = title }
}

@Model final class Track {
  var title: String
  var album: Album?
  init(title: String) { self.title = title }
}

/// Many-to-many without a named inverse: two relationships that know nothing of each other.
@Model final class Pupil {
  var name: String
  var courses: [Course] = []
  init(name: String) { self.name = name }
}

@Model final class Course {
  var name: String
  var pupils: [Pupil] = []
  init(name: String) { self.name = name }
}

/// A to-one relationship that must have an object.
@Model final class Invoice {
  var number: Int
  var customer: Customer
  init(number: Int, customer: Customer) {
    self.number = number
    self.customer = customer
  }
}

@Model final class Customer {
  var name: String
  @Relationship(deleteRule: .nullify, inverse: \Invoice.customer) var invoices: [Invoice] = []
  init(name: String) { self.name = name }
}

/// Two candidates for one inverse.
@Model final class Flight {
  var origin: Airport?
  var destination: Airport?
  init() {}
}

@Model final class Airport {
  var flights: [Flight] = []
  init() {}
}

/// A class of its own on both sides of a relationship without an inverse.
@Model final class Friend {
  var name: String
  var friends: [Friend] = []
  init(name: String) { self.name = name }
}

extension TestStore {
  static func owners(_ place: StorePlace) throws -> TestStore {
    try TestStore(
      place, Owner.self, Pet.self, Letter.self, Stamp.self, Debt.self, Rumor.self)
  }
}
