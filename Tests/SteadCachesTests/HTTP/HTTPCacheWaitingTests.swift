import Foundation
import SteadTestSupport
import Synchronization
import Testing

@testable import SteadCaches

/// Requests that wait for the body of an equal one.
@Suite(.hangLimit) struct HTTPCacheWaitingTests {
  private static let count = 100
  private struct Broken: Error {}

  private let pauses = Pauses()

  private func cache(_ origin: Origin) -> HTTPCache {
    HTTPCache(directory: nil, now: { origin.now }, sleep: pauses.sleep)
  }

  private func follow(_ origin: Origin, _ cache: HTTPCache) async -> [Task<String, any Error>] {
    let tasks = (0..<Self.count).map { _ in
      Task { try await origin.get(from: cache).text }
    }
    await cache.waitForFollowers(Self.count)
    return tasks
  }

  // The second reader of an event stream got its first event when the first reader left, after 28.9 s: it waited for
  // the whole body, although the head said that it was of no use to it.
  @Test(
    arguments: [
      ["Cache-Control": "no-cache"], ["Cache-Control": "max-age=0"], [:], ["Expires": "0"],
      ["Cache-Control": "max-age=10", "Age": "10"],
      ["Cache-Control": "max-age=0, must-revalidate", "ETag": "\"a\""],
    ] as [HTTPCache.Fields])
  func `an equal request does not wait for a body that its head keeps from being used`(
    fields: HTTPCache.Fields
  ) async throws {
    let bodies = Bodies()
    let origin = bodies.origin(fields)
    let cache = cache(origin)
    let first = try await origin.get(from: cache)
    let second = try await origin.get(from: cache)
    bodies[0].send("one")
    bodies[1].send("two")
    var (one, two) = (first.body.makeAsyncIterator(), second.body.makeAsyncIterator())
    #expect(try await two.next() == Data("two".utf8))
    #expect(try await one.next() == Data("one".utf8))
    #expect(bodies.count == 2)
  }

  /// What may be used while it is confirmed in the background, and what a request takes however old it is.
  @Test(
    arguments: [
      (["Cache-Control": "max-age=0, stale-while-revalidate=9"], [:], .standard),
      (["Cache-Control": "max-age=0"], ["Cache-Control": "max-stale=5"], .standard),
      ([:], [:], .preferStored), (["Cache-Control": "max-age=1"], [:], .standard),
    ] as [(HTTPCache.Fields, HTTPCache.Fields, HTTPCache.Mode)])
  func `equal requests wait for a body that they may use`(
    fields: HTTPCache.Fields, asked: HTTPCache.Fields, mode: HTTPCache.Mode
  ) async throws {
    let bodies = Bodies()
    let origin = bodies.origin(fields)
    let cache = cache(origin)
    let first = try await origin.get("/", asked, mode: mode, from: cache)
    let second = Task { try await origin.get("/", asked, mode: mode, from: cache).text }
    await cache.waitForFollowers(1)
    origin.answer(status: 304, [:], body: "")
    bodies[0].send("body")
    bodies[0].finish()
    #expect(try await first.text == "body")
    #expect(try await second.value == "body")
    await cache.finishRevalidations()
    #expect(bodies.count == 1)
  }

