/// A comment that disables rules for a line.
struct Suppression: Codable, Sendable {
  let rules: [String]
  let line: Int
  let reason: String
  let place: Place
}
