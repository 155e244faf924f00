import Foundation
import SteadTestSupport
import Testing

@testable import SteadCaches

/// Removals of a response about which a request has begun to ask the server in the background.
///
/// When such a request had returned and the response was removed at once, as at a logout, the server was often asked only
/// afterwards, with the old account's fields, and its answer was stored.
@Suite(.hangLimit) struct RevalidationRemovalTests {
  enum Removal: CaseIterable, Sendable {
    case all, url, prefix, host, storedSince, put, delete, post

    func run(on cache: HTTPCache, of origin: Origin) async throws {
      let url = try Origin.request().url
      switch self {
      case .all: cache.removeAll()
      case .url: cache.removeResponses(for: url)
      case .prefix: cache.removeResponses(withPrefix: url)
      case .host: cache.removeResponses(fromHost: "a.example")
      case .storedSince: cache.removeResponses(storedSince: .distantPast)
      case .put: _ = try await origin.get(method: "PUT", from: cache)
      case .delete: _ = try await origin.get(method: "DELETE", from: cache)
      // Its response names the other URL.
      case .post: _ = try await origin.get("/form", method: "POST", from: cache)
      }
    }
  }

  enum Moment: CaseIterable, Sendable {
    /// The request has returned, and perhaps nothing is sent yet.
    case atOnce
    case beforeItIsSent, whileTheServerIsAsked, whileTheBodyComes
  }

  /// What the server answers in the background; one that confirms nothing makes the cache ask again.
  enum Answer: CaseIterable, Sendable { case new, confirmation, otherConfirmation }

  private static let fields: HTTPCache.Fields = [
    "Cache-Control": "max-age=1, stale-while-revalidate=100", "ETag": "\"a\"",
  ]

  /// A server whose response is stored, and stale.
  private static func origin(
    _ cache: (Origin) -> HTTPCache, _ answer: Answer = .new, gate: Event? = nil,
    _ chunks: Chunks? = nil
  ) async throws -> (Origin, HTTPCache) {
    let origin = Origin(fields)
    let cache = cache(origin)
    _ = try await origin.get(from: cache)
    origin.advance(2)
    origin.answer { request in
      guard request.method == "GET" else {
        return (.init(status: 201, fields: ["Location": "/"]), .init())
      }
      await gate?.wait()
      guard answer == .new || !request.fields.contains("If-None-Match") else {
        let tag = answer == .confirmation ? "\"a\"" : "\"b\""
        return (.init(status: 304, fields: ["ETag": tag]), .init())
      }
      return (.init(status: 200, fields: fields), chunks?.body ?? .init(Data("new".utf8)))
    }
    return (origin, cache)
  }

  private static func questions(_ origin: Origin) -> Int {
    origin.requests.count { $0.method == "GET" }
  }

  /// Begins to ask in the background after a removal, as a request does whose task waits for its turn. Returns what begins
  /// that once more.
  private static func ask(
    _ cache: HTTPCache, of origin: Origin, after removal: () async throws -> Void
  ) async throws -> () -> Void {
    let request = try Origin.request()
    let key = try #require(cache.key(request.url))
    let stored = try #require(cache.store.responses(for: key).first)
    let pending = HTTPCache.PendingFetch(
      fetchKey: cache.fetchKey(of: request, under: key, .standard), outgoing: request,
      stored: stored,
      fetch: origin.fetch, isInBackground: true)
    try await removal()
    let ask = { _ = cache.revalidate(stored, pending) }
    ask()
    return ask
  }

  private static func check(
    _ removal: Removal, _ moment: Moment, _ answer: Answer, _ directory: URL?
  ) async throws {
    let gate = moment == .whileTheServerIsAsked ? Event() : nil
    let chunks = moment == .whileTheBodyComes ? Chunks() : nil
    let (origin, cache) = try await origin({ $0.cache(in: directory) }, answer, gate: gate, chunks)
    if moment == .beforeItIsSent {
      _ = try await ask(cache, of: origin) { try await removal.run(on: cache, of: origin) }
    } else {
      let reply = try await origin.get(from: cache)
      #expect(reply.outcome.source == .stale)
      while gate != nil, questions(origin) < 2 { await Task.yield() }
      if chunks != nil { await reply.waitForRevalidation() }
      try await removal.run(on: cache, of: origin)
    }
    gate?.happen()
    chunks?.send("new")
    chunks?.finish()
    await cache.finishRevalidations()
    if moment == .beforeItIsSent { #expect(questions(origin) == 1) }
    #expect(cache.storedURLs == [], "\(moment), \(answer)")
    #expect(cache.storedResponse(to: try Origin.request()) == nil, "\(moment), \(answer)")
  }

  @Test(arguments: Removal.allCases, [false, true])
  func `nothing is stored that was asked for before a removal`(
    removal: Removal, isOnDisk: Bool
  ) async throws {
    for moment in Moment.allCases {
      for answer in Answer.allCases {
        let directory = isOnDisk ? try TemporaryDirectory(inMemory: true) : nil
        try await Self.check(removal, moment, answer, directory?.url.appending(path: "http"))
      }
    }
  }

  // A stored response that is removed while the server confirms it has no body any more, so the server is asked once more.
  @Test(arguments: Removal.allCases, Answer.allCases)
  func `nothing is stored that a request asks for once more after a removal`(
    removal: Removal, answer: Answer
  ) async throws {
    let gate = Event()
    let (origin, cache) = try await Self.origin({ $0.cache() }, answer, gate: gate)
    let reply = Task { try await origin.get(mode: .revalidate, from: cache) }
    while Self.questions(origin) < 2 { await Task.yield() }
    try await removal.run(on: cache, of: origin)
    gate.happen()
    #expect(try await reply.value.text == "new")
    #expect(try await !reply.value.outcome.isStored)
    #expect(cache.storedURLs == [])
    #expect(try await origin.get(from: cache).outcome.isStored)
  }

  @Test(arguments: Removal.allCases)
  func `nothing is asked about a response that another object has removed`(
    removal: Removal
  ) async throws {
    let directory = try TemporaryDirectory(inMemory: true)
    let place = directory.url.appending(path: "http")
    let (origin, cache) = try await Self.origin { $0.cache(in: place) }
    let other = origin.cache(in: place)
    let ask = try await Self.ask(cache, of: origin) {
      try await removal.run(on: other, of: origin)
    }
    await cache.finishRevalidations()
    #expect(Self.questions(origin) == 1)
    ask()
    // A request that comes at the same time, and may have joined it, asks itself.
    #expect(try await origin.get(from: cache).text == "new")
    await cache.finishRevalidations()
    #expect(Self.questions(origin) == 2)
  }
}
