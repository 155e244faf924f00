import Foundation

struct StreetAddress: Codable, Hashable {
  var street: String
  var postcode: String
  var city: String
  var location: Coordinate?
}

struct Coordinate: Codable, Hashable {
  var latitude: Double
  var longitude: Double
}

struct OpeningHours: Codable, Hashable {
  var opens = 8
  var closes = 20
  var closedDays: [Int] = [7]
}

struct Hazards: OptionSet, Codable, Hashable {
  let rawValue: Int
  static let laser = Hazards(rawValue: 1)
  static let acid = Hazards(rawValue: 2)
  static let noise = Hazards(rawValue: 4)
}

enum RoomKind: String, Codable, CaseIterable { case lecture, seminar, office, laboratory }

enum Degree: String, Codable { case bachelor, master, doctorate }

enum Sport: String, Codable { case rowing, chess, football }

enum Severity: Int, Codable { case notice, warning, emergency }

enum DeviceKind: Codable, Hashable {
  case computer(cores: Int)
  case printer(isColour: Bool)
  case other
}
