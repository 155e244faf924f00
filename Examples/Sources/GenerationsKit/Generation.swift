public import Foundation

/// One picture that was asked for: what a history keeps.
public struct Generation: Codable, Identifiable, Sendable, Hashable {
  public let id: UUID
  public let prompt: String
  public let optimizedPrompt: String
  public let model: String
  public let imageURL: URL
  public let createdAt: Date
  /// Came with version 2 of the history, and is required.
  public let style: String

  public init(prompt: String, style: String, createdAt: Date = Date()) {
    id = UUID()
    self.prompt = prompt
    optimizedPrompt = prompt.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    model = "example-1"
    imageURL = URL(filePath: "/pictures/\(id.uuidString).png")
    self.createdAt = createdAt
    self.style = style
  }
}
