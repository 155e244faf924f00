import Foundation
import SwiftData

/// A model with each kind of attribute that SwiftData describes in a form of its own.
enum Kinds {
  enum Status: String, Codable, CaseIterable { case active, done }
  enum Level: Int, Codable, CaseIterable { case low = 1, high = 5 }
  enum Ratio: Double, Codable, CaseIterable { case half = 0.5, double = 2 }
  enum Stage: Codable, Equatable, CaseIterable { case planned, running }
  enum Action: Codable, Equatable {
    case idle
    case move(distance: Int)
    case rename(first: String, last: String?)
  }

  struct Place: Codable, Equatable {
    var city: String
    var standing: Status?
    var visited: [String]?
  }

  struct Prep: Codable, Equatable {
    var kind: Status
    var grade: Level?
    var step: Stage?
    var place: Place?
  }

  /// Its stored keys are other than its names.
  struct Renamed: Codable, Equatable {
    var text: String
    var share: Ratio?
    enum CodingKeys: String, CodingKey { case text = "txt", share = "shr" }
  }

  @Model final class Item {
    var number: Int
    var status: Status = Status.active
    var level: Level = Level.low
    var ratio: Ratio?
    var formerly: Status?
    var stage: Stage?
    var action: Action?
    var prep: Prep?
    var renamed: Renamed?
    var statuses: [Status] = []
    var tags: [String]?
    var data: Data?
    var link: URL?
    var code: UUID?
    var price: Decimal?
    var weight: Measurement<UnitMass>?
    init(number: Int) { self.number = number }
  }
}
