import Foundation
import SwiftData

/// Structs whose fields are of all types that a field can have.
enum Fields {
  enum Stage: Codable, Equatable, CaseIterable { case planned, running }
  enum Action: Codable, Equatable {
    case idle
    case move(distance: Int)
  }

  struct Note: Codable, Equatable {
    var text: String
    var weight: Double?
  }

  struct Full: Codable, Equatable {
    var flag: Bool
    var code: UUID
    var link: URL
    var price: Decimal
    var data: Data
    var share: Float
    var count: UInt64
    var small: Int16
    var since: Date
    var numbers: [Int]
    var notes: [Note]
    var stage: Stage
    var action: Action
  }

  struct Spare: Codable, Equatable {
    var open: Bool?
    var key: UUID?
    var page: URL?
    var cost: Decimal?
    var bytes: Data?
    var part: Float?
    var total: UInt64?
    var until: Date?
    var marks: [Int]?
    var parts: [Note]?
  }

  @Model class Base {
    var number: Int
    var full: Full
    init(number: Int, full: Full) {
      self.number = number
      self.full = full
    }
  }

  @Model final class Sub: Base {
    var mood: Mood = Mood.calm
    var spare: Spare?
    override init(number: Int, full: Full) { super.init(number: number, full: full) }
  }

  enum Mood: Codable, Equatable, CaseIterable { case calm, bright }
}

/// Structs all of whose fields may be nil.
enum Hollow {
  struct Home: Codable, Equatable {
    var city: String?
    var floor: Int?
  }

  struct Place: Codable, Equatable {
    var street: String?
    var height: Double?
  }

  struct Prep: Codable, Equatable {
    var place: Place
    var note: String?
  }

  struct Depth: Codable, Equatable { var depth: Int? }

  struct Extra: Codable, Equatable {
    var inner: Depth
    var label: String?
    var other: Width?
  }

  struct Width: Codable, Equatable { var width: Int? }

  /// Its stored keys are other than its names.
  struct Coded: Codable, Equatable {
    struct Spot: Codable, Equatable { var row: Int? }
    var text: String?
    var spot: Spot
    enum CodingKeys: String, CodingKey { case text = "txt", spot = "spt" }
  }

  /// It cannot be empty.
  struct Strict: Codable, Equatable {
    var code: String
    var rest: String?
  }

  @Model final class Stop {
    var number: Int
    var home = Home(city: "Rome", floor: 1)
    var prep: Prep
    var extra: Extra?
    var coded: Coded
    var strict = Strict(code: "none")
    init(number: Int, prep: Prep, coded: Coded) {
      self.number = number
      self.prep = prep
      self.coded = coded
    }
  }
}
