import Foundation

/// An entry of the history that is moved.
public struct Note: Codable, Identifiable, Sendable {
  /// More than there ever are.
  public static let limit = 100_000

  public var id = UUID()
  public var text: String

  public init(text: String) { self.text = text }
}
