import Foundation
import SteadTestSupport
import Synchronization
import Testing

@testable import SteadCaches

/// Equal requests at the same time.
@Suite(.hangLimit) struct HTTPCacheFlightTests {
  private static let count = 20

  /// Sends equal requests while the server holds its response back until all have come.
  private func together(
    _ origin: Origin, _ cache: HTTPCache, _ path: String = "/"
  ) async throws -> [HTTPCache.Reply] {
    try await withThrowingTaskGroup(of: HTTPCache.Reply.self) { group in
      for _ in 0..<Self.count { group.addTask { try await origin.get(path, from: cache) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }

  @Test func `share one fetch`() async throws {
    let gate = Event()
    let origin = Origin { _ in
      await gate.wait()
      return (.init(status: 200, fields: ["Cache-Control": "max-age=10"]), .init(Data("body".utf8)))
    }
    let cache = origin.cache()
    async let replies = together(origin, cache)
    while origin.requests.isEmpty { await Task.yield() }
    gate.happen()
    var misses = 0
    for reply in try await replies {
      #expect(try await reply.text == "body")
      misses += reply.outcome.source == .miss ? 1 : 0
    }
    #expect(misses == 1)
    #expect(origin.requests.count == 1)
  }

  /// Each gets a response of its own, since none may be used for another request.
  @Test(arguments: ["no-store", "no-cache", "max-age=0"])
  func `share nothing that may not be reused`(control: String) async throws {
    let number = Mutex(0)
    let gate = Event()
    let origin = Origin { _ in
      await gate.wait()
      let body = number.withLock { number in
        number += 1
        return "\(number)"
      }
      return (.init(status: 200, fields: ["Cache-Control": control]), .init(Data(body.utf8)))
    }
    let cache = origin.cache()
    async let replies = together(origin, cache)
    while origin.requests.isEmpty { await Task.yield() }
    gate.happen()
    var texts: Set<String> = []
    for reply in try await replies { texts.insert(try await reply.text) }
    #expect(texts.count == Self.count)
  }

  /// What was on its way before a change isn't shared by those who come after it.
  @Test(arguments: ["PUT", "clear", "clear all"])
  func `share nothing from before a change`(how: String) async throws {
    let gate = Event()
    let fields: HTTPCache.Fields = ["Cache-Control": "max-age=10"]
    let origin = Origin { _ in
      await gate.wait()
      return (.init(status: 200, fields: fields), .init(Data("old".utf8)))
    }
    let cache = origin.cache()
    let old = Task { try await origin.get(from: cache) }
    while origin.requests.isEmpty { await Task.yield() }
    origin.answer(fields, body: "new")
    switch how {
    case "PUT": _ = try await origin.get(method: "PUT", from: cache)
    case "clear": cache.removeResponses(for: try Origin.request().url)
    default: cache.removeAll()
    }
    let new = Task { try await origin.get(from: cache) }
    // Enough for the second one to join the first, if it does.
    for _ in 0..<5000 { await Task.yield() }
    old.cancel()
    await #expect(throws: CancellationError.self) { try await old.value }
    gate.happen()
    #expect(try await new.value.text == "new")
  }

  /// A stale response is asked about once at a time, whatever the requests have that it doesn't depend on.
  @Test func `ask about a stale response once`() async throws {
    let gate = Event()
    let fields: HTTPCache.Fields = ["Cache-Control": "max-age=1, stale-while-revalidate=100"]
    let origin = Origin(fields)
    let cache = origin.cache()
    _ = try await origin.get(from: cache)
    origin.advance(2)
    origin.answer { _ in
      await gate.wait()
      return (.init(status: 200, fields: fields), .init(Data("new".utf8)))
    }
    for number in 0..<Self.count {
      let reply = try await origin.get("/", ["X-Request-ID": "\(number)"], from: cache)
      #expect(reply.outcome.source == .stale)
    }
    gate.happen()
    await cache.finishRevalidations()
    #expect(origin.requests.count == 2)
    #expect(try await origin.get(from: cache).text == "new")
  }

  // A server's middleware, which can call its route only until it returns, had to wait for the revalidations of all URLs.
  @Test func `a reply waits for its own revalidation until it is answered`() async throws {
    let fields: HTTPCache.Fields = ["Cache-Control": "max-age=1, stale-while-revalidate=9"]
    let origin = Origin(fields)
    let cache = origin.cache()
    for path in ["/a", "/b"] { _ = try await origin.get(path, from: cache) }
    origin.advance(2)
    let (gate, chunks) = (Event(), Chunks())
    origin.answer { request in
      guard request.url.path() == "/a" else {
        return (.init(status: 200, fields: fields), chunks.body)
      }
      await gate.wait()
      return (.init(status: 200, fields: fields), .init())
    }
    let first = try await origin.get("/a", from: cache)
    let second = try await origin.get("/a", from: cache)
    // The other request asks for both.
    await second.waitForRevalidation()
    let other = try await origin.get("/b", from: cache)
    await other.waitForRevalidation()
    #expect(origin.requests.count { $0.url.path() == "/b" } == 2)
    // Its body has not come.
    #expect(try await origin.get("/b", from: cache).outcome.source == .stale)
    let waiting = Task { await first.waitForRevalidation() }
    waiting.cancel()
    await waiting.value
    let all = Task { await cache.finishRevalidations() }
    all.cancel()
    await all.value
    gate.happen()
    await first.waitForRevalidation()
    #expect(origin.requests.count { $0.url.path() == "/a" } == 2)
    chunks.finish()
    await cache.finishRevalidations()
    await first.waitForRevalidation()
    let fresh = try await origin.get("/b", from: cache)
    await fresh.waitForRevalidation()
    #expect(fresh.outcome.source == .hit)
  }

  @Test func `share a body that comes in chunks`() async throws {
    let chunks = Chunks()
    let origin = Origin(chunks, length: 6)
    let cache = origin.cache()
    let first = try await origin.get(from: cache)
    chunks.send("abc")
    let others = Task { try await together(origin, cache) }
    chunks.send("def")
    chunks.finish()
    #expect(try await first.text == "abcdef")
    for reply in try await others.value {
      #expect(reply.outcome.source == .hit)
      #expect(try await reply.text == "abcdef")
    }
    #expect(origin.requests.count == 1)
  }

  @Test func `share the server's error`() async throws {
    let gate = Event()
    let origin = Origin { _ in
      await gate.wait()
      throw Unreachable()
    }
    let cache = origin.cache()
    let one = Task { try await origin.get(from: cache) }
    let two = Task { try await origin.get(from: cache) }
    while origin.requests.isEmpty { await Task.yield() }
    gate.happen()
    await #expect(throws: Unreachable.self) { try await one.value }
    await #expect(throws: Unreachable.self) { try await two.value }
    origin.answer(["Cache-Control": "max-age=10"])
    #expect(try await origin.get(from: cache).text == "body")
  }

  @Test func `end one by one`() async throws {
    let gate = Event()
    let origin = Origin { _ in
      await gate.wait()
      try Task.checkCancellation()
      return (.init(status: 200, fields: ["Cache-Control": "max-age=10"]), .init(Data("body".utf8)))
    }
    let cache = origin.cache()
    let one = Task { try await origin.get(from: cache) }
    while origin.requests.isEmpty { await Task.yield() }
    let two = Task { try await origin.get(from: cache) }
    // The second one joins the first here, or makes a fetch of its own: both must end well.
    for _ in 0..<1000 { await Task.yield() }
    one.cancel()
    await #expect(throws: CancellationError.self) { try await one.value }
    gate.happen()
    #expect(try await two.value.text == "body")
  }

  @Test func `cancel the fetch with the last one`() async throws {
    let cancelled = Event()
    let origin = Origin { _ in
      try await withTaskCancellationHandler {
        try await Task.sleep(for: .seconds(3600))
      } onCancel: {
        cancelled.happen()
      }
      throw Unreachable()
    }
    let cache = origin.cache()
    let task = Task { try await origin.get(from: cache) }
    while origin.requests.isEmpty { await Task.yield() }
    task.cancel()
    await cancelled.wait()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  /// A follower that is cancelled doesn't wait for the body.
  @Test func `end while the body comes`() async throws {
    let chunks = Chunks()
    let origin = Origin(chunks)
    let cache = origin.cache()
    let first = try await origin.get(from: cache)
    let follower = Task { try await origin.get(from: cache) }
    await Task.yield()
    follower.cancel()
    await #expect(throws: CancellationError.self) { try await follower.value }
    chunks.send("body")
    chunks.finish()
    #expect(try await first.text == "body")
  }

  /// A confirmation that was asked for earlier and comes later changes nothing of a newer one.
  @Test(arguments: ["New", "Vary"])
  func `keep the confirmation that was asked for last`(field: String) async throws {
    let origin = Origin(["Cache-Control": "max-age=10", "ETag": "\"a\""])
    let cache = origin.cache()
    _ = try await origin.get(from: cache)
    let gate = Event()
    origin.answer { request in
      guard request.fields["A"] == "first" else {
        return (.init(status: 304, fields: ["New": "new"]), .init())
      }
      await gate.wait()
      return (.init(status: 304, fields: [field: field == "Vary" ? "*" : "old"]), .init())
    }
    let first = Task {
      try await origin.get("/", ["A": "first"], mode: .revalidate, from: cache)
    }
    while origin.requests.count < 2 { await Task.yield() }
    origin.advance(1)
    _ = try await origin.get("/", ["A": "second"], mode: .revalidate, from: cache)
    gate.happen()
    #expect(try await first.value.outcome.source == .revalidated)
    #expect(cache.storedResponse(to: try Origin.request())?.response.fields["New"] == "new")
  }

  @Test func `keep a confirmation after the clock was set back`() async throws {
    let origin = Origin(["Cache-Control": "max-age=10", "ETag": "\"a\""])
    let cache = origin.cache()
    _ = try await origin.get(from: cache)
    origin.advance(-100)
    origin.answer(status: 304, ["New": "new"], body: "")
    #expect(try await origin.get(from: cache).outcome.source == .revalidated)
    #expect(try await origin.get(from: cache).outcome.source == .hit)
  }

  @Test func `make a fetch of their own when they differ`() async throws {
    let gate = Event()
    let origin = Origin { _ in
      await gate.wait()
      return (.init(status: 200, fields: ["Cache-Control": "max-age=10"]), .init())
    }
    let cache = origin.cache()
    async let one = origin.get("/", ["A": "1"], from: cache)
    async let two = origin.get("/", ["A": "2"], from: cache)
    async let three = origin.get("/b", ["A": "1"], from: cache)
    async let four = origin.get("/", ["A": "1"], mode: .reload, from: cache)
    while origin.requests.count < 4 { await Task.yield() }
    gate.happen()
    _ = try await (one, two, three, four)
  }
}
