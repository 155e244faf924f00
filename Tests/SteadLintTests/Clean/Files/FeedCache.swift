import Foundation

struct FeedCache {
  private let url = URL.cachesDirectory.appending(path: "feed.json")

  func load() -> [FeedItem] {
    guard let data = try? Data(contentsOf: url) else { return [] }
    return (try? JSONDecoder().decode([FeedItem].self, from: data)) ?? []
  }

  func save(_ items: [FeedItem]) throws {
    try JSONEncoder().encode(items).write(to: url)
  }
}

struct FeedItem: Codable {
  var title: String
  var date: Date
}
