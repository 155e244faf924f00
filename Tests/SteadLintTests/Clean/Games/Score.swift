import Foundation

struct Score: Codable, Comparable {
  var points: Int
  var player: String?
  var date: Date

  static func < (one: Score, other: Score) -> Bool { one.points < other.points }
}
