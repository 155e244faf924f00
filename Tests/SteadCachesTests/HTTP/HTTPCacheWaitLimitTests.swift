import CachesTestSupport
import Foundation
import SteadTestSupport
import Testing

@testable import SteadCaches

/// For how long requests, and the cache itself, wait for bodies that come slowly, or of which the head says that they are of
/// no use.
@Suite(.hangLimit) struct HTTPCacheWaitLimitTests {
  private let pauses = Pauses()

  private func cache(_ origin: Origin, limits: HTTPCache.Limits = .init()) -> HTTPCache {
    HTTPCache(directory: nil, limits: limits, now: { origin.now }, sleep: pauses.sleep)
  }

  /// Sends a byte in each of at most so many stall limits, until something is so.
  private func trickle(
    _ chunks: Chunks, times: Int, clock: Origin? = nil, until isOver: () -> Bool
  ) async {
    for _ in 0..<times where !isOver() {
      chunks.send("x")
      for _ in 0..<50 { await Task.yield() }
      clock?.advance(2)
      pauses.pass()
      for _ in 0..<50 { await Task.yield() }
    }
  }

  // A server that sent a byte in 1.9 s kept all equal requests waiting until the end of its body, which was days away.
  @Test(arguments: [nil, 1_000_000])
  func `a body that comes slowly is not waited for`(length: Int?) async throws {
    let bodies = Bodies()
    var fields: HTTPCache.Fields = ["Cache-Control": "max-age=1000"]
    fields["Content-Length"] = length.map(String.init)
    let origin = bodies.origin(fields)
    let cache = cache(origin)
    let first = try await origin.get(from: cache)
    let second = Task { try await origin.get(from: cache) }
    let third = Task { try await origin.get(from: cache) }
    await cache.waitForFollowers(2)
    await trickle(bodies[0], times: 100) { bodies.count > 1 }
    await trickle(bodies[0], times: 100) { bodies.count > 2 }
    // The second body doesn't come on, either.
    await trickle(bodies.count > 1 ? bodies[1] : bodies[0], times: 100) { bodies.count > 2 }
    #expect(bodies.count == 3)
    second.cancel()
    third.cancel()
    _ = try? await (second.value, third.value)
    withExtendedLifetime(first) {}
  }

  // Those who waited for a body of a minute got nothing for it if its response was fresh for five seconds.
  @Test func `a body is not waited for beyond its freshness`() async throws {
    let bodies = Bodies()
    let origin = bodies.origin(["Cache-Control": "max-age=5", "Content-Length": "1000000"])
    let cache = cache(origin)
    let first = try await origin.get(from: cache)
    let second = Task { try await origin.get(from: cache) }
    await cache.waitForFollowers(1)
    await trickle(bodies[0], times: 5, clock: origin) { bodies.count > 1 }
    #expect(bodies.count == 2)
    second.cancel()
    _ = try? await second.value
    withExtendedLifetime(first) {}
  }

  /// Without a reader the rest of a short body is loaded, but only as long as another fetch would take.
  @Test func `a short body that nobody reads and that comes slowly ends`() async throws {
    let bodies = Bodies()
    let origin = bodies.origin(["Cache-Control": "max-age=1000", "Content-Length": "1000000"])
    let cache = cache(origin)
    var first: HTTPCache.Reply? = try await origin.get(from: cache)
    let ended = LoadCount()
    bodies[0].onEnd { ended.add() }
    #expect(first != nil)
    first = nil
    await trickle(bodies[0], times: 100) { ended.count > 0 }
    #expect(ended.count > 0)
  }

  /// What a request asks for, and the head of the response to it.
  struct Case: Sendable {
    var asked: HTTPCache.Fields = [:]
    var status = 200
    var fields: HTTPCache.Fields = [:]
    var isOfUse = false
  }

  private static let one: HTTPCache.Fields = ["Range": "bytes=0-3"]
  private static let part: HTTPCache.Fields = ["Content-Range": "bytes 0-3/10"]
  private static let cases = [
    // What is too large, as a whole or in its head.
    Case(fields: ["Content-Length": "10"], isOfUse: true), Case(isOfUse: true),
    Case(fields: ["Content-Length": "5000000000"]), Case(fields: ["Content-Length": "101"]),
    Case(fields: ["A": String(repeating: "a", count: HTTPCache.Limits.headSizeLimit)]),
    // What no request for a range is answered with.
    Case(asked: one, isOfUse: true),
    Case(asked: one, fields: ["Content-Length": "10"], isOfUse: true),
    Case(asked: one, status: 206, fields: part, isOfUse: true),
    Case(asked: ["Range": "bytes=-4"], isOfUse: true),
    Case(asked: ["Range": "bytes=2-"], fields: ["Content-Length": "10"], isOfUse: true),
    Case(asked: ["Range": "bytes=10-"], fields: ["Content-Length": "10"]),
    Case(asked: one, fields: ["Content-Encoding": "gzip"]),
    Case(
      asked: one, status: 206,
      fields: ["Content-Range": "bytes 0-3/10", "Content-Encoding": "gzip"]),
    Case(asked: one, status: 206, fields: ["Content-Range": "bytes 0-2/10"]),
    Case(asked: ["Range": "bytes=0-1,4-5"]), Case(asked: ["Range": "lines=0-1"]),
  ]

