import Foundation
import SteadTestSupport
import Testing

@testable import SteadCaches

/// What a program may say about the use of responses whose servers say nothing of it.
@Suite(.hangLimit) struct HTTPCacheSettingsTests {
  private func isServed(
    _ method: String, _ fields: HTTPCache.Fields, asked: HTTPCache.Fields = [:],
    mode: HTTPCache.Mode = .standard, staleFor seconds: Double, limit: Duration?, status: Int?
  ) async throws -> Bool {
    let origin = Origin(fields)
    let cache = origin.cache()
    cache.staleOnFailure = limit
    _ = try await origin.get("/", asked, from: cache)
    origin.advance(10 + seconds)
    origin.answer { _ in
      guard let status else { throw Unreachable() }
      return (.init(status: status), .init(Data("failed".utf8)))
    }
    do {
      let reply = try await origin.get("/", asked, method: method, mode: mode, from: cache)
      let isStale = reply.outcome.source == .stale
      #expect(try await reply.text == (!isStale ? "failed" : method == "HEAD" ? "" : "body"))
      #expect(reply.response.status == (isStale ? 200 : status))
      #expect(reply.outcome.forwardStatus == status)
      return isStale
    } catch is Unreachable {
      return false
    }
  }

  @Test(
    arguments: [
      // What the server said, what the request says, how long it has been stale, the setting, and whether it is used.
      ("max-age=10", "", 5, 60, true), ("max-age=10", "", 61, 60, false),
      ("max-age=10", "", 5, nil, false), ("max-age=10, must-revalidate", "", 5, 60, false),
      ("max-age=10, no-cache", "", 5, 60, false), ("max-age=10", "no-cache", 5, 60, false),
      ("max-age=10, stale-if-error=3", "", 5, 60, false),
      ("max-age=10, stale-if-error=100", "", 90, 60, true),
      ("max-age=10", "stale-if-error=3", 5, 60, false), ("max-age=10, private", "", 59, 60, true),
    ] as [(String, String, Double, Int?, Bool)], [nil, 500, 502, 503, 504])
  func `a stale response is used when the server fails`(
    test: (control: String, asked: String, seconds: Double, limit: Int?, isUsed: Bool), status: Int?
  ) async throws {
    let asked: HTTPCache.Fields = test.asked.isEmpty ? [:] : ["Cache-Control": test.asked]
    // To a HEAD it was used when the client threw, but not when the server answered.
    for method in ["GET", "HEAD"] {
      let isUsed = try await isServed(
        method, ["Cache-Control": test.control], asked: asked, staleFor: test.seconds,
        limit: test.limit.map { .seconds($0) }, status: status)
      #expect(isUsed == test.isUsed, "\(method)")
    }
  }

  @Test(arguments: [404, 401, 501]) func `other statuses are no failures`(status: Int) async throws
  {
    for method in ["GET", "HEAD"] {
      let isUsed = try await isServed(
        method, ["Cache-Control": "max-age=10"], staleFor: 5, limit: .seconds(60), status: status)
      #expect(!isUsed, "\(method)")
    }
  }

  @Test(
    arguments: [
      (.reload, false), (.bypass, false), (.revalidate, true),
    ] as [(HTTPCache.Mode, Bool)])
  func `a mode without stored responses has none when the server fails`(
    mode: HTTPCache.Mode, isUsed: Bool
  ) async throws {
    for method in ["GET", "HEAD"] {
      for status in [nil, 502] {
        let isServed = try await isServed(
          method, ["Cache-Control": "max-age=10"], mode: mode, staleFor: 5, limit: .seconds(60),
          status: status)
        #expect(isServed == isUsed, "\(method)")
      }
    }
  }

  @Test(
    arguments: [
      // What the server said, its status, and for how many seconds the response is fresh with a default of 100.
      ([:], 200, 100), (["Cache-Control": "max-age=10"], 200, 10), (["Expires": "0"], 200, 0),
      (["Cache-Control": "no-cache"], 200, 0), (["Cache-Control": "private"], 200, 100),
      (["Last-Modified": "Fri, 15 Jan 2027 07:00:00 GMT"], 200, 100), (["Age": "30"], 200, 70),
      ([:], 404, 100), ([:], 302, 0), (["Cache-Control": "public"], 302, 100),
      (["Cache-Control": "no-store"], 200, 0),
    ] as [(HTTPCache.Fields, Int, Double)])
  func `a response without a lifetime has that of the setting`(
    fields: HTTPCache.Fields, status: Int, seconds: Double
  ) async throws {
    let origin = Origin(status: status, fields)
    let cache = origin.cache()
    cache.defaultLifetime = .seconds(100)
    _ = try await origin.get(from: cache)
    origin.advance(max(0, seconds - 1))
    #expect(try await origin.get(from: cache).outcome.source == (seconds > 0 ? .hit : .miss))
    origin.advance(2)
    #expect(try await origin.get(from: cache).outcome.source == .miss)
  }

  @Test func `the default lifetime counts for what is stored already`() async throws {
    let origin = Origin([:])
    let cache = origin.cache()
    _ = try await origin.get(from: cache)
    origin.advance(50)
    cache.defaultLifetime = .seconds(100)
    let reply = try await origin.get(from: cache)
    #expect(reply.outcome.source == .hit)
    #expect(reply.outcome.freshness == 50)
    cache.defaultLifetime = .zero
    #expect(try await origin.get(from: cache).outcome.source == .miss)
  }

  // The seconds that a reply says it remains fresh were more than an integer has room for, and the program ended.
  @Test(arguments: [Duration.seconds(Int64.max), .seconds(Int64.min), .zero])
  func `a lifetime may be as long as a duration`(lifetime: Duration) async throws {
    let origin = Origin([:])
    let cache = origin.cache()
    cache.defaultLifetime = lifetime
    _ = try await origin.get(from: cache)
    let reply = try #require(try cache.storedResponse(to: Origin.request()))
    let freshness = try #require(reply.outcome.freshness)
    #expect(lifetime > .zero ? freshness > 0 : freshness <= 0)
  }
}
