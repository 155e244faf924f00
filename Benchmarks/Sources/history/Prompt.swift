import Foundation

/// What a history keeps: about 1 KB as JSON.
struct Prompt: Codable, Identifiable, Sendable {
  let id: UUID
  let text: String
  let optimizedText: String
  let model: String
  let imageURL: URL
  let createdAt: Date

  init(number: Int) {
    id = UUID()
    text = String(repeating: "a lighthouse in the fog, number \(number), ", count: 8)
    optimizedText = String(repeating: "oil on canvas, long shadows, \(number); ", count: 11)
    model = "model-\(number % 7)"
    imageURL = URL(filePath: "/images/\(number).png")
    createdAt = Date(timeIntervalSinceReferenceDate: 800_000_000 + Double(number) / 3)
  }
}
