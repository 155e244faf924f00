import Foundation
import SteadCaches

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Loads a list of URLs in several rounds, and shows what the cache did.
public struct Tour: Sendable {
  private let cache: HTTPCache
  private let session = URLSession(configuration: .ephemeral)

  /// - Parameter directory: Where responses are kept.
  public init(directory: URL) {
    cache = HTTPCache(
      directory: directory.appending(path: "responses", directoryHint: .isDirectory))
  }

  /// Whether the server is left alone from now on.
  public func setOffline(_ isOffline: Bool) { cache.isOffline = isOffline }

  /// One round over the URLs.
  public func round(_ urls: [URL]) async -> [Visit] {
    var visits: [Visit] = []
    for url in urls { visits.append(await Visit.make(url, session, cache)) }
    return visits
  }

  /// A line for each URL, with what each round found.
  public static func table(_ rounds: [(title: String, visits: [Visit])]) -> String {
    let titles = rounds.map(\.title)
    var lines = [line("", titles, "bytes")]
    for (index, visit) in (rounds.first?.visits ?? []).enumerated() {
      let results = rounds.map { $0.visits[index].result }
      let size = rounds.map { $0.visits[index].size }.max() ?? 0
      lines.append(line(visit.url.path, results, String(size)))
    }
    return lines.joined(separator: "\n")
  }

  /// What the cache has done, in one sentence.
  public var summary: String {
    let done = cache.statistics
    return "\(done.hits) hits, \(done.revalidations) revalidated, \(done.misses) misses; "
      + "\(done.bytesSaved) bytes were not sent again"
  }

  private static func line(_ name: String, _ results: [String], _ size: String) -> String {
    let columns = results.map { pad($0, 12) }.joined(separator: "  ")
    return
      "\(pad(name, 12))  \(columns)  \(String(repeating: " ", count: max(0, 7 - size.count)))\(size)"
  }

  private static func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}
