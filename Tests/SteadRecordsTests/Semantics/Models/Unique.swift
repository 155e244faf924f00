import SwiftData

/// One unique attribute.
@Model final class Badge {
  @Attribute(.unique) var code: String
  var label: String
  var count: Int?
  @Relationship(deleteRule: .cascade, inverse: \Scan.badge) var scans: [Scan] = []

  init(code: String, label: String = "none", count: Int? = nil) {
    self.code = code
    self.label = label
    self.count = count
  }
}

@Model final class Scan {
  var place: String
  var badge: Badge?

  init(place: String, badge: Badge? = nil) {
    self.place = place
    self.badge = badge
  }
}

/// Several compound constraints, one of them with an optional property.
@Model final class Seat {
  #Unique<Seat>([\.hall, \.number], [\.hall, \.holder])
  #Index<Seat>([\.hall], [\.number, \.holder])

  var hall: String
  var number: Int
  var holder: String?
  var price = 0

  init(hall: String, number: Int, holder: String? = nil, price: Int = 0) {
    self.hall = hall
    self.number = number
    self.holder = holder
    self.price = price
  }
}

/// A locker belongs to one person, a person has one locker at most.
@Model final class Locker {
  var number: Int
  @Relationship(.unique) var owner: LockerOwner?

  init(number: Int, owner: LockerOwner? = nil) {
    self.number = number
    self.owner = owner
  }
}

@Model final class LockerOwner {
  var name: String

  init(name: String) { self.name = name }
}

/// What cannot be: a unique to-many relationship.
@Model final class Shelf {
  var name: String
  @Relationship(.unique) var volumes: [Volume] = []

  init(name: String) { self.name = name }
}

@Model final class Volume {
  var title: String

  init(title: String) { self.title = title }
}
