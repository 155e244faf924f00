import SwiftData

@Model final class Driver {
  var name: String
  @Relationship(inverse: \Car.driver) var car: Car?
  init(name: String) { self.name = name }
}

@Model final class Car {
  var plate: String
  var driver: Driver?
  init(plate: String) { self.plate = plate }
}

@Model final class Shop {
  var name: String
  @Relationship(inverse: \Item.shop) var items: [Item] = []
  init(name: String) { self.name = name }
}

@Model final class Item {
  var name: String
  var price = 0
  var shop: Shop?
  @Relationship(inverse: \Tag.items) var tags: [Tag] = []
  init(name: String) { self.name = name }
}

@Model final class Tag {
  var name: String
  var items: [Item] = []
  init(name: String) { self.name = name }
}

/// Its songs do not know of it.
@Model final class Playlist {
  var name: String
  var songs: [Song] = []
  var favorite: Song?
  init(name: String) { self.name = name }
}

@Model final class Song {
  var title: String
  init(title: String) { self.title = title }
}

@Model final class Badge {
  @Attribute(.unique) var code: String
  var label: String
  var holder: Holder?
  @Relationship(inverse: \Scan.badge) var scans: [Scan] = []

  init(code: String, label: String, holder: Holder? = nil) {
    self.code = code
    self.label = label
    self.holder = holder
  }
}

@Model final class Holder {
  var name: String
  @Relationship(inverse: \Badge.holder) var badges: [Badge] = []
  init(name: String) { self.name = name }
}

@Model final class Scan {
  var place: String
  var badge: Badge?
  init(place: String) { self.place = place }
}

/// Two keys, each of its own.
@Model final class Account {
  @Attribute(.unique) var email: String
  @Attribute(.unique) var login: String
  init(email: String, login: String) {
    self.email = email
    self.login = login
  }
}

@Model final class Counter {
  var number: Int
  var value = 0
  init(number: Int = 0) { self.number = number }
}

@Model final class Landlord {
  var name: String
  @Relationship(deleteRule: .deny, inverse: \Tenant.landlord) var tenants: [Tenant] = []
  @Relationship(deleteRule: .noAction, inverse: \Rumor.landlord) var rumors: [Rumor] = []
  init(name: String) { self.name = name }
}

@Model final class Tenant {
  var name: String
  var landlord: Landlord?
  init(name: String) { self.name = name }
}

@Model final class Rumor {
  var text: String
  var landlord: Landlord?
  init(text: String) { self.text = text }
}

@Model final class Parent {
  var name: String
  @Relationship(inverse: \Child.parent) var children: [Child] = []
  @Relationship(inverse: \Child.favoringParent) var favorite: Child?

  init(name: String, children: [Child] = []) {
    self.name = name
    self.children = children
  }
}

@Model final class Child {
  var name: String
  var parent: Parent?
  var favoringParent: Parent?

  init(name: String, parent: Parent? = nil) {
    self.name = name
    self.parent = parent
  }
}

/// Its members have no default value, so that `init` gives them their first one.
@Model final class Team {
  var name: String
  @Relationship(inverse: \Player.team) var players: [Player]

  init(name: String, players: [Player]) {
    self.name = name
    self.players = players
  }
}

@Model final class Player {
  var name: String
  var team: Team?
  @Relationship(inverse: \Coach.players) var coach: Coach

  init(name: String, coach: Coach) {
    self.name = name
    self.coach = coach
  }
}

@Model final class Coach {
  var name: String
  var players: [Player] = []
  init(name: String) { self.name = name }
}

/// One of a chain, in which each holds the next.
@Model final class Bead {
  var number: Int
  @Relationship(inverse: \Bead.previous) var next: Bead?
  var previous: Bead?
  init(number: Int) { self.number = number }
}

@Model class Person {
  var name: String
  var friend: Person?
  @Relationship(inverse: \Person.host) var guests: [Person] = []
  var host: Person?
  init(name: String) { self.name = name }
}

/// In no schema of these tests.
@Model final class Stranger: Person {
  var secret = "opensesame"
  override init(name: String) { super.init(name: name) }
}

@Model final class Topic {
  @Attribute(.unique) var name: String
  var posts: [Post] = []
  init(name: String) { self.name = name }
}

@Model final class Post {
  var title: String
  @Relationship(inverse: \Topic.posts) var topics: [Topic] = []
  init(title: String) { self.title = title }
}
