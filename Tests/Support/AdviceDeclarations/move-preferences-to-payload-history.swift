import Foundation
import SteadPreferences

struct Search: Codable, Identifiable, Sendable {
  var id: UUID
  var words: String
}

// Opening the history takes over the JSON array that the app has kept under its key.
func openSearches() throws -> PayloadHistory<Search> {
  try PayloadHistory<Search>("recent_searches", limit: 500)
}
