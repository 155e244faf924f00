import Foundation
import SteadTestSupport
import Synchronization
import Testing

@testable import SteadCaches

/// Bodies that come chunk by chunk.
@Suite(.hangLimit) struct HTTPCacheBodyTests {
  private static let chunk = Data(repeating: 7, count: 10_000)
  private static let limits = HTTPCache.Limits(
    memorySizeLimit: 200_000, bodySizeLimit: 400_000, bufferSizeLimit: 30_000)

  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory(inMemory: true) }

  private func fetch(
    _ cache: HTTPCache, _ origin: Origin, chunks count: Int, length: Int? = nil,
    error: (any Error)? = nil
  ) async throws -> Data {
    let chunks = Chunks()
    origin.answer { _ in
      var fields: HTTPCache.Fields = ["Cache-Control": "max-age=10"]
      fields["Content-Length"] = length.map(String.init)
      return (.init(status: 200, fields: fields), chunks.body)
    }
    for _ in 0..<count { chunks.send(Self.chunk) }
    chunks.finish(error)
    return try await origin.get(from: cache).body.data()
  }

  private func stored(_ cache: HTTPCache) async throws -> Data? {
    try await cache.storedResponse(to: try Origin.request())?.body.data()
  }

  @Test(arguments: [1, 3, 4, 30, 40])
  func `go to disk when they are large`(count: Int) async throws {
    let origin = Origin([:])
    let cache = origin.cache(in: directory.url.appending(path: "http"), limits: Self.limits)
    let expected = Data(repeating: 7, count: count * 10_000)
    #expect(try await fetch(cache, origin, chunks: count) == expected)
    #expect(try await stored(cache) == expected)
    let other = origin.cache(in: directory.url.appending(path: "http"), limits: Self.limits)
    #expect(try await stored(other) == expected)
    let part = try await origin.get("/", ["Range": "bytes=9998-10001"], from: other)
    #expect(part.response.status == 206)
    #expect(try await part.body.data().count == min(4, count * 10_000 - 9998))
    #expect(origin.requests.count == 1)
  }

  @Test func `are not stored beyond the limit`() async throws {
    let origin = Origin([:])
    let cache = origin.cache(in: directory.url.appending(path: "http"), limits: Self.limits)
    #expect(try await fetch(cache, origin, chunks: 41).count == 410_000)
    #expect(try await stored(cache) == nil)
    let inMemory = origin.cache(limits: Self.limits)
    #expect(try await fetch(inMemory, origin, chunks: 4).count == 40_000)
    #expect(try await stored(inMemory) == nil)
    #expect(try await fetch(inMemory, origin, chunks: 3).count == 30_000)
    #expect(try await stored(inMemory)?.count == 30_000)
  }

  @Test(arguments: [1, 20])
  func `are not stored when they break off`(count: Int) async throws {
    let origin = Origin([:])
    let cache = origin.cache(in: directory.url.appending(path: "http"), limits: Self.limits)
    await #expect(throws: Unreachable.self) {
      try await fetch(cache, origin, chunks: count, error: Unreachable())
    }
    #expect(try await stored(cache) == nil)
    #expect(
      try await fetch(cache, origin, chunks: count, length: count * 10_000 + 1).count == count
        * 10_000)
    #expect(try await stored(cache) == nil)
    #expect(
      try await fetch(cache, origin, chunks: count, length: count * 10_000 - 1).count == count
        * 10_000)
    #expect(try await stored(cache) == nil)
    #expect(
      try await fetch(cache, origin, chunks: count, length: count * 10_000).count == count * 10_000)
    #expect(try await stored(cache)?.count == count * 10_000)
  }

  /// The reader gets the first bytes while the server still sends.
  @Test func `are handed on as they come`() async throws {
    let chunks = Chunks()
    let origin = Origin(chunks)
    let cache = origin.cache()
    let reply = try await origin.get(from: cache)
    var iterator = reply.body.makeAsyncIterator()
    chunks.send("a")
    #expect(try await iterator.next() == Data("a".utf8))
    #expect(cache.storedResponse(to: try Origin.request()) == nil)
    chunks.send("")
    chunks.send("b")
    #expect(try await iterator.next() == Data("b".utf8))
    chunks.finish()
    #expect(try await iterator.next() == nil)
    #expect(try await stored(cache) == Data("ab".utf8))
  }

  /// A reader that rests holds the server up, so that a body never fills memory.
  @Test func `hold the server up while the reader rests`() async throws {
    let queue = ChunkQueue(limit: 20_000)
    for _ in 0..<2 { #expect(await queue.write(Self.chunk)) }
    let hasReturned = Mutex(false)
    let isRead = Task {
      defer { hasReturned.withLock { $0 = true } }
      return await queue.write(Self.chunk)
    }
    for _ in 0..<1000 { await Task.yield() }
    #expect(!hasReturned.withLock { $0 })
    #expect(try await queue.next()?.count == 10_000)
    #expect(await isRead.value)
  }

  /// The server has more than anybody has memory for. The cache asks it for what the reader takes, and for its limit.
  @Test func `a slow reader's share of memory has a limit`() async throws {
    let count = Mutex(0)
    let origin = Origin { _ in
      let chunks = AsyncStream<Data> {
        count.withLock { $0 += 1 }
        return Self.chunk
      }
      return (.init(status: 200, fields: ["Cache-Control": "max-age=10"]), .init(chunks))
    }
    let cache = origin.cache(limits: .init(memorySizeLimit: 200_000, bufferSizeLimit: 50_000))
    let reply = try await origin.get(from: cache)
    var iterator = reply.body.makeAsyncIterator()
    for taken in 1...20 {
      #expect(try await iterator.next()?.count == 10_000)
      await letOthersRun()
      // Five chunks are the limit, and one more is more than that.
      #expect(count.withLock { $0 } <= taken + 6)
    }
  }

  @Test(arguments: [true, false])
  func `come without a buffer`(isOnDisk: Bool) async throws {
    let origin = Origin([:])
    let place = directory.url.appending(path: "http")
    let cache = origin.cache(
      in: isOnDisk ? place : nil, limits: .init(memorySizeLimit: 200_000, bufferSizeLimit: 0))
    #expect(try await fetch(cache, origin, chunks: 3).count == 30_000)
    #expect(try await stored(cache)?.count == (isOnDisk ? 30_000 : nil))
  }

  @Test func `keep their order`() async throws {
    let queue = ChunkQueue(limit: 1000)
    var (written, read) = (UInt8(0), UInt8(0))
    for count in [5, 1, 7, 2, 30, 9] {
      for _ in 0..<count {
        _ = await queue.write(Data([written]))
        written += 1
      }
      for _ in 0..<(count - count / 3) {
        #expect(try await queue.next() == Data([read]))
        read += 1
      }
    }
    queue.finish(.success(()))
    while let chunk = try await queue.next() {
      #expect(chunk == Data([read]))
      read += 1
    }
    #expect(read == written)
  }

  /// Nobody reads a long body any more: the connection ends with the last reference to it.
  @Test func `end the connection with the reader`() async throws {
    let chunks = Chunks()
    let ended = Event()
    chunks.onEnd { ended.happen() }
    let origin = Origin(chunks)
    let cache = origin.cache()
    var reply: HTTPCache.Reply? = try await origin.get(from: cache)
    #expect(reply != nil)
    reply = nil
    chunks.send("a")
    await ended.wait()
    #expect(cache.storedResponse(to: try Origin.request()) == nil)
  }

  /// A short body is worth its rest.
  @Test func `finish a short body without a reader`() async throws {
    let chunks = Chunks()
    let origin = Origin(chunks, length: 2)
    let cache = origin.cache()
    _ = try await origin.get(from: cache)
    chunks.send("a")
    chunks.send("b")
    chunks.finish()
    #expect(try await origin.get(from: cache).text == "ab")
    #expect(origin.requests.count == 1)
  }

  // The deallocator ran under a lock of the cache: one that used the cache waited for itself.
  @Test(arguments: [true, false])
  func `are freed without a lock`(isWhole: Bool) async throws {
    let cache = HTTPCache()
    let request = try Origin.request()
    let wasFree = Mutex<[Bool]>([])
    let fields: HTTPCache.Fields = ["Cache-Control": "max-age=100"]
    _ = try await cache.response(to: request) { _ in
      let body = Data.bytes {
        // Another thread may have it for a moment; this one, if it has it, never gets it.
        let isFree = (0..<100_000).contains { _ in
          sched_yield()
          return cache.store.memoryLock.withLockIfAvailable { _ in true } ?? false
        }
        wasFree.withLock { $0.append(isFree) }
      }
      guard !isWhole else { return (.init(status: 200, fields: fields), .init(body)) }
      let chunks = Chunks()
      chunks.send(body)
      chunks.finish()
      return (.init(status: 200, fields: fields), chunks.body)
    }.body.data()
    #expect(cache.storedResponse(to: request) != nil)
    cache.removeResponses(for: request.url)
    while wasFree.withLock({ $0.isEmpty }) { await Task.yield() }
    #expect(wasFree.withLock { $0 } == [true])
  }

  @Test func `stay readable while they are removed`() async throws {
    let origin = Origin([:])
    let cache = origin.cache(in: directory.url.appending(path: "http"), limits: Self.limits)
    _ = try await fetch(cache, origin, chunks: 40)
    let reply = try #require(cache.storedResponse(to: try Origin.request()))
    cache.removeAll()
    #expect(try await reply.body.data().count == 400_000)
    #expect(cache.storedResponse(to: try Origin.request()) == nil)
  }

  // Two readers got a part each, or the second one nothing, and neither got an error.
  @Test(arguments: [HTTPCache.Mode.standard, .bypass])
  func `are read once`(mode: HTTPCache.Mode) async throws {
    let chunks = Chunks()
    let origin = Origin(chunks)
    let reply = try await origin.get(mode: mode, from: origin.cache())
    chunks.send("a")
    chunks.finish()
    #expect(try await reply.text == "a")
    let error = await #expect(throws: HTTPCacheError.self) { try await reply.text }
    #expect(error?.code == .bodyAlreadyRead)
    let whole = HTTPCache.Body(Data("b".utf8))
    for _ in 0..<2 { #expect(try await whole.data() == Data("b".utf8)) }
    var all = Data()
    for try await chunk in whole { all += chunk }
    #expect(all == Data("b".utf8))
  }

  // A stream ends like a complete one when its reader's task is cancelled, and so a reader got the beginning of a body
  // that wasn't stored in place of all of it.
  @Test(
    arguments: [
      ("GET", .standard, "max-age=10"), ("GET", .standard, "no-store"),
      ("GET", .bypass, "max-age=10"),
      ("GET", .reload, "no-cache"), ("POST", .standard, "max-age=10"),
      ("HEAD", .standard, "no-store"),
    ] as [(String, HTTPCache.Mode, String)], [true, false])
  func `a cancelled reader does not take what came for the whole`(
    how: (method: String, mode: HTTPCache.Mode, control: String), readsByChunk: Bool
  ) async throws {
    let (chunks, cache) = (Chunks(), Origin([:]).cache())
    let origin = Origin { _ in
      (.init(status: 200, fields: ["Cache-Control": how.control]), chunks.body)
    }
    let reply = try await origin.get(method: how.method, mode: how.mode, from: cache)
    chunks.send("a")
    let begins = Event()
    let reader = Task {
      begins.happen()
      if !readsByChunk { return try await reply.text }
      var text = ""
      for try await chunk in reply.body { text += String(decoding: chunk, as: UTF8.self) }
      return text
    }
    await begins.wait()
    reader.cancel()
    await #expect(throws: CancellationError.self) { try await reader.value }
  }
}
