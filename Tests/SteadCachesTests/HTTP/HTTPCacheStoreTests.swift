import Foundation
import SteadFiles
import SteadTestSupport
import Testing

@testable import SteadCaches

/// What is stored, for how long, and how it goes.
@Suite(.hangLimit) struct HTTPCacheStoreTests {
  private let directory: TemporaryDirectory
  private let place: URL

  init() throws {
    directory = try TemporaryDirectory(inMemory: true)
    place = directory.url.appending(path: "http", directoryHint: .isDirectory)
  }

  private let fresh: HTTPCache.Fields = ["Cache-Control": "max-age=100"]

  private func isStored(_ path: String, in cache: HTTPCache) throws -> Bool {
    cache.storedResponse(to: try Origin.request(path)) != nil
  }

  @Test func `outlives the object`() async throws {
    let origin = Origin(["Cache-Control": "max-age=100", "A": "1", "Vary": "B"])
    _ = try await origin.get(from: origin.cache(in: place))
    let reply = try await origin.get(from: origin.cache(in: place))
    #expect(reply.outcome.source == .hit)
    #expect(reply.response.fields["A"] == "1")
    #expect(try await reply.text == "body")
    #expect(
      try await origin.get("/", ["B": "2"], from: origin.cache(in: place)).outcome.source == .miss)
  }

  /// A page in memory counts only while the one on disk is the same.
  @Test func `sees what others change`() async throws {
    let origin = Origin(fresh)
    let (one, two) = (origin.cache(in: place), origin.cache(in: place))
    _ = try await origin.get(from: one)
    #expect(try await origin.get(from: two).outcome.source == .hit)
    #expect(try await origin.get(from: one).outcome.source == .hit)
    origin.answer(fresh, body: "new")
    _ = try await origin.get(mode: .reload, from: two)
    #expect(try await origin.get(from: one).text == "new")
    origin.answer(status: 204, [:])
    _ = try await origin.get(method: "DELETE", from: two)
    #expect(try !isStored("/", in: one))
  }

  @Test func `belongs to the user alone`() async throws {
    let origin = Origin(fresh)
    _ = try await origin.get(from: origin.cache(in: place))
    #expect(try place.mode == 0o700)
    for name in try FileManager.default.contentsOfDirectory(atPath: place.filePath) {
      #expect(try place.file(name).mode & 0o077 == 0 || name == "CACHEDIR.TAG", "\(name)")
    }
  }

  @Test func `writes no secret of a request`() async throws {
    let origin = Origin(["Cache-Control": "max-age=100", "Vary": "Cookie"])
    let cache = origin.cache(in: place)
    let secrets: HTTPCache.Fields = ["Authorization": "Bearer sesame", "Cookie": "id=sesame"]
    _ = try await origin.get("/", secrets, from: cache)
    #expect(try await origin.get("/", secrets, from: cache).outcome.source == .hit)
    for name in try FileManager.default.contentsOfDirectory(atPath: place.filePath) {
      guard let bytes = try? Data(contentsOf: place.file(name)) else { continue }
      #expect(bytes.range(of: Data("sesame".utf8)) == nil, "\(name)")
    }
  }

  @Test(arguments: [true, false])
  func `is cleared by URL, host and date`(isOnDisk: Bool) async throws {
    let origin = Origin(fresh)
    let cache = origin.cache(in: isOnDisk ? place : nil)
    func fill() async throws {
      for url in ["/a", "/b", "http://B.example/", "http://b.example:8080/"] {
        _ = try await origin.get(url, from: cache)
      }
    }
    try await fill()
    cache.removeResponses(for: try Origin.request("/a#x").url)
    #expect(try !isStored("/a", in: cache))
    #expect(try isStored("/b", in: cache))
    cache.removeResponses(fromHost: "b.EXAMPLE")
    #expect(try !isStored("http://b.example/", in: cache))
    #expect(try !isStored("http://b.example:8080/", in: cache))
    #expect(try isStored("/b", in: cache))
    let date = origin.now + 1
    origin.advance(2)
    _ = try await origin.get("/c", from: cache)
    cache.removeResponses(storedSince: date)
    #expect(try !isStored("/c", in: cache))
    #expect(try isStored("/b", in: cache))
    try await fill()
    cache.removeAll()
    for url in ["/a", "/b", "/c", "http://b.example/"] { #expect(try !isStored(url, in: cache)) }
    if isOnDisk { #expect(cache.diskSize == 0) }
    #expect(cache.memorySize == 0)
  }

  /// A body that came before a date stays beside one of the same URL that came later, and a confirmation changes nothing.
  @Test(arguments: [true, false])
  func `is cleared by the date of each body`(isOnDisk: Bool) async throws {
    let fields: HTTPCache.Fields = ["Cache-Control": "max-age=100", "Vary": "A", "ETag": "\"1\""]
    let origin = Origin(fields)
    let cache = origin.cache(in: isOnDisk ? place : nil)
    _ = try await origin.get("/", ["A": "1"], from: cache)
    let date = origin.now + 1
    origin.advance(2)
    _ = try await origin.get("/", ["A": "2"], from: cache)
    origin.answer(status: 304, fields)
    let reply = try await origin.get("/", ["A": "1"], mode: .revalidate, from: cache)
    #expect(reply.outcome.source == .revalidated)
    cache.removeResponses(storedSince: date)
    #expect(cache.storedResponse(to: try Origin.request("/", ["A": "1"])) != nil)
    #expect(cache.storedResponse(to: try Origin.request("/", ["A": "2"])) == nil)
    cache.removeResponses(storedSince: date - 1)
    #expect(cache.storedResponse(to: try Origin.request("/", ["A": "1"])) == nil)
    #expect(cache.memorySize == 0)
  }

  /// The page stays for the older response, so the other object saw no change, and kept the body in memory.
  @Test func `is cleared by date for other objects`() async throws {
    let fields: HTTPCache.Fields = ["Cache-Control": "max-age=100", "Vary": "A"]
    let origin = Origin(fields)
    let (cache, other) = (origin.cache(in: place), origin.cache(in: place))
    _ = try await origin.get("/", ["A": "1"], from: cache)
    let date = origin.now + 1
    origin.advance(2)
    _ = try await origin.get("/", ["A": "2"], from: cache)
    other.removeResponses(storedSince: date)
    let asked = origin.requests.count
    let new = try await origin.get("/", ["A": "2"], from: cache)
    #expect(new.outcome.source == .miss)
    let old = try await origin.get("/", ["A": "1"], from: cache)
    #expect(old.outcome.source == .hit)
    #expect(origin.requests.count == asked + 1)
  }

  /// A body counts from its end, since it is stored then.
  @Test(arguments: [true, false])
  func `is cleared by the date of a body's end`(isOnDisk: Bool) async throws {
    let (fields, chunks) = (fresh, Chunks())
    let origin = Origin { _ in (.init(status: 200, fields: fields), chunks.body) }
    let cache = origin.cache(in: isOnDisk ? place : nil)
    let reply = try await origin.get(from: cache)
    let date = origin.now + 1
    origin.advance(2)
    chunks.send("body")
    chunks.finish()
    #expect(try await reply.text == "body")
    #expect(try isStored("/", in: cache))
    cache.removeResponses(storedSince: date)
    #expect(try !isStored("/", in: cache))
  }

  /// The server may have made the response before the change.
  @Test(arguments: [true, false], ["POST", "clear", "clear all"])
  func `does not come back with a request that was on its way`(
    isOnDisk: Bool, how: String
  ) async throws {
    let (gate, fields) = (Event(), fresh)
    let origin = Origin { request in
      if request.method == "POST" { return (.init(status: 204), .init()) }
      await gate.wait()
      return (.init(status: 200, fields: fields), .init(Data("old".utf8)))
    }
    let cache = origin.cache(in: isOnDisk ? place : nil)
    async let old = origin.get(from: cache)
    while origin.requests.isEmpty { await Task.yield() }
    switch how {
    case "POST": _ = try await origin.get(method: "POST", from: cache)
    case "clear": cache.removeResponses(for: try Origin.request().url)
    default: cache.removeAll()
    }
    gate.happen()
    #expect(try await old.text == "old")
    #expect(try !isStored("/", in: cache))
    #expect(try await origin.get(from: cache).outcome.source == .miss)
    #expect(try isStored("/", in: cache))
  }

  @Test func `keeps its limits`() async throws {
    let origin = Origin { request in
      let size = Int(request.url.lastPathComponent) ?? 0
      let fields: HTTPCache.Fields = ["Cache-Control": "max-age=100"]
      return (.init(status: 200, fields: fields), .init(Data(repeating: 1, count: size)))
    }
    let limits = HTTPCache.Limits(
      memorySizeLimit: 100_000, diskSizeLimit: 300_000, bodySizeLimit: 50_000)
    let cache = origin.cache(in: place, limits: limits)
    for number in 0..<100 {
      _ = try await origin.get("http://\(number).example/\(number * 600)", from: cache)
      #expect(cache.memorySize <= 100_000)
      #expect(cache.diskSize <= 300_000)
    }
    #expect(cache.diskSize > 200_000)
    #expect(try !isStored("http://99.example/59400", in: cache))
    #expect(try isStored("http://83.example/49800", in: cache))
  }

  @Test func `stores no huge heads`() async throws {
    let origin = Origin(["Cache-Control": "max-age=9", "A": String(repeating: "a", count: 300_000)])
    let cache = origin.cache(in: place)
    _ = try await origin.get(from: cache)
    #expect(try !isStored("/", in: cache))
    #expect(cache.diskSize == 0)
  }

  /// A body that the disk has lost is a miss, and so is one that is damaged.
  @Test func `fetches what the disk has lost`() async throws {
    let origin = Origin(fresh, body: String(repeating: "x", count: 300_000))
    let limits = HTTPCache.Limits(memorySizeLimit: 1000)
    _ = try await origin.get(from: origin.cache(in: place, limits: limits))
    let values = place.appending(path: "values", directoryHint: .isDirectory)
    for name in try FileManager.default.contentsOfDirectory(atPath: values.filePath) {
      try FileManager.default.removeItem(at: values.file(name))
    }
    let reply = try await origin.get(from: origin.cache(in: place, limits: limits))
    #expect(reply.outcome.source == .miss)
    #expect(try await reply.body.data().count == 300_000)
    #expect(
      try await origin.get(from: origin.cache(in: place, limits: limits)).outcome.source == .hit)
  }

  /// Without a directory that can be used, responses are kept in memory, and the app goes on.
  @Test func `works without a directory`() async throws {
    try Data("not a directory".utf8).write(to: place.deletingLastPathComponent().file("file"))
    let origin = Origin(fresh)
    let cache = origin.cache(in: directory.url.file("file"))
    _ = try await origin.get(from: cache)
    #expect(try await origin.get(from: cache).outcome.source == .hit)
    cache.removeAll()
    #expect(try !isStored("/", in: cache))
    _ = try await origin.get(from: cache)
    origin.answer(status: 204, [:])
    _ = try await origin.get(method: "PUT", from: cache)
    #expect(try !isStored("/", in: cache))
  }
}
