import Foundation
import SteadTestSupport
import Testing

@testable import SteadCaches

/// How long a body should be, and whether a response that is said to be stored is stored.
///
/// One after the other: all at once, each with a cache on disk, had 1,500 files open. With some 1,365 of them Foundation's
/// `Process`, by which other tests start programs, reads beyond the list of a process's files (6.3.1), and ended the tests once.
@Suite(.hangLimit, .serialized) struct BodyLengthTests {
  // A repeated length wasn't compared with the body at all, so that a part of one was stored.
  @Test(
    arguments: [
      ([], .unknown), (["5"], .bytes(5)), (["5, 5"], .bytes(5)), (["5", "5"], .bytes(5)),
      (["5", " 5 ,05"], .bytes(5)), (["50, 100"], .contradictory), (["50", "100"], .contradictory),
      (["five"], .contradictory), (["5, five"], .contradictory), (["-5"], .contradictory),
      ([""], .contradictory), (["5,"], .bytes(5)),
    ] as [([String], BodyLength)])
  func `the length of a body is what all fields say`(values: [String], length: BodyLength) {
    let fields = HTTPCache.Fields(values.map { (name: "content-length", value: $0) })
    #expect(fields.bodyLength == length)
  }

  @Test(arguments: ["4", "4, 4", "5, 5", "4, 5", "x"], [true, false])
  func `a body of another length is not stored`(length: String, isInChunks: Bool) async throws {
    let origin = Origin { _ in
      let chunks = Chunks()
      chunks.send("body")
      chunks.finish()
      return (
        .init(status: 200, fields: ["Cache-Control": "max-age=9", "Content-Length": length]),
        isInChunks ? chunks.body : .init(Data("body".utf8))
      )
    }
    let cache = origin.cache()
    #expect(try await origin.get(from: cache).text == "body")
    let isStored = cache.storedResponse(to: try Origin.request()) != nil
    #expect(isStored == ["4", "4, 4"].contains(length))
  }

  // Cache-Status said "stored" of bodies and heads that were too large.
  @Test(arguments: 0..<UInt64(Effort.times(150)))
  func `what is said to be stored is stored`(seed: UInt64) async throws {
    var random = SplitMix(seed: seed)
    let size = [0, 1, 900, 1_100, 4_500, 30_000].randomElement(using: &random) ?? 0
    let headSize = [1, 2_000, HTTPCache.Limits.headSizeLimit].randomElement(using: &random) ?? 1
    let isInChunks = Bool.random(using: &random)
    let directory = Bool.random(using: &random) ? try TemporaryDirectory(inMemory: true) : nil
    let limits = HTTPCache.Limits(
      memorySizeLimit: [4_000, 8_000, 1 << 20].randomElement(using: &random) ?? 0,
      diskSizeLimit: [10_000, 1 << 20].randomElement(using: &random) ?? 0,
      bodySizeLimit: [1_000, 20_000].randomElement(using: &random) ?? 0, bufferSizeLimit: 1_000)
    let origin = Origin { _ in
      let fields: HTTPCache.Fields = [
        "Cache-Control": "max-age=9", "Content-Length": "\(size)",
        "A": String(repeating: "a", count: headSize),
      ]
      let chunks = Chunks()
      chunks.send(Data(count: size))
      chunks.finish()
      return (
        .init(status: 200, fields: fields), isInChunks ? chunks.body : .init(Data(count: size))
      )
    }
    let cache = origin.cache(in: directory?.url.appending(path: "http"), limits: limits)
    let reply = try await origin.get(from: cache)
    #expect(try await reply.body.data().count == size)
    let isStored = cache.storedResponse(to: try Origin.request()) != nil
    #expect(reply.outcome.isStored == isStored, "\(size) \(headSize) \(limits)")
    #expect(reply.outcome.cacheStatus().contains("; stored") == isStored)
  }

  /// A confirmation of what was removed meanwhile stores nothing.
  @Test func `a confirmation of what is gone is not stored`() async throws {
    let origin = Origin(["Cache-Control": "max-age=1", "ETag": "\"a\""])
    let cache = origin.cache()
    _ = try await origin.get(from: cache)
    origin.advance(2)
    origin.answer { request in
      // Another variant takes its place, as in another process.
      cache.store(
        .init(status: 200, fields: ["Cache-Control": "max-age=1"]), Data("new".utf8), for: request)
      return (.init(status: 304, fields: [:]), .init())
    }
    let reply = try await origin.get(from: cache)
    if reply.outcome.source == .revalidated { #expect(!reply.outcome.isStored) }
  }
}
