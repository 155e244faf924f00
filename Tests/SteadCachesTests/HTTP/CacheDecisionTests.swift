import Foundation
import Testing

@testable import SteadCaches

/// A row: the stored response's fields, how long ago it came, the request's fields, and what is decided.
@Suite struct CacheDecisionTests {
  private static let now = Date(timeIntervalSince1970: 1_800_000_000)

  private static func stored(
    _ fields: HTTPCache.Fields, secondsAgo: TimeInterval, status: Int = 200,
    to request: HTTPCache.Request
  ) -> [StoredResponse] {
    let moment = now - secondsAgo
    let draft = StoreDecision.draft(
      of: HTTPCache.Response(status: status, fields: fields), to: request, requestedAt: moment,
      receivedAt: moment,
      id: "id")
    return draft.map { [$0] } ?? []
  }

  private func decide(
    _ fields: HTTPCache.Fields, secondsAgo: TimeInterval, _ asked: HTTPCache.Fields = [:],
    method: String = "GET", mode: HTTPCache.Mode = .standard, isOffline: Bool = false
  ) throws -> String {
    let request = try Origin.request("/", asked, method: method)
    let stored = Self.stored(fields, secondsAgo: secondsAgo, to: try Origin.request())
    let decision = CacheDecision.make(
      for: request, mode: mode, HTTPCache.Settings(isOffline: isOffline), stored: stored,
      now: Self.now)
    return switch decision {
    case .bypass: "bypass"
    case .use(_, let isStale): isStale ? "stale" : "fresh"
    case .useAndRevalidate: "stale, revalidate"
    case .fetch(let question, let about):
      about == nil ? "fetch" : question.fields.contains("If-None-Match") ? "validate" : "ask"
    case .unavailable: "504"
    case .fail(let code): code == .offline ? "offline" : "not stored"
    }
  }

  @Test(
    arguments: [
      (["Cache-Control": "max-age=10"], 9.0, "fresh"), (["Cache-Control": "max-age=10"], 10, "ask"),
      (["Cache-Control": "max-age=10", "Age": "5"], 5, "ask"),
      (["Cache-Control": "max-age=10", "Age": "x"], 5, "fresh"),
      (["Cache-Control": "max-age=10", "ETag": "\"a\""], 11, "validate"),
      (["Cache-Control": "max-age=10, no-cache", "ETag": "\"a\""], 1, "validate"),
      (["Cache-Control": "max-age=10, no-cache=\"x\""], 1, "fresh"),
      (["Cache-Control": "max-age=10, must-revalidate"], 9, "fresh"),
      (["Cache-Control": "max-age=10, must-revalidate, stale-while-revalidate=10"], 11, "ask"),
      (["Cache-Control": "max-age=10, stale-while-revalidate=5"], 11, "stale, revalidate"),
      (["Cache-Control": "max-age=10, stale-while-revalidate=5"], 15, "ask"),
      (["Cache-Control": "no-store, max-age=10"], 1, "fetch"),
      (["Cache-Control": "private, max-age=10"], 1, "fresh"),
      (["Cache-Control": "s-maxage=10"], 1, "ask"),
      (["Vary": "*", "Cache-Control": "max-age=10"], 1, "fetch"),
      (["Expires": "Fri, 15 Jan 2027 08:00:10 GMT"], 5, "fresh"),
      (
        ["Expires": "Fri, 15 Jan 2027 08:00:10 GMT", "Date": "Fri, 15 Jan 2027 08:00:05 GMT"], 1,
        "fresh"
      ),
      (
        ["Expires": "Fri, 15 Jan 2027 07:59:00 GMT", "Date": "Fri, 15 Jan 2027 07:59:00 GMT"], 1,
        "ask"
      ),
      (["Expires": "0"], 0, "ask"), (["Expires": "0", "Cache-Control": "max-age=5"], 1, "fresh"),
      ([:], 1, "ask"), (["CDN-Cache-Control": "max-age=10"], 1, "ask"),
      // A tenth of the 100 days between the two is 10 days, and a week is the limit.
      (["Last-Modified": "Wed, 07 Oct 2026 08:00:00 GMT"], 6 * 86_400, "fresh"),
      (["Last-Modified": "Wed, 07 Oct 2026 08:00:00 GMT"], 7 * 86_400, "ask"),
      // The response's own clock says that it is older.
      (["Cache-Control": "max-age=10", "Date": "Fri, 15 Jan 2027 07:59:45 GMT"], 0, "ask"),
    ] as [(HTTPCache.Fields, TimeInterval, String)])
  func `uses what is fresh`(
    fields: HTTPCache.Fields, secondsAgo: TimeInterval, decision: String
  ) throws {
    #expect(try decide(fields, secondsAgo: secondsAgo) == decision)
  }

