import Foundation
import SteadTestSupport
import Testing

@testable import SteadCaches

/// Which of two responses is the more recent one, when the order in which they end says something else.
@Suite(.hangLimit) struct RecencyTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory(inMemory: true) }

  /// A request that shares no fetch with others.
  private func get(
    _ number: Int, _ origin: Origin, _ cache: HTTPCache, mode: HTTPCache.Mode = .standard
  ) async throws -> HTTPCache.Reply {
    try await origin.get("/", ["X-Request": "\(number)"], mode: mode, from: cache)
  }

  // A reader paused in the first version of a body. Others got the second version meanwhile, until the first one ended: it
  // took the place of the second, and all got it for as long as it was fresh.
  @Test(arguments: [false, true], ["memory", "disk", "other process"])
  func `a body that ends late takes the place of no newer one`(
    mayBeStored: Bool, place: String
  ) async throws {
    let url = place == "memory" ? nil : directory.url
    let slow = Chunks()
    let origin = Origin(slow)
    let limits = HTTPCache.Limits(bodySizeLimit: mayBeStored ? 1_000 : 5)
    let cache = origin.cache(in: url, limits: limits)
    let other = place == "other process" ? origin.cache(in: url, limits: limits) : cache
    let first = try await get(1, origin, cache)
    slow.send("old")
    origin.advance(2)
    origin.answer(["Cache-Control": "max-age=1000"], body: "new")
    #expect(try await get(2, origin, other).text == "new")
    slow.send("est")
    slow.finish()
    #expect(try await first.text == "oldest")
    for cache in [cache, other] {
      let reply = try await get(3, origin, cache)
      #expect(reply.outcome.source == .hit)
      #expect(try await reply.text == "new")
    }
  }

  /// The clock may tell nothing, since it was set back: the response that is stored last counts then.
  @Test func `a response of the future takes the place of no newer one`() async throws {
    let origin = Origin(["Cache-Control": "max-age=1000"], body: "old")
    let cache = origin.cache()
    _ = try await origin.get(from: cache)
    origin.advance(-100)
    origin.answer(["Cache-Control": "max-age=1000"], body: "new")
    #expect(try await origin.get(mode: .reload, from: cache).text == "new")
    let reply = try await origin.get(from: cache)
    #expect(reply.outcome.source == .hit)
    #expect(try await reply.text == "new")
  }

  /// A response, its server's clock, and the times of ours between which it was on its way.
  struct Message: Sendable {
    var requested: Double
    var received: Double
    var date: Double
    var isPart = false
    var tag = "a"

    func stored(_ id: String) throws -> StoredResponse {
      let start = Date(timeIntervalSince1970: 1_800_000_000)
      var fields: HTTPCache.Fields = [
        "Cache-Control": "max-age=9", "Date": HTTPDate.string(start + date), "ETag": "\"\(tag)\"",
      ]
      if isPart { fields["Content-Range"] = "bytes 0-1/4" }
      var stored = try #require(
        StoreDecision.draft(
          of: .init(status: isPart ? 206 : 200, fields: fields), to: RecencyTests.request(),
          requestedAt: start + requested, receivedAt: start + received, id: id))
      stored.bodySize = isPart ? 2 : 4
      return stored
    }
  }

  private static func request() throws -> HTTPCache.Request {
    try Origin.request("/", ["Range": "bytes=0-1"])
  }

  /// What is stored, what comes, when it ends, and which are there then.
  @Test(
    arguments: [
      // One after the other, whatever the server's clock says.
      (.init(requested: 1, received: 2, date: 1), .init(requested: 3, received: 4, date: 3), "new"),
      (.init(requested: 1, received: 2, date: 9), .init(requested: 3, received: 4, date: 3), "new"),
      (.init(requested: 1, received: 1, date: 9), .init(requested: 1, received: 1, date: 3), "new"),
      (.init(requested: 3, received: 4, date: 3), .init(requested: 1, received: 2, date: 1), "old"),
      (.init(requested: 3, received: 4, date: 3), .init(requested: 1, received: 2, date: 9), "old"),
      // At the same time: the server's clock decides, or the order of their ends.
      (.init(requested: 2, received: 3, date: 3), .init(requested: 1, received: 4, date: 1), "old"),
      (.init(requested: 2, received: 3, date: 3), .init(requested: 1, received: 4, date: 4), "new"),
      (.init(requested: 2, received: 3, date: 3), .init(requested: 1, received: 4, date: 3), "new"),
      // A clock that was set back.
      (
        .init(requested: 30, received: 40, date: 3), .init(requested: 1, received: 2, date: 1),
        "new"
      ),
      // Of one version a part and the whole are stored beside each other; of two versions not.
      (
        .init(requested: 3, received: 4, date: 3),
        .init(requested: 1, received: 2, date: 1, isPart: true), "old new"
      ),
      (
        .init(requested: 3, received: 4, date: 3),
        .init(requested: 1, received: 2, date: 1, isPart: true, tag: "b"), "old"
      ),
      (
        .init(requested: 3, received: 4, date: 3, isPart: true),
        .init(requested: 1, received: 2, date: 1, tag: "b"), "old"
      ),
      (
        .init(requested: 1, received: 2, date: 1, isPart: true),
        .init(requested: 3, received: 4, date: 3, tag: "b"), "new"
      ),
    ] as [(Message, Message, String)])
  func `the more recent response is kept`(old: Message, new: Message, rest: String) throws {
    let now = Date(timeIntervalSince1970: 1_800_000_010)
    let list = [try old.stored("old")]
    let added = VariantList.adding(
      try new.stored("new"), for: try Self.request(), to: list, now: now)
    #expect(added.map(\.id).joined(separator: " ") == rest)
  }

  // The answer to a HEAD that a 404 no longer holds made the stored 404 fresh again, if it came without validators.
  @Test(
    arguments: [200, 203, 204, 301, 308, 404, 410],
    [["Cache-Control": "max-age=100"], ["Cache-Control": "max-age=100", "ETag": "\"a\""]]
      as [HTTPCache.Fields])
  func `the answer to a HEAD makes no other status fresh`(
    status: Int, fields: HTTPCache.Fields
  ) async throws {
    let origin = Origin(status: status, fields, body: "")
    let cache = origin.cache()
    _ = try await origin.get(from: cache)
    origin.advance(200)
    origin.answer(fields, body: "")
    _ = try await origin.get(method: "HEAD", from: cache)
    #expect((try cache.storedResponse(to: Origin.request()) == nil) == (status != 200))
    origin.answer(["Cache-Control": "max-age=100"], body: "new")
    #expect(try await origin.get(from: cache).response.status == 200)
  }
}
