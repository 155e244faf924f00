import Foundation
import SteadCaches
import SteadFiles

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

func load(_ url: URL) async throws -> Data {
  let cache = HTTPCache(named: "responses", in: try AppDirectories(id: "org.example.Notes"))
  return try await URLSession.shared.data(for: URLRequest(url: url), cache: cache).0
}
