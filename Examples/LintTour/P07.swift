import Foundation

struct Visit: Codable {
  var date: Date
}

final class VisitFile {
  private static let key = "visits"
  private let store = UserDefaults(suiteName: "visits")!

  func save(_ visits: [Visit]) throws {
    store.set(try JSONEncoder().encode(visits), forKey: Self.key)
  }

  func load() throws -> [Visit] {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    return try decoder.decode([Visit].self, from: store.data(forKey: Self.key) ?? Data())
  }
}
