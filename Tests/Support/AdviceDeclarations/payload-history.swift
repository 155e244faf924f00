import Foundation
import SteadPreferences

struct Generation: Codable, Identifiable, Sendable {
  var id: UUID
  var prompt: String
  var createdAt: Date
}

func keepGeneration(_ generation: Generation) throws {
  let history = try PayloadHistory<Generation>("generation_history", limit: 500)
  try history.prepend(generation)
}
