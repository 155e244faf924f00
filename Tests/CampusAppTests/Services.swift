import Foundation
import SwiftData

@Model
final class Cafeteria {
  var name: String
  var seats: Int = 120
  @Relationship(deleteRule: .cascade, inverse: \Menu.cafeteria) var menus: [Menu] = []
  var campus: Campus?

  init(name: String) {
    self.name = name
  }
}

@Model
final class Menu {
  #Unique<Menu>([\.cafeteria, \.day])

  var day: Date
  var cafeteria: Cafeteria?
  @Relationship(deleteRule: .cascade, inverse: \Dish.menu) var dishes: [Dish] = []

  init(day: Date) {
    self.day = day
  }
}

@Model
final class Dish {
  var name: String
  var price: Decimal
  var traits: Set<String> = []
  var menu: Menu?

  init(name: String, price: Decimal) {
    self.name = name
    self.price = price
  }
}

@Model
final class CampusEvent {
  var title: String
  var startsAt: Date
  var visitors: Int?
  @Relationship(inverse: \Sponsor.events) var sponsors: [Sponsor] = []
  var campus: Campus?

  init(title: String, startsAt: Date) {
    self.title = title
    self.startsAt = startsAt
  }
}

@Model
final class Sponsor {
  var name: String
  var events: [CampusEvent] = []

  init(name: String) {
    self.name = name
  }
}

@Model
final class Vehicle {
  #Unique<Vehicle>([\.plate])

  var plate: String
  var seats: Int = 5
  var kilometres: Int = 0
  var campus: Campus?

  init(plate: String) {
    self.plate = plate
  }
}

@Model
final class Announcement {
  var headline: String
  var body: String = ""
  var publishedAt: Date = Date.now
  var campus: Campus?

  init(headline: String) {
    self.headline = headline
  }
}
