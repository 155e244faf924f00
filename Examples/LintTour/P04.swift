import Foundation

final class DraftList {
  private var drafts: [Draft] = []

  init() {
    guard let data = UserDefaults.standard.data(forKey: "drafts") else { return }
    drafts = (try? JSONDecoder().decode([Draft].self, from: data)) ?? []
  }

  func save() throws {
    UserDefaults.standard.set(try JSONEncoder().encode(drafts), forKey: "drafts")
  }
}

struct Draft: Codable {
  var text: String
}
