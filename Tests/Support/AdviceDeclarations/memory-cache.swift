import Foundation
import SteadCaches

let thumbnails = MemoryCache<URL, Data>(totalCostLimit: 32 << 20)

func thumbnail(of url: URL) async throws -> Data {
  try await thumbnails.value(for: url, cost: { $0.count }) { try Data(contentsOf: url) }
}
