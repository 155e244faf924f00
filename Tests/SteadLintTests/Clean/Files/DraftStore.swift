import Foundation

final class DraftStore {
  private let url: URL
  private(set) var drafts: [Draft] = []
  private(set) var loadError: (any Error)?

  init(url: URL) {
    self.url = url
    do {
      drafts = try JSONDecoder().decode([Draft].self, from: Data(contentsOf: url))
    } catch CocoaError.fileReadNoSuchFile {
      drafts = []
    } catch {
      loadError = error
    }
  }

  func save() throws {
    if let loadError { throw loadError }
    try JSONEncoder().encode(drafts).write(to: url, options: .atomic)
  }
}

struct Draft: Codable {
  var text: String
  var attachments: [URL]?
}
