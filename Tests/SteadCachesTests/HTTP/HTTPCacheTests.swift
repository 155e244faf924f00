import Foundation
import SteadTestSupport
import Testing

@testable import SteadCaches

/// What a cache does between a client and a server, in memory and on disk.
@Suite(.hangLimit) struct HTTPCacheTests {
  enum Place: CaseIterable { case memory, disk }

  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory(inMemory: true) }

  private func cache(_ origin: Origin, _ place: Place) -> HTTPCache {
    origin.cache(in: place == .disk ? directory.url.appending(path: "http") : nil)
  }

  @Test(arguments: Place.allCases)
  func `fetches once while a response is fresh`(place: Place) async throws {
    let origin = Origin(["Cache-Control": "max-age=10", "Content-Length": "4"])
    let cache = cache(origin, place)
    let first = try await origin.get(from: cache)
    #expect(first.outcome.source == .miss)
    #expect(first.outcome.isStored)
    #expect(try await first.text == "body")
    origin.advance(9)
    let second = try await origin.get("/#fragment", from: cache)
    #expect(second.outcome.source == .hit)
    #expect(second.response.fields["Age"] == "9")
    #expect(second.outcome.age == 9)
    #expect(second.outcome.freshness == 1)
    #expect(try await second.text == "body")
    #expect(try await origin.get("/?", from: cache).outcome.source == .miss)
    origin.advance(1)
    #expect(try await origin.get(from: cache).outcome.source == .miss)
    #expect(origin.requests.count == 3)
  }

  @Test(arguments: Place.allCases)
  func `validates and keeps the body`(place: Place) async throws {
    let origin = Origin(["Cache-Control": "max-age=10", "ETag": "\"a\""])
    let cache = cache(origin, place)
    _ = try await origin.get(from: cache)
    origin.advance(11)
    origin.answer(status: 304, ["Cache-Control": "max-age=20", "New": "1"], body: "")
    let reply = try await origin.get(from: cache)
    #expect(origin.requests.last?.fields["If-None-Match"] == "\"a\"")
    #expect(reply.outcome.source == .revalidated)
    #expect(reply.outcome.forwardStatus == 304)
    #expect(reply.response.status == 200)
    #expect(reply.response.fields["New"] == "1")
    #expect(try await reply.text == "body")
    origin.advance(19)
    let later = try await origin.get(from: cache)
    #expect(later.outcome.source == .hit)
    #expect(later.response.fields["New"] == "1")
    let counts = cache.statistics
    let numbers: [Int] = [counts.hits, counts.misses, counts.revalidations, counts.bytesSaved]
    #expect(numbers == [1, 1, 1, 8])
  }

  @Test(arguments: Place.allCases)
  func `replaces what changed`(place: Place) async throws {
    let origin = Origin(["Cache-Control": "max-age=10", "ETag": "\"a\""])
    let cache = cache(origin, place)
    _ = try await origin.get(from: cache)
    origin.advance(11)
    origin.answer(["Cache-Control": "max-age=10", "ETag": "\"b\""], body: "new")
    #expect(try await origin.get(from: cache).text == "new")
    let again = try await origin.get(from: cache)
    #expect(again.outcome.source == .hit)
    #expect(try await again.text == "new")
    #expect(again.response.fields["ETag"] == "\"b\"")
  }

  @Test(arguments: Place.allCases)
  func `keeps variants apart`(place: Place) async throws {
    let origin = Origin { request in
      let fields: HTTPCache.Fields = ["Cache-Control": "max-age=10", "Vary": "Accept"]
      return (
        .init(status: 200, fields: fields), .init(Data((request.fields["Accept"] ?? "-").utf8))
      )
    }
    let cache = cache(origin, place)
    for accept in ["a", "b", "a", "b"] {
      #expect(try await origin.get("/", ["Accept": accept], from: cache).text == accept)
    }
    #expect(try await origin.get(from: cache).text == "-")
    #expect(origin.requests.count == 3)
  }

  /// A 304 with another tag than the one that was asked about confirms nothing.
  @Test func `asks again after a confirmation of another version`() async throws {
    let origin = Origin(["ETag": "\"a\"", "Cache-Control": "no-cache"])
    let cache = origin.cache()
    _ = try await origin.get(from: cache)
    origin.answer { request in
      request.fields.contains("If-None-Match")
        ? (.init(status: 304, fields: ["ETag": "\"b\""]), .init())
        : (.init(status: 200, fields: ["ETag": "\"b\""]), .init(Data("new".utf8)))
    }
    #expect(try await origin.get(from: cache).text == "new")
    #expect(origin.requests.count == 3)
  }

  @Test func `asks again when the confirmed body is gone`() async throws {
    let origin = Origin(["ETag": "\"a\"", "Cache-Control": "no-cache"])
    let cache = cache(origin, .disk)
    _ = try await origin.get(from: cache)
    origin.answer { request in
      guard request.fields.contains("If-None-Match") else {
        return (.init(status: 200, fields: ["ETag": "\"a\""]), .init(Data("again".utf8)))
      }
      cache.removeAll()
      return (.init(status: 304), .init())
    }
    #expect(try await origin.get(from: cache).text == "again")
  }

  @Test func `answers HEAD from a GET and learns from HEAD`() async throws {
    let origin = Origin(["Cache-Control": "max-age=10", "ETag": "\"a\""])
    let cache = origin.cache()
    _ = try await origin.get(from: cache)
    let head = try await origin.get(method: "HEAD", from: cache)
    #expect(head.outcome.source == .hit)
    #expect(try await head.text == "")
    origin.advance(11)
    origin.answer(["Cache-Control": "max-age=50", "ETag": "\"a\""], body: "")
    #expect(try await origin.get(method: "HEAD", from: cache).outcome.source == .miss)
    #expect(try await origin.get(from: cache).text == "body")
    #expect(origin.requests.count == 2)
    origin.advance(51)
    origin.answer(["ETag": "\"b\""], body: "")
    _ = try await origin.get(method: "HEAD", from: cache)
    #expect(cache.storedResponse(to: try Origin.request()) == nil)
  }

  @Test(arguments: Place.allCases)
  func `removes what unsafe methods changed`(place: Place) async throws {
    let origin = Origin(["Cache-Control": "max-age=10"])
    let cache = cache(origin, place)
    for path in ["/a", "/b", "/c"] { _ = try await origin.get(path, from: cache) }
    origin.answer(status: 500, ["Location": "/b"])
    #expect(try await origin.get("/a", method: "POST", from: cache).outcome.source == .bypass)
    #expect(try await origin.get("/a", from: cache).outcome.source == .hit)
    origin.answer(status: 201, ["Location": "/b"])
    _ = try await origin.get("/a", method: "POST", from: cache)
    #expect(cache.storedResponse(to: try Origin.request("/a")) == nil)
    #expect(cache.storedResponse(to: try Origin.request("/b")) == nil)
    #expect(cache.storedResponse(to: try Origin.request("/c")) != nil)
  }

  @Test func `stores nothing when it is bypassed`() async throws {
    let origin = Origin(["Cache-Control": "max-age=10", "Content-Location": "/a"])
    let cache = origin.cache()
    let reply = try await origin.get("/a", method: "POST", mode: .bypass, from: cache)
    #expect(!reply.outcome.isStored)
    #expect(cache.storedResponse(to: try Origin.request("/a")) == nil)
  }

  @Test func `stores a POST that describes itself`() async throws {
    let origin = Origin(["Cache-Control": "max-age=10", "Content-Location": "/a"])
    let cache = origin.cache()
    #expect(try await origin.get("/a", method: "POST", from: cache).outcome.isStored)
    #expect(try await origin.get("/a", from: cache).outcome.source == .hit)
    #expect(try await !origin.get("/b", method: "POST", from: cache).outcome.isStored)
    origin.answer(["Content-Location": "/c"])
    #expect(try await !origin.get("/c", method: "POST", from: cache).outcome.isStored)
  }

  @Test func `removes what a new response forbids to store`() async throws {
    let origin = Origin(["Cache-Control": "max-age=10"])
    let cache = origin.cache()
    _ = try await origin.get(from: cache)
    origin.answer(status: 503, ["Cache-Control": "no-store"])
    _ = try await origin.get(mode: .reload, from: cache)
    #expect(try await origin.get(from: cache).outcome.source == .hit)
    origin.answer(["Cache-Control": "no-store"])
    _ = try await origin.get(mode: .reload, from: cache)
    #expect(cache.storedResponse(to: try Origin.request()) == nil)
  }

  @Test func `revalidates in the background once`() async throws {
    let origin = Origin(["Cache-Control": "max-age=10, stale-while-revalidate=90", "ETag": "\"a\""])
    let cache = origin.cache()
    _ = try await origin.get(from: cache)
    origin.advance(11)
    let gate = Event()
    origin.answer { _ in
      await gate.wait()
      return (.init(status: 200, fields: ["Cache-Control": "max-age=10"]), .init(Data("new".utf8)))
    }
    for _ in 0..<5 {
      let reply = try await origin.get(from: cache)
      #expect(reply.outcome.source == .stale)
      #expect(try await reply.text == "body")
    }
    gate.happen()
    await cache.finishRevalidations()
    #expect(origin.requests.count == 2)
    #expect(origin.requests.last?.fields["If-None-Match"] == "\"a\"")
    #expect(try await origin.get(from: cache).text == "new")
    #expect(cache.statistics.staleHits == 5)
  }

  @Test func `uses stale responses when the server cannot be reached`() async throws {
    let origin = Origin(["Cache-Control": "max-age=10, stale-if-error=90"])
    let cache = origin.cache()
    _ = try await origin.get(from: cache)
    origin.advance(11)
    origin.answer { _ in throw Unreachable() }
    #expect(try await origin.get(from: cache).outcome.source == .stale)
    origin.answer(status: 503, [:])
    let failed = try await origin.get(from: cache)
    #expect(failed.outcome.source == .stale)
    #expect(failed.outcome.forwardStatus == 503)
    #expect(failed.response.status == 200)
    origin.answer { _ in throw CancellationError() }
    await #expect(throws: CancellationError.self) { try await origin.get(from: cache) }
    origin.advance(90)
    origin.answer { _ in throw Unreachable() }
    await #expect(throws: Unreachable.self) { try await origin.get(from: cache) }
  }

  @Test(arguments: Place.allCases)
  func `works offline`(place: Place) async throws {
    let origin = Origin(["Cache-Control": "no-cache"])
    let cache = cache(origin, place)
    _ = try await origin.get("/a", from: cache)
    cache.isOffline = true
    origin.advance(1_000_000)
    let reply = try await origin.get("/a", from: cache)
    #expect(reply.outcome.source == .stale)
    #expect(try await reply.text == "body")
    let error = await #expect(throws: HTTPCacheError.self) {
      try await origin.get("/b?secret", from: cache)
    }
    #expect(error?.code == .offline)
    #expect(error?.message.contains("secret") == false)
    await #expect(throws: HTTPCacheError.self) {
      try await origin.get("/a", method: "POST", from: cache)
    }
    #expect(origin.requests.count == 1)
    cache.isOffline = false
    #expect(try await origin.get("/a", from: cache).outcome.source == .miss)
  }

  @Test func `answers 504 when only a stored response is wanted`() async throws {
    let origin = Origin(["Cache-Control": "max-age=10"])
    let cache = origin.cache()
    let reply = try await origin.get("/", ["Cache-Control": "only-if-cached"], from: cache)
    #expect(reply.response.status == 504)
    #expect(reply.outcome.source == .unavailable)
    let error = await #expect(throws: HTTPCacheError.self) {
      try await origin.get(mode: .onlyStored, from: cache)
    }
    #expect(error?.code == .notStored)
    #expect(origin.requests.isEmpty)
  }

  @Test func `hands on other schemes`() async throws {
    let origin = Origin(["Cache-Control": "max-age=10"])
    let cache = origin.cache()
    for _ in 0..<2 {
      #expect(try await origin.get("ftp://a.example/b", from: cache).outcome.source == .bypass)
    }
    #expect(origin.requests.count == 2)
    let error = await #expect(throws: HTTPCacheError.self) {
      try await origin.get("ftp://a.example/b", mode: .onlyStored, from: cache)
    }
    #expect(error?.code == .notStored)
    #expect(origin.requests.count == 2)
  }

  @Test func `stores what it is given`() async throws {
    let origin = Origin([:])
    let cache = origin.cache()
    let request = try Origin.request()
    let fields: HTTPCache.Fields = ["Cache-Control": "max-age=10"]
    #expect(cache.store(.init(status: 200, fields: fields), Data("given".utf8), for: request))
    #expect(try await origin.get(from: cache).text == "given")
    #expect(
      !cache.store(.init(status: 200, fields: ["Cache-Control": "no-store"]), Data(), for: request))
    #expect(
      !cache.store(
        .init(status: 200, fields: fields), Data(), for: try Origin.request(method: "POST")))
    #expect(
      !cache.store(
        .init(status: 200, fields: ["Content-Length": "9"]), Data("short".utf8), for: request))
  }

  @Test func `writes its outcome as Cache-Status`() async throws {
    let origin = Origin(["Cache-Control": "max-age=10", "ETag": "\"a\""])
    let cache = origin.cache()
    #expect(
      try await origin.get(from: cache).outcome.cacheStatus()
        == "stead; fwd=miss; fwd-status=200; stored")
    origin.advance(4)
    #expect(try await origin.get(from: cache).outcome.cacheStatus(named: "x") == "x; hit; ttl=6")
    origin.advance(7)
    origin.answer(status: 304, [:])
    let status = try await origin.get(from: cache).outcome.cacheStatus()
    #expect(status == "stead; fwd=stale; fwd-status=304; ttl=10; stored")
    origin.answer(status: 200, [:])
    #expect(
      try await origin.get(method: "PUT", from: cache).outcome.cacheStatus()
        == "stead; fwd=bypass; fwd-status=200")
  }

  /// A request is a hit or it was forwarded, never both (RFC 9211, 2.1).
  @Test(arguments: [
    (HTTPCache.Outcome.Source.hit, nil as Int?, false, "s; hit; ttl=5"),
    (.hit, nil, true, "s; fwd=miss; ttl=5; collapsed"), (.stale, nil, false, "s; hit; ttl=5"),
    (.stale, 503, false, "s; fwd=stale; fwd-status=503; ttl=5"),
    (.unavailable, nil, false, "s; ttl=5"),
  ])
  func `writes no hit that was forwarded`(
    source: HTTPCache.Outcome.Source, status: Int?, isShared: Bool, value: String
  ) {
    var outcome = HTTPCache.Outcome(source: source, age: 3)
    outcome.freshness = 5
    outcome.forwardStatus = status
    outcome.isShared = isShared
    #expect(outcome.cacheStatus(named: "s") == value)
  }

  @Test func `describes an error to people`() throws {
    let error = HTTPCacheError(.offline, for: try Origin.request())
    #expect((error as any Error).localizedDescription == error.message)
  }
}
