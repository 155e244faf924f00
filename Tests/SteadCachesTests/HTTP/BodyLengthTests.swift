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

  // Cache-Status said "stored" of bodies and heads that were too large, of bodies that a directory couldn't take, and of those
  // for which the other responses of a small cache left no room.
  @Test(arguments: 0..<UInt64(Effort.times(300)))
  func `what is said to be stored is stored`(seed: UInt64) async throws {
    var random = SplitMix(seed: seed)
    let (place, limits) = (Int.random(in: 0..<3, using: &random), limits(using: &random))
    let parent = try TemporaryDirectory(inMemory: true)
    let directory = parent.url.appending(path: "http")
    // A file in the place of the directory.
    if place == 2 { try Data().write(to: directory) }
    let cases = (0..<3).map { number -> (HTTPCache.Fields, Int, Bool, String) in
      let size =
        [0, 1, 900, 1_100, 1_400, 2_000, 4_500, 8_700, 9_300, 30_000].randomElement(using: &random)
        ?? 0
      let headSize =
        [1, 500, 2_000, 3_000, HTTPCache.Limits.headSizeLimit].randomElement(using: &random) ?? 1
      var fields: HTTPCache.Fields = [
        "Cache-Control": "max-age=9", "Vary": "A", "X": String(repeating: "a", count: headSize),
      ]
      if Bool.random(using: &random) { fields["Content-Length"] = "\(size)" }
      return (fields, size, Bool.random(using: &random), "\(number)")
    }
    let origin = Origin { request in
      let (fields, size, isInChunks, _) = cases[Int(request.fields["A"] ?? "") ?? 0]
      let chunks = Chunks()
      chunks.send(Data(count: size))
      chunks.finish()
      return (
        .init(status: 200, fields: fields), isInChunks ? chunks.body : .init(Data(count: size))
      )
    }
    let cache = origin.cache(in: place == 0 ? nil : directory, limits: limits)
    for (fields, size, isInChunks, name) in cases {
      let reply = try await origin.get("/", ["A": name], from: cache)
      #expect(try await reply.body.data().count == size)
      let request = try Origin.request("/", ["A": name])
      let isStored = cache.storedResponse(to: request) != nil
      let note: Comment = "\(place) \(size) \(fields["X"]?.count ?? 0) \(isInChunks) \(limits)"
      if isStored { #expect(reply.outcome.isStored, note) }
      // Before its end nobody knows whether a body without a length is too large.
      if !isInChunks || fields.contains("Content-Length") {
        #expect(reply.outcome.isStored == isStored, note)
      }
      #expect(reply.outcome.cacheStatus().contains("; stored") == reply.outcome.isStored)
    }
  }

  // `Cache-Status` said "stored" of these, whose length is not the one that the head states.
  @Test(arguments: [200, 204, 404], [nil, "0", "3", "5"])
  func `a response whose body can't have the stated length is not said to be stored`(
    status: Int, length: String?
  ) async throws {
    let body = status == 204 ? "" : "hello"
    for isChunked in [false, true] {
      let origin = Origin { _ in
        let chunks = Chunks()
        chunks.send(body)
        chunks.finish()
        var fields: HTTPCache.Fields = ["Cache-Control": "max-age=9"]
        if let length { fields["Content-Length"] = length }
        if isChunked { fields["Transfer-Encoding"] = "chunked" }
        return (.init(status: status, fields: fields), chunks.body)
      }
      let cache = origin.cache()
      let reply = try await origin.get(from: cache)
      #expect(String(decoding: try await reply.body.data(), as: UTF8.self) == body)
      let isStored = cache.storedResponse(to: try Origin.request()) != nil
      #expect(isStored == (length.map { !isChunked && $0 == "\(body.utf8.count)" } ?? true))
      // Of a body that ends early or late nobody knows it before.
      if length == nil || isChunked || status == 204 {
        #expect(reply.outcome.isStored == isStored)
        #expect(reply.outcome.cacheStatus().contains("; stored") == isStored)
      }
    }
  }

  /// A length near the greatest integer ended the program where a body has no limit.
  @Test(arguments: ["9223372036854775807", "99999999999999999999"], [true, false])
  func `any length may be stated`(length: String, isOnDisk: Bool) async throws {
    let origin = Origin { _ in
      let chunks = Chunks()
      chunks.send("body")
      chunks.finish()
      return (
        .init(status: 200, fields: ["Cache-Control": "max-age=9", "Content-Length": length]),
        chunks.body
      )
    }
    let directory = try TemporaryDirectory(inMemory: true)
    let limits = HTTPCache.Limits(
      memorySizeLimit: .max, diskSizeLimit: .max, bodySizeLimit: .max)
    let cache = origin.cache(in: isOnDisk ? directory.url : nil, limits: limits)
    #expect(try await origin.get(from: cache).text == "body")
    #expect(cache.storedResponse(to: try Origin.request()) == nil)
  }

  private func limits(using random: inout SplitMix) -> HTTPCache.Limits {
    HTTPCache.Limits(
      memorySizeLimit: [4_000, 8_000, 1 << 20].randomElement(using: &random) ?? 0,
      diskSizeLimit: [10_000, 1 << 20].randomElement(using: &random) ?? 0,
      bodySizeLimit: [1_000, 20_000].randomElement(using: &random) ?? 0, bufferSizeLimit: 1_000)
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
