import BenchmarkHarness
import Foundation
import SteadCaches
import Synchronization

/// What `HTTPCache` adds to a request: a fresh response of 10 KB from memory, and from disk.
enum HTTPMeasures {
  private static let getCount = 20_000
  private static let urlCount = 100
  private static let bodySize = 10_000
  private static let nanosecondsInMicrosecond = 1000.0

  static var comparisons: [Comparison] {
    [
      Comparison(
        name: "http-memory", title: "a fresh response of 10 KB, in a cache without a disk",
        limit: .time(20 * nanosecondsInMicrosecond)
      ) { _ in [try hits("HTTPCache", HTTPCache())] },
      Comparison(
        name: "http-hit",
        title: "the same from memory, in a cache with a disk, whose page is compared",
        limit: .time(20 * nanosecondsInMicrosecond)
      ) { [try hits("HTTPCache", HTTPCache(directory: $0.appending(path: "http")))] },
      Comparison(name: "http-disk", title: "the same from disk, with no room in memory") {
        let limits = HTTPCache.Limits(memorySizeLimit: 0)
        return [
          try hits("HTTPCache", HTTPCache(directory: $0.appending(path: "http"), limits: limits))
        ]
      },
    ]
  }

  private static func hits(_ name: String, _ cache: HTTPCache) throws -> Comparison.Peer {
    let requests = try (0..<urlCount).map { number in
      guard let url = URL(string: "https://example.org/pictures/\(number).jpeg?size=large") else {
        throw UsageError()
      }
      return HTTPCache.Request(
        url: url, fields: ["Accept": "image/jpeg", "User-Agent": "benchmark"])
    }
    let fields: HTTPCache.Fields = [
      "Cache-Control": "max-age=86400", "ETag": "\"33a64df5\"", "Content-Type": "image/jpeg",
      "Content-Length": String(bodySize), "Vary": "Accept",
    ]
    for request in requests {
      cache.store(
        HTTPCache.Response(status: 200, fields: fields), Data(count: bodySize), for: request)
    }
    return Comparison.Peer(name: name) {
      let time = try waitFor {
        let clock = ContinuousClock()
        let start = clock.now
        for number in 0..<getCount {
          let reply = try await cache.response(to: requests[number % urlCount]) { _ in
            throw UsageError()
          }
          keep(reply.body.bytes)
        }
        return start.duration(to: clock.now)
      }
      return time / .nanoseconds(1) / Double(getCount)
    }
  }

  /// Runs a body to its end. The main thread, which waits, is none of those that run it.
  private static func waitFor(
    _ body: @escaping @Sendable () async throws -> Duration
  ) throws -> Duration {
    let result = Mutex<Result<Duration, any Error>?>(nil)
    let isDone = DispatchSemaphore(value: 0)
    Task {
      do {
        let time = try await body()
        result.withLock { $0 = .success(time) }
      } catch {
        result.withLock { $0 = .failure(error) }
      }
      isDone.signal()
    }
    isDone.wait()
    guard let result = result.withLock({ $0 }) else { throw UsageError() }
    return try result.get()
  }
}
