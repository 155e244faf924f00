import Foundation
import SteadTestSupport
import Testing

@testable import SteadCaches

/// Many requests at once while the server fails.
@Suite(.hangLimit) struct HTTPCacheFailureTests {
  private struct Unreachable: Error {}
  private static let count = 20

  // The first of them got the stale response. Each of the others asked the server, too, which made it wait for the server twice.
  @Test(arguments: [nil, 503, 500])
  func `equal requests ask a server that fails once`(status: Int?) async throws {
    for (staleOnFailure, isUsed) in [(Duration.seconds(60), true), (nil, false)] {
      let origin = Origin(["Cache-Control": "max-age=10", "ETag": "\"a\""])
      let cache = origin.cache()
      cache.staleOnFailure = staleOnFailure
      _ = try await origin.get(from: cache)
      origin.advance(20)
      let gate = Gate()
      origin.answer { _ in
        await gate.wait()
        guard let status else { throw Unreachable() }
        return (.init(status: status), .init(Data("failed".utf8)))
      }
      let tasks = (0..<Self.count).map { _ in
        Task { try? await origin.get(from: cache) }
      }
      let request = try Origin.request()
      let fetchKey = cache.fetchKey(
        of: request, under: try #require(cache.key(request.url)), .standard)
      while cache.fetches.waiterCount(for: fetchKey) < Self.count { await Task.yield() }
      gate.open()
      for task in tasks {
        let reply = await task.value
        if isUsed {
          #expect(reply?.outcome.source == .stale)
          #expect(try await reply?.text == "body")
        } else {
          #expect(try await reply?.text == status.map { _ in "failed" })
        }
      }
      // A failure that is handed on may be one that only its own request gets.
      let isShared = isUsed || status == nil
      #expect(origin.requests.count == 1 + (isShared ? 1 : Self.count))
    }
  }

  // It was a hit, as if the server hadn't been asked (RFC 9211, 2.1).
  @Test(arguments: [nil, 503])
  func `a stale response in the place of a failure was asked for`(status: Int?) async throws {
    let origin = Origin(["Cache-Control": "max-age=10, stale-if-error=60"])
    let cache = origin.cache()
    _ = try await origin.get(from: cache)
    origin.advance(20)
    let gate = Gate()
    origin.answer { _ in
      await gate.wait()
      guard let status else { throw Unreachable() }
      return (.init(status: status), .init())
    }
    let tasks = (0..<2).map { _ in Task { try await origin.get(from: cache) } }
    let request = try Origin.request()
    let fetchKey = cache.fetchKey(
      of: request, under: try #require(cache.key(request.url)), .standard)
    while cache.fetches.waiterCount(for: fetchKey) < 2 { await Task.yield() }
    gate.open()
    var all: [String] = []
    for task in tasks { all.append(try await task.value.outcome.cacheStatus()) }
    let forwarded = "stead; fwd=stale" + (status.map { "; fwd-status=\($0)" } ?? "")
    #expect(
      all.sorted() == [forwarded + "; ttl=-10", "stead; fwd=stale; ttl=-10; collapsed"].sorted())
  }
}
