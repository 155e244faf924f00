import Foundation
import SteadCaches

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// What became of one URL in one round.
public struct Visit: Sendable {
  /// What was asked for.
  public var url: URL
  /// `hit`, `miss`, `revalidated`, or why there is nothing.
  public var result: String
  /// The bytes of the body.
  public var size: Int

  /// Loads a URL through a cache.
  public static func make(_ url: URL, _ session: URLSession, _ cache: HTTPCache) async -> Visit {
    do {
      let (reply, _) = try await session.reply(for: URLRequest(url: url), cache: cache)
      let body = try await reply.body.data()
      return Visit(url: url, result: reply.outcome.source.description, size: body.count)
    } catch let error as URLError where error.code == .notConnectedToInternet {
      return Visit(url: url, result: "not stored", size: 0)
    } catch {
      return Visit(url: url, result: "failed", size: 0)
    }
  }
}
