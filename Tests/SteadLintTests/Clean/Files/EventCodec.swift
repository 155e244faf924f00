import Foundation

struct Event: Codable {
  var name: String
  var date: Date
}

struct EventFile {
  let url: URL

  private var encoder: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    return encoder
  }

  private var decoder: JSONDecoder {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    return decoder
  }

  func save(_ events: [Event]) throws {
    try encoder.encode(events).write(to: url, options: .atomic)
  }

  func load() throws -> [Event] { try decoder.decode([Event].self, from: Data(contentsOf: url)) }
}