  @Test(arguments: [
    ("max-age=20", "no-cache", 1.0, "ask"), ("max-age=20", "no-store", 1, "bypass"),
    ("max-age=20", "max-age=5", 6, "ask"), ("max-age=20", "max-age=5", 5, "fresh"),
    ("max-age=20", "max-age=0", 0, "ask"), ("max-age=20", "max-age=5, max-stale=5", 6, "fresh"),
    ("max-age=20", "min-fresh=10", 11, "ask"), ("max-age=20", "min-fresh=10", 10, "fresh"),
    ("max-age=20", "max-stale=10", 30, "stale"), ("max-age=20", "max-stale=10", 31, "ask"),
    ("max-age=20", "max-stale", 9999, "stale"),
    ("max-age=20, must-revalidate", "max-stale", 21, "ask"),
    ("max-age=20, no-cache", "max-stale", 1, "ask"), ("max-age=20", "only-if-cached", 1, "fresh"),
    ("max-age=20", "only-if-cached", 21, "504"),
    ("max-age=20", "only-if-cached, max-stale", 21, "stale"),
    ("max-age=20, stale-while-revalidate=9", "only-if-cached", 21, "stale"),
    ("no-store", "only-if-cached", 1, "504"),
    ("max-age=20", "only-if-cached, no-store", 1, "504"),
  ])
  func `does what the request asks`(
    stored: String, asked: String, secondsAgo: TimeInterval, decision: String
  ) throws {
    #expect(
      try decide(["Cache-Control": stored], secondsAgo: secondsAgo, ["Cache-Control": asked])
        == decision)
  }

  @Test(arguments: [
    (HTTPCache.Mode.standard, 1.0, "fresh"), (.standard, 21, "ask"), (.reload, 1, "fetch"),
    (.bypass, 1, "bypass"),
    (.revalidate, 1, "ask"), (.preferStored, 999, "stale"), (.preferStored, 1, "fresh"),
    (.onlyStored, 999, "stale"),
  ])
  func `does what the mode asks`(
    mode: HTTPCache.Mode, secondsAgo: TimeInterval, decision: String
  ) throws {
    #expect(
      try decide(["Cache-Control": "max-age=20"], secondsAgo: secondsAgo, mode: mode) == decision)
  }

  @Test func `fails or fetches without a stored response`() throws {
    let none: HTTPCache.Fields = ["Cache-Control": "no-store"]
    #expect(try decide(none, secondsAgo: 1, mode: .onlyStored) == "not stored")
    #expect(try decide(none, secondsAgo: 1, mode: .preferStored) == "fetch")
    #expect(try decide(none, secondsAgo: 1, isOffline: true) == "offline")
    #expect(try decide(["Cache-Control": "no-cache"], secondsAgo: 1, isOffline: true) == "stale")
    #expect(try decide(none, secondsAgo: 1, method: "POST", isOffline: true) == "offline")
  }

  @Test func `leaves other methods and conditions to the server`() throws {
    let fresh: HTTPCache.Fields = ["Cache-Control": "max-age=20"]
    #expect(try decide(fresh, secondsAgo: 1, method: "POST") == "bypass")
    #expect(try decide(fresh, secondsAgo: 1, method: "get") == "bypass")
    #expect(try decide(fresh, secondsAgo: 1, method: "HEAD") == "fresh")
    #expect(try decide(fresh, secondsAgo: 1, ["If-Match": "\"a\""]) == "bypass")
    #expect(try decide(fresh, secondsAgo: 1, ["If-Unmodified-Since": "x"]) == "bypass")
    var request = try Origin.request()
    request.hasBody = true
    let stored = Self.stored(fresh, secondsAgo: 1, to: try Origin.request())
    let decision = CacheDecision.make(
      for: request, mode: .standard, stored: stored, now: Self.now)
    #expect(decision == .bypass)
  }

  /// A method, a condition or a field that rules out a stored response doesn't open the way to the server.
  @Test func `sends nothing where only a stored response is wanted`() throws {
    let fresh: HTTPCache.Fields = ["Cache-Control": "max-age=20"]
    let noStore: HTTPCache.Fields = ["Cache-Control": "no-store"]
    for fields in [noStore, ["If-Match": "\"a\""], ["If-Unmodified-Since": "x"]] {
      #expect(try decide(fresh, secondsAgo: 1, fields, mode: .onlyStored) == "not stored")
    }
    #expect(try decide(fresh, secondsAgo: 1, method: "POST", mode: .onlyStored) == "not stored")
    #expect(
      try decide(fresh, secondsAgo: 1, noStore, mode: .onlyStored, isOffline: true) == "offline")
    let ifCached: HTTPCache.Fields = ["Cache-Control": "only-if-cached"]
    #expect(try decide(fresh, secondsAgo: 1, ifCached, method: "POST") == "504")
    #expect(try decide(fresh, secondsAgo: 1, ifCached, mode: .bypass) == "504")
    #expect(try decide(noStore, secondsAgo: 1, ifCached, mode: .preferStored) == "504")
    #expect(try decide(fresh, secondsAgo: 99, ifCached, mode: .preferStored) == "stale")
  }

  @Test func `uses immutable responses without a question`() throws {
    let fields: HTTPCache.Fields = ["Cache-Control": "max-age=20, immutable", "ETag": "\"a\""]
    #expect(try decide(fields, secondsAgo: 1, mode: .revalidate) == "fresh")
    #expect(try decide(fields, secondsAgo: 21, mode: .revalidate) == "validate")
    #expect(try decide(fields, secondsAgo: 1, ["Cache-Control": "no-cache"]) == "validate")
  }

  /// A clock that was set back says nothing about the age of what came after.
  @Test func `trusts no response of the future`() throws {
    #expect(try decide(["Cache-Control": "max-age=20"], secondsAgo: -1) == "ask")
    #expect(
      try decide(["Cache-Control": "max-age=20, stale-while-revalidate=60"], secondsAgo: -1)
        == "ask")
  }

  @Test func `asks with both validators`() throws {
    let fields: HTTPCache.Fields = [
      "ETag": "W/\"a\"", "Last-Modified": "Wed, 07 Oct 2026 08:00:00 GMT", "Expires": "0",
    ]
    let request = try Origin.request("/", ["If-None-Match": "\"mine\"", "X": "y"])
    let stored = Self.stored(fields, secondsAgo: 1, to: try Origin.request())
    let decision = CacheDecision.make(
      for: request, mode: .revalidate, stored: stored, now: Self.now)
    guard case .fetch(let question, _) = decision else {
      return #expect(Bool(false), "\(decision)")
    }
    #expect(question.fields["If-None-Match"] == "W/\"a\"")
    #expect(question.fields["If-Modified-Since"] == "Wed, 07 Oct 2026 08:00:00 GMT")
    #expect(question.fields["Cache-Control"] == "max-age=0")
    #expect(question.fields["X"] == "y")
  }

  @Test func `prefers the newest of those that fit`() throws {
    let old = Self.stored(["Cache-Control": "max-age=90"], secondsAgo: 20, to: try Origin.request())
    let new = Self.stored(
      ["Cache-Control": "max-age=90", "New": ""], secondsAgo: 10, to: try Origin.request())
    let request = try Origin.request()
    for list in [old + new, new + old] {
      #expect(
        CacheDecision.make(
          for: request, mode: .standard, stored: list, now: Self.now)
          == .use(new[0], isStale: false))
    }
  }
}