  // An origin that had sent a part of a body and then nothing blocked its URL until its connection ended.
  @Test(arguments: [6, nil])
  func `a body that does not come on is not waited for`(length: Int?) async throws {
    let bodies = Bodies()
    var fields: HTTPCache.Fields = ["Cache-Control": "max-age=10"]
    fields["Content-Length"] = length.map(String.init)
    let origin = bodies.origin(fields)
    let cache = cache(origin)
    let first = try await origin.get(from: cache)
    let followers = await follow(origin, cache)
    bodies[0].send("abc")
    await pauses.passNext()
    await pauses.passNext()
    // One of them asks for all.
    await bodies.wait(for: 2)
    await cache.waitForFollowers(Self.count - 1)
    bodies[1].send("abcdef")
    bodies[1].finish()
    for follower in followers { #expect(try await follower.value == "abcdef") }
    #expect(bodies.count == 2)
    bodies[0].send("def")
    bodies[0].finish()
    #expect(try await first.text == "abcdef")
  }

  @Test func `a body without an end is not waited for`() async throws {
    let bodies = Bodies()
    let origin = bodies.origin(["Cache-Control": "max-age=10"])
    let cache = cache(origin)
    let first = try await origin.get(from: cache)
    let second = Task { try await origin.get(from: cache) }
    await cache.waitForFollowers(1)
    var reader = first.body.makeAsyncIterator()
    while bodies.count < 2 {
      bodies[0].send("event")
      _ = try await reader.next()
      if pauses.sleeperCount > 0 { pauses.pass() }
      await Task.yield()
    }
    bodies[1].send("event")
    var other = try await second.value.body.makeAsyncIterator()
    #expect(try await other.next() == Data("event".utf8))
  }

  // The reader of the body that all waited for was cancelled, and each of a hundred others fetched it by itself.
  @Test(arguments: [true, false])
  func `a cancelled reader leaves the others its body`(hasBegun: Bool) async throws {
    let bodies = Bodies()
    let origin = bodies.origin(["Cache-Control": "max-age=10"])
    let cache = cache(origin)
    let reads = Event()
    let first = Task {
      let reply = try await origin.get(from: cache)
      reads.happen()
      return try await reply.text
    }
    await reads.wait()
    let followers = await follow(origin, cache)
    if hasBegun { bodies[0].send("abc") }
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    if !hasBegun { bodies[0].send("abc") }
    bodies[0].send("def")
    bodies[0].finish()
    for follower in followers { #expect(try await follower.value == "abcdef") }
    #expect(bodies.count == 1)
  }

  @Test func `the fetch ends with the last who waits`() async throws {
    let bodies = Bodies()
    let origin = bodies.origin(["Cache-Control": "max-age=10"])
    let cache = cache(origin)
    var first: HTTPCache.Reply? = try await origin.get(from: cache)
    let ended = Event()
    bodies[0].onEnd { ended.happen() }
    let followers = await follow(origin, cache)
    #expect(first != nil)
    first = nil
    for follower in followers { follower.cancel() }
    for follower in followers {
      await #expect(throws: CancellationError.self) { try await follower.value }
    }
    await ended.wait()
    #expect(cache.joinable.withLock { $0.isEmpty })
  }

  /// The rest of a short body is loaded without a reader, but not for ever.
  @Test func `a short body that nobody reads and that does not come on ends`() async throws {
    let bodies = Bodies()
    let origin = bodies.origin(["Cache-Control": "max-age=10", "Content-Length": "6"])
    let cache = cache(origin)
    var first: HTTPCache.Reply? = try await origin.get(from: cache)
    let ended = Event()
    bodies[0].onEnd { ended.happen() }
    #expect(first != nil)
    first = nil
    await pauses.passNext()
    await ended.wait()
  }

  // Each of a hundred requests fetched a body again that had broken off.
  @Test(arguments: [6, nil])
  func `a body that breaks off is fetched once more for all`(length: Int?) async throws {
    let bodies = Bodies()
    var fields: HTTPCache.Fields = ["Cache-Control": "max-age=10"]
    fields["Content-Length"] = length.map(String.init)
    let origin = bodies.origin(fields)
    let cache = cache(origin)
    let first = try await origin.get(from: cache)
    let followers = await follow(origin, cache)
    bodies[0].send("abc")
    bodies[0].finish(Broken())
    await #expect(throws: Broken.self) { try await first.text }
    await bodies.wait(for: 2)
    await cache.waitForFollowers(Self.count - 1)
    bodies[1].send("abcdef")
    bodies[1].finish()
    for follower in followers { #expect(try await follower.value == "abcdef") }
    #expect(bodies.count == 2)
  }

  @Test func `a body that breaks off twice fails for all`() async throws {
    let bodies = Bodies()
    let origin = bodies.origin(["Cache-Control": "max-age=10"])
    let cache = cache(origin)
    let first = try await origin.get(from: cache)
    let followers = await follow(origin, cache)
    bodies[0].finish(Broken())
    await bodies.wait(for: 2)
    await cache.waitForFollowers(Self.count - 1)
    bodies[1].finish(Broken())
    await #expect(throws: Broken.self) { try await first.text }
    for follower in followers {
      await #expect(throws: Broken.self) { try await follower.value }
    }
    #expect(bodies.count == 2)
  }

  // A body's fate is known a moment before nobody finds it any more. A request that came within this moment waited for
  // the same body twice, and failed without having been sent.
  @Test func `a body that has broken off is found by nobody`() async throws {
    let bodies = Bodies()
    let origin = bodies.origin(["Cache-Control": "max-age=10"])
    let cache = cache(origin)
    let first = try await origin.get(from: cache)
    let landing = cache.joinable.withLock { $0 }
    bodies[0].finish(Broken())
    await #expect(throws: Broken.self) { try await first.text }
    cache.joinable.withLock { $0 = landing }
    let second = try await origin.get(from: cache)
    bodies[1].send("abc")
    bodies[1].finish()
    #expect(try await second.text == "abc")
  }

  /// A response that came for requests of which none waits any more.
  @Test func `a response that nobody waits for ends its connection`() async throws {
    let (gate, ended) = (Event(), Event())
    let chunks = Chunks()
    chunks.onEnd { ended.happen() }
    let origin = Origin { _ in
      await gate.wait()
      return (.init(status: 200, fields: ["Cache-Control": "max-age=10"]), chunks.body)
    }
    let cache = cache(origin)
    let task = Task { try await origin.get(from: cache) }
    while origin.requests.isEmpty { await Task.yield() }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    gate.happen()
    await ended.wait()
    while !cache.joinable.withLock({ $0.isEmpty }) { await Task.yield() }
  }
}
