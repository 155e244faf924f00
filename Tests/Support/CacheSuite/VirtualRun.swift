import Foundation
import Synchronization

/// A clock that moves only when it is told to.
package final class VirtualClock: Sendable {
  private let time: Mutex<Date>

  package init(_ start: Date) { time = Mutex(start) }

  package var now: Date { time.withLock { $0 } }
  package func advance(by seconds: Double) { time.withLock { $0.addTimeInterval(seconds) } }
}

/// Runs suites within the process: the origin is a function, and time passes only in pauses.
package struct VirtualRun: Sendable {
  /// Makes a new cache for a test.
  ///
  /// - Parameters:
  ///   - clock: The cache's time.
  ///   - origin: What the cache calls instead of a server.
  package typealias MakeCache =
    @Sendable (_ clock: VirtualClock, _ origin: @escaping Exchange) throws -> Exchange

  private static let base = "http://origin.test"
  private static let pause = 3.0
  // A time of day with a part of a second, since dates in header fields have none.
  static let start = Date(timeIntervalSince1970: 1_767_268_800.75)

  private let isShared: Bool
  private let makeCache: MakeCache

  /// - Parameter isShared: Whether the caches are shared ones, which have tests of their own.
  package init(isShared: Bool = false, makeCache: @escaping MakeCache) {
    (self.isShared, self.makeCache) = (isShared, makeCache)
  }

  package func results(of suites: [CacheSuite]) async -> SuiteResults {
    var outcomes: [String: TestRun.Outcome] = [:]
    for test in suites.flatMap({ $0.tests(isShared: isShared) }) {
      outcomes[test.id] = await outcome(of: test)
    }
    return SuiteResults(suites: suites, outcomes: outcomes, isShared: isShared)
  }

  package func outcome(of test: CacheTest) async -> TestRun.Outcome {
    let clock = VirtualClock(Self.start)
    let origin = TestOrigin(test, token: UUID().uuidString.lowercased())
    do {
      let cache = try makeCache(clock) { request in
        clock.advance(by: origin.pause(before: request))
        return try origin.answer(request, at: clock.now).asReceived
      }
      return await TestRun(origin: origin, base: Self.base, exchange: cache) {
        clock.advance(by: Self.pause)
      }.outcome()
    } catch {
      return .setupFailed("The cache could not be made: \(error)")
    }
  }
}

extension SuiteResponse {
  /// What a client reads from a connection: no more of the body than Content-Length says.
  fileprivate var asReceived: SuiteResponse {
    guard let length = fields["Content-Length"].flatMap({ Int($0) }) else { return self }
    var copy = self
    copy.body = String(decoding: body.utf8.prefix(length), as: UTF8.self)
    return copy
  }
}
