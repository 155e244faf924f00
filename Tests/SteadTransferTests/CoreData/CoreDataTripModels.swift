import Foundation
import SwiftData

/// Models with structs whose fields are named as other properties are.
enum Trips {
  struct Author: Codable, Equatable {
    var id: Int
    var name: String
  }

  struct Prep: Codable, Equatable {
    var id: Int
    var steps: [String]
    var place: Place
  }

  struct Place: Codable, Equatable {
    var city: String
    var since: Date?
  }

  enum Stage: Codable, Equatable { case planned, done }

  @Model final class Trip {
    var id: Int
    var author: Author?
    var prep: Prep?
    var stage: Stage?
    init(id: Int) { self.id = id }
  }

  @Model final class Ticket {
    var code: UUID = UUID()
    var seats: Int = 1
    var day: Date?
    init() {}
  }
}
