import Foundation

struct DocumentStore {
  let folder: URL

  func save(_ document: Document) throws {
    let data = try JSONEncoder().encode(document)
    try data.write(to: url(of: document.id), options: [.atomic, .completeFileProtection])
  }

  func load(_ id: UUID) throws -> Document {
    try JSONDecoder().decode(Document.self, from: Data(contentsOf: url(of: id)))
  }

  private func url(of id: UUID) -> URL { folder.appending(path: id.uuidString + ".json") }
}

struct Document: Codable {
  var id = UUID()
  var text: String
}
