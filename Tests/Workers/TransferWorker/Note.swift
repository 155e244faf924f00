import Foundation

/// An entry of the history that is moved.
struct Note: Codable, Identifiable, Sendable {
  /// More than there ever are.
  static let limit = 100_000

  var id = UUID()
  var text: String
}
