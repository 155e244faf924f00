import Foundation

struct Session: Codable {
  var user: String
  var expires: Date
  var tokenReference: UUID

  func save(to defaults: UserDefaults) throws {
    defaults.set(try JSONEncoder().encode(self), forKey: "session")
  }
}