  // Equal requests waited for bodies that couldn't be stored, or of which they couldn't have the part that they asked
  // for, although the head said so.
  @Test(arguments: cases) func `a body is waited for if it is of use`(of it: Case) async throws {
    let bodies = Bodies()
    var fields = it.fields
    fields["Cache-Control"] = "max-age=10"
    let origin = bodies.origin(status: it.status, fields)
    let cache = cache(origin, limits: .init(bufferSizeLimit: 100))
    let first = try await origin.get("/", it.asked, from: cache)
    let second = Task { try await origin.get("/", it.asked, from: cache) }
    while bodies.count < 2, cache.followerCount == 0 { await Task.yield() }
    #expect((bodies.count == 1) == it.isOfUse)
    second.cancel()
    _ = try? await second.value
    withExtendedLifetime(first) {}
  }

  // A body that broke off since its client was shut down ended tasks as cancelled that nobody had cancelled. And after one
  // that didn't come on, the error of one that broke off was thrown to requests that hadn't been sent.
  @Test(arguments: [true, false], [true, false])
  func `an error is thrown only to those whose fetch has failed twice`(
    isCancellation: Bool, stallsFirst: Bool
  ) async throws {
    let error: any Error = isCancellation ? CancellationError() : Unreachable()
    let bodies = Bodies()
    let origin = bodies.origin(["Cache-Control": "max-age=10"])
    let cache = cache(origin)
    let first = try await origin.get(from: cache)
    let followers = (0..<3).map { _ in Task { try await origin.get(from: cache) } }
    await cache.waitForFollowers(3)
    if stallsFirst { await pauses.passNext() } else { bodies[0].finish(error) }
    await bodies.wait(for: 2)
    await cache.waitForFollowers(2)
    bodies[1].finish(error)
    // The one whose fetch it was has its reply; the others have the error, or fetch by themselves.
    let throwsError = !isCancellation && !stallsFirst
    await letOthersRun()
    #expect(bodies.count == (throwsError ? 2 : 4))
    for number in 2..<max(bodies.count, 2) {
      bodies[number].send("body")
      bodies[number].finish()
    }
    var failures = 0
    for follower in followers {
      do {
        _ = try await follower.value
      } catch {
        failures += 1
        #expect(error is Unreachable)
      }
    }
    #expect(failures == (throwsError ? 2 : 0))
    withExtendedLifetime(first) {}
  }

  /// A body that the server sends when it is asked in the background.
  struct Background: Sendable {
    var control = "max-age=100"
    var length: Int?
    var trickles = false
  }

  // While a body stalled, or went on for ever, that had been asked for in the background, the stale response was used and
  // nobody asked again: for days, if it could be used for so long.
  @Test(
    arguments: [
      Background(), Background(length: 1_000_000), Background(length: 2_000_000),
      Background(trickles: true), Background(length: 1_000_000, trickles: true),
      Background(length: 2_000_000, trickles: true),
      Background(control: "no-store"), Background(control: "no-store", trickles: true),
      Background(control: "no-cache", trickles: true), Background(control: "max-age=0"),
    ])
  func `a body without an end in the background is asked for again`(of it: Background) async throws
  {
    let origin = Origin(["Cache-Control": "max-age=1, stale-while-revalidate=604800"])
    let cache = cache(origin)
    _ = try await origin.get(from: cache)
    origin.advance(2)
    var fields: HTTPCache.Fields = ["Cache-Control": it.control]
    fields["Content-Length"] = it.length.map(String.init)
    let bodies = Bodies()
    origin.answer { [fields] _ in (.init(status: 200, fields: fields), bodies.begin()) }
    #expect(try await origin.get(from: cache).text == "body")
    await bodies.wait(for: 1)
    origin.answer(["Cache-Control": "max-age=100"], body: "new")
    var text = ""
    // The longest one is loaded for 300 stall limits.
    for _ in 0..<400 where text != "new" {
      if it.trickles { bodies[0].send("x") }
      for _ in 0..<50 { await Task.yield() }
      pauses.pass()
      text = try await origin.get(from: cache).text
    }
    #expect(text == "new")
    if text == "new" { await cache.finishRevalidations() }
    bodies[0].finish(Unreachable())
  }

