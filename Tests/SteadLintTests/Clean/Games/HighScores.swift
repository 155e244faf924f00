import Foundation

final class HighScores {
  private static let key = "highScores"
  private static let limit = 10
  private let defaults: UserDefaults
  private(set) var scores: [Score] = []

  init(defaults: UserDefaults) throws {
    self.defaults = defaults
    guard let data = defaults.data(forKey: Self.key) else { return }
    scores = try JSONDecoder().decode([Score].self, from: data)
  }

  func add(_ score: Score) throws {
    scores.append(score)
    scores = Array(scores.sorted().suffix(Self.limit))
    defaults.set(try JSONEncoder().encode(scores), forKey: Self.key)
  }
}
