import SwiftData

/// Its buyer, whom nothing leads back from, is required.
@Model final class Invoice {
  var number: Int
  var amount = 0
  var buyer: Buyer

  init(number: Int, buyer: Buyer) {
    self.number = number
    self.buyer = buyer
  }
}

@Model class Buyer {
  var number: Int
  init(number: Int) { self.number = number }
}

@Model final class Company: Buyer {
  var staff = 0
  override init(number: Int) { super.init(number: number) }
}

/// Has one to three sailors.
@Model final class Crew {
  var number: Int
  @Relationship(minimumModelCount: 1, maximumModelCount: 3, inverse: \Sailor.crew)
  var sailors: [Sailor] = []
  init(number: Int) { self.number = number }
}

@Model final class Sailor {
  var number: Int
  var crew: Crew?
  init(number: Int) { self.number = number }
}

/// Has one or two dishes, which don't know of it.
@Model final class Menu {
  var name: String
  @Relationship(minimumModelCount: 1, maximumModelCount: 2) var dishes: [Dish] = []
  init(name: String) { self.name = name }
}

@Model final class Dish {
  var name: String
  init(name: String) { self.name = name }
}

/// Has one or two students, who have several courses.
@Model final class Course {
  var name: String
  @Relationship(minimumModelCount: 1, maximumModelCount: 2, inverse: \Student.courses)
  var students: [Student] = []
  init(name: String) { self.name = name }
}

@Model final class Student {
  var name: String
  var courses: [Course] = []
  init(name: String) { self.name = name }
}

@Model final class Seat {
  @Attribute(.unique) var code: String
  var label = ""
  @Relationship(inverse: \Guest.seat) var guest: Guest?
  var party: Party?
  init(code: String) { self.code = code }
}

@Model final class Guest {
  var name: String
  var seat: Seat?
  init(name: String) { self.name = name }
}

@Model final class Party {
  @Attribute(.unique) var name: String
  @Relationship(maximumModelCount: 8, inverse: \Seat.party) var seats: [Seat] = []
  /// Which does not know of it.
  var best: Seat?
  init(name: String) { self.name = name }
}