  // A body of more than ten seconds, or of a minute if it had a length, was dropped at that moment, and begun again by the next
  // request, as long as the stale response could be used.
  @Test(arguments: [nil, 100], ["max-age=100", "no-cache"])
  func `a body that comes slowly in the background is stored`(
    length: Int?, control: String
  ) async throws {
    let origin = Origin(["Cache-Control": "max-age=1, stale-while-revalidate=604800"])
    let cache = cache(origin)
    _ = try await origin.get(from: cache)
    origin.advance(2)
    var fields: HTTPCache.Fields = ["Cache-Control": control]
    fields["Content-Length"] = length.map(String.init)
    let slow = SlowBody()
    origin.answer { [fields] _ in (.init(status: 200, fields: fields), slow.body) }
    #expect(try await origin.get(from: cache).text == "body")
    while !slow.isRead { await Task.yield() }
    origin.answer([:], body: "asked again")
    for _ in 0..<100 { await slow.send("x", pauses) }
    // It is used and not asked for meanwhile.
    #expect(try await origin.get(from: cache).text == "body" && origin.requests.count == 2)
    slow.finish()
    await cache.finishRevalidations()
    let stored = try await cache.storedResponse(to: Origin.request())?.text
    #expect(stored == String(repeating: "x", count: 100))
  }

  /// A request that can't use the stale response any more waits for such a body as for any other, and doesn't end it.
  @Test(arguments: [nil, 1_000])
  func `nobody waits for long for a body in the background`(length: Int?) async throws {
    let origin = Origin(["Cache-Control": "max-age=1, stale-while-revalidate=100"])
    let cache = cache(origin)
    _ = try await origin.get(from: cache)
    origin.advance(2)
    var fields: HTTPCache.Fields = ["Cache-Control": "max-age=1000"]
    fields["Content-Length"] = length.map(String.init)
    let slow = SlowBody()
    origin.answer { [fields] _ in (.init(status: 200, fields: fields), slow.body) }
    #expect(try await origin.get(from: cache).text == "body")
    while !slow.isRead { await Task.yield() }
    origin.answer([:], body: "own")
    origin.advance(200)
    let other = Task { try await origin.get(from: cache).text }
    await cache.waitForFollowers(2)
    for _ in 0..<100 where origin.requests.count == 2 { await slow.send("x", pauses) }
    #expect(try await other.value == "own")
    for _ in 0..<10 {
      await slow.send("x", pauses)
      #expect(slow.isRead)
    }
    slow.finish(Unreachable())
    await cache.finishRevalidations()
  }

  /// Also one that no other request could use, so that nobody waits for it.
  @Test(arguments: ["max-age=100", "no-cache", "max-age=0"], [nil, 6])
  func `a body that comes in the background is stored`(control: String, length: Int?) async throws {
    let origin = Origin(["Cache-Control": "max-age=1, stale-while-revalidate=604800"])
    let cache = cache(origin)
    _ = try await origin.get(from: cache)
    origin.advance(2)
    var fields: HTTPCache.Fields = ["Cache-Control": control]
    fields["Content-Length"] = length.map(String.init)
    let bodies = Bodies()
    origin.answer { [fields] _ in (.init(status: 200, fields: fields), bodies.begin()) }
    #expect(try await origin.get(from: cache).text == "body")
    await bodies.wait(for: 1)
    for part in ["ab", "cd", "ef"] {
      bodies[0].send(part)
      for _ in 0..<50 { await Task.yield() }
    }
    bodies[0].finish()
    await cache.finishRevalidations()
    #expect(try await cache.storedResponse(to: Origin.request())?.text == "abcdef")
  }
}

/// A body of which a chunk comes in each stall limit.
private final class SlowBody: Sendable {
  private let continuation: AsyncThrowingStream<Data, any Error>.Continuation
  private let asked = LoadCount()
  private let sent = LoadCount()
  let body: HTTPCache.Body

  init() {
    let (stream, continuation) = AsyncThrowingStream.makeStream(of: Data.self)
    self.continuation = continuation
    body = HTTPCache.Body(
      AsyncThrowingStream { [asked] in
        asked.add()
        for try await chunk in stream { return chunk }
        return nil
      })
  }

  /// Whether all that was sent has been read, and more is asked for.
  var isRead: Bool { asked.count > sent.count }

  /// Sends a chunk while the cache waits, and lets time pass once it has come.
  func send(_ text: String, _ pauses: Pauses) async {
    while pauses.sleeperCount == 0 || !isRead { await Task.yield() }
    continuation.yield(Data(text.utf8))
    sent.add()
    while !isRead { await Task.yield() }
    pauses.pass()
  }

  func finish(_ error: (any Error)? = nil) { continuation.finish(throwing: error) }
}
