import Foundation
import Testing

@testable import SteadCaches

@Suite struct ReceptionTests {
  private static let now = Date(timeIntervalSince1970: 1_800_000_000)

  private func receive(
    _ status: Int, _ fields: HTTPCache.Fields, to request: HTTPCache.Request? = nil,
    about stored: StoredResponse? = nil
  ) throws -> StoreDecision {
    StoreDecision.make(
      of: HTTPCache.Response(status: status, fields: fields), to: try request ?? Origin.request(),
      about: stored,
      requestedAt: Self.now, receivedAt: Self.now, id: "new")
  }

  private func stored(_ fields: HTTPCache.Fields) throws -> StoredResponse {
    try #require(
      StoreDecision.draft(
        of: HTTPCache.Response(status: 200, fields: fields), to: Origin.request(),
        requestedAt: Self.now - 60,
        receivedAt: Self.now - 60, id: "old"))
  }

  private func isStored(
    _ status: Int, _ fields: HTTPCache.Fields, _ asked: HTTPCache.Fields = [:],
    method: String = "GET"
  ) throws -> Bool {
    let request = try Origin.request("/", asked, method: method)
    if case .store = try receive(status, fields, to: request) { return true }
    return false
  }

  @Test(arguments: [
    (200, "", true), (200, "no-store", false), (200, "no-store, must-understand", true),
    (599, "no-store, must-understand, max-age=9", false),
    (599, "must-understand, max-age=9", false),
    (599, "", false), (599, "max-age=9", true), (599, "public", true), (201, "", false),
    (302, "", false),
    (302, "max-age=9", true), (404, "", true), (503, "", false), (503, "max-age=9", true),
    (304, "max-age=9", false),
    (100, "max-age=9", false), (999, "max-age=9", false), (206, "max-age=9", false),
    (200, "private", true),
  ])
  func `stores what may be stored`(status: Int, control: String, isStored: Bool) throws {
    #expect(try self.isStored(status, ["Cache-Control": control]) == isStored)
  }

  @Test func `stores no response of other requests`() throws {
    let fields: HTTPCache.Fields = ["Cache-Control": "max-age=9"]
    #expect(try !isStored(200, fields, method: "HEAD"))
    #expect(try !isStored(200, fields, method: "PUT"))
    #expect(try !isStored(200, fields, ["Cache-Control": "no-store"]))
    #expect(try isStored(200, fields, ["Authorization": "x", "Cookie": "y"]))
    #expect(try isStored(200, fields, ["Range": "bytes=0-1"]))
    #expect(try !isStored(416, fields, ["Range": "bytes=0-1"]))
    #expect(try !isStored(404, fields, ["Range": "bytes=0-1"]))
    let part: HTTPCache.Fields = ["Cache-Control": "max-age=9", "Content-Range": "bytes 0-1/4"]
    #expect(try isStored(206, part, ["Range": "bytes=0-1"]))
    #expect(try !isStored(206, part))
    #expect(try !isStored(206, fields, ["Range": "bytes=0-1"]))
  }

  @Test func `stores no fields of the connection`() throws {
    let fields: HTTPCache.Fields = [
      "Cache-Control": "max-age=9, no-cache=\"Secret\"", "Connection": "a, B", "A": "1", "b": "2",
      "C": "3",
      "Keep-Alive": "x", "Transfer-Encoding": "chunked", "Proxy-Authenticate": "x", "TE": "x",
      "Upgrade": "x",
      "secret": "4", "Set-Cookie": "d=e",
    ]
    guard case .store(let draft) = try receive(200, fields) else { return #expect(Bool(false)) }
    #expect(draft.response.fields.map(\.name) == ["Cache-Control", "C", "Set-Cookie", "Date"])
    #expect(draft.response.fields["Date"] == "Fri, 15 Jan 2027 08:00:00 GMT")
  }

  @Test func `updates what is confirmed`() throws {
    let old = try stored([
      "Cache-Control": "max-age=5", "ETag": "\"a\"", "A": "1", "B": "2", "Content-Length": "7",
      "Age": "9",
    ])
    let new: HTTPCache.Fields = [
      "Cache-Control": "max-age=50", "ETag": "\"a\"", "A": "3", "Content-Length": "0",
      "Content-Range": "x",
      "Connection": "D", "D": "4",
    ]
    guard case .confirmed(_, let updated?) = try receive(304, new, about: old) else {
      return #expect(Bool(false))
    }
    #expect(updated.id == "old")
    #expect(updated.response.status == 200)
    #expect(updated.response.fields["Cache-Control"] == "max-age=50")
    #expect(updated.response.fields["A"] == "3")
    #expect(updated.response.fields["B"] == "2")
    #expect(updated.response.fields["Content-Length"] == "7")
    #expect(!updated.response.fields.contains("Content-Range"))
    #expect(!updated.response.fields.contains("D"))
    #expect(!updated.response.fields.contains("Age"))
    #expect(updated.freshness.remaining(at: Self.now) == 50)
  }

  @Test func `keeps no huge confirmation`() throws {
    let size = HTTPCache.Limits.headSizeLimit / 2
    let old = try stored(["ETag": "\"a\"", "A": String(repeating: "a", count: size)])
    let more: HTTPCache.Fields = ["B": String(repeating: "b", count: size)]
    guard case .confirmed(let confirmed, kept: nil) = try receive(304, more, about: old) else {
      return #expect(Bool(false))
    }
    #expect(confirmed.id == old.id)
    #expect(confirmed.response.fields["B"] == more["B"])
    let instead: HTTPCache.Fields = ["a": String(repeating: "b", count: size)]
    guard case .confirmed(_, kept: _?) = try receive(304, instead, about: old) else {
      return #expect(Bool(false))
    }
  }

  @Test func `takes no confirmation of another`() throws {
    let old = try stored(["Cache-Control": "max-age=5", "ETag": "\"a\""])
    #expect(try receive(304, ["ETag": "\"b\""], about: old) == .fetchUnconditionally)
    guard case .confirmed = try receive(304, ["ETag": "W/\"a\""], about: old) else {
      return #expect(Bool(false))
    }
    // Without a validator of the cache's own, the client asked.
    let plain = try stored(["Cache-Control": "max-age=5"])
    #expect(try receive(304, [:], about: plain) == .forward)
    #expect(try receive(304, [:]) == .forward)
    guard case .confirmed(_, kept: nil) = try receive(304, ["Vary": "*"], about: old) else {
      return #expect(Bool(false))
    }
  }

  @Test(arguments: [
    ("max-age=5, stale-if-error=60", "", 503, true),
    ("max-age=5, stale-if-error=60", "", 500, true),
    ("max-age=5, stale-if-error=60", "", 404, false),
    ("max-age=5, stale-if-error=60", "", 501, false),
    ("max-age=5, stale-if-error=55", "", 503, false), ("max-age=5", "", 503, false),
    ("max-age=5", "stale-if-error=60", 503, true),
    ("max-age=5, must-revalidate", "stale-if-error=60", 503, false),
    ("max-age=5, no-cache, stale-if-error=60", "", 503, false),
    ("max-age=5, stale-if-error=60", "no-cache", 503, false),
  ])
  func `uses stale responses when the server fails`(
    control: String, asked: String, status: Int, isUsed: Bool
  ) throws {
    let old = try stored(["Cache-Control": control])
    let request = try Origin.request("/", ["Cache-Control": asked])
    #expect(try (receive(status, [:], to: request, about: old) == .useStale(old)) == isUsed)
  }

  /// A clock that was set back makes a response one of the future, whose age nobody knows; the server's failure is
  /// handed on then.
  @Test(arguments: [
    (-60.0, "max-age=5, stale-if-error=60", "", false),
    (-0.001, "max-age=5, stale-if-error=60", "", false),
    (-1, "max-age=5", "stale-if-error=600", false), (-1, "max-age=0, stale-if-error=60", "", false),
    (-86_400, "max-age=100000, stale-if-error=60", "", false),
    (0, "max-age=5, stale-if-error=60", "", true), (0, "max-age=0, stale-if-error=60", "", true),
    (64, "max-age=5, stale-if-error=60", "", true), (65, "max-age=5, stale-if-error=60", "", false),
    (64, "max-age=5", "stale-if-error=60", true), (65, "max-age=5", "stale-if-error=60", false),
  ])
  func `a response of the future is not used when the server fails`(
    secondsAgo: Double, control: String, asked: String, isUsed: Bool
  ) throws {
    let received = Self.now - secondsAgo
    let old = try #require(
      StoreDecision.draft(
        of: HTTPCache.Response(status: 200, fields: ["Cache-Control": control]),
        to: Origin.request(), requestedAt: received, receivedAt: received, id: "old"))
    let request = try Origin.request("/", ["Cache-Control": asked])
    #expect(StoreDecision.mayUseStale(old, for: request, .init(), now: Self.now) == isUsed)
    #expect(try (receive(503, [:], to: request, about: old) == .useStale(old)) == isUsed)
  }

  @Test func `replaces what fits the same requests`() throws {
    let request = try Origin.request("/", ["A": "1"])
    func new(
      _ id: String, _ fields: HTTPCache.Fields, to request: HTTPCache.Request, status: Int = 200
    ) throws
      -> StoredResponse
    {
      try #require(
        StoreDecision.draft(
          of: HTTPCache.Response(status: status, fields: fields), to: request,
          requestedAt: Self.now,
          receivedAt: Self.now, id: id))
    }
    let vary: HTTPCache.Fields = ["Vary": "A", "Cache-Control": "max-age=9"]
    let other = try Origin.request("/", ["A": "2"])
    let list = [try new("a", vary, to: request), try new("b", vary, to: other)]
    let added = VariantList.adding(
      try new("c", vary, to: request), for: request, to: list, now: Self.now)
    #expect(added.map(\.id) == ["b", "c"])
    #expect(
      VariantList.removing(
        matching: other, from: added, at: ResponseTimes(of: list[0]), now: Self.now
      ).map(
        \.id) == ["c"])
    var many: [StoredResponse] = []
    for number in 0..<20 {
      let request = try Origin.request("/", ["A": "\(number)"])
      many = VariantList.adding(
        try new("\(number)", vary, to: request), for: request, to: many, now: Self.now)
    }
    #expect(many.map(\.id) == (4..<20).map(String.init))
  }

  @Test func `keeps parts of the same version`() throws {
    let request = try Origin.request("/", ["Range": "bytes=0-1"])
    func part(_ id: String, _ range: String, _ tag: String) throws -> StoredResponse {
      try #require(
        StoreDecision.draft(
          of: HTTPCache.Response(status: 206, fields: ["ETag": tag, "Content-Range": range]),
          to: request,
          requestedAt: Self.now, receivedAt: Self.now, id: id))
    }
    let first = try part("a", "bytes 0-1/10", "\"x\"")
    let list = VariantList.adding(
      try part("b", "bytes 2-3/10", "\"x\""), for: request, to: [first], now: Self.now)
    #expect(list.map(\.id) == ["a", "b"])
    #expect(
      VariantList.adding(
        try part("c", "bytes 2-3/10", "\"x\""), for: request, to: list, now: Self.now
      ).map(\.id)
        == ["a", "c"])
    for (range, tag) in [
      ("bytes 4-5/10", "\"y\""), ("bytes 4-5/11", "\"x\""), ("bytes 4-5/10", "W/\"x\""),
    ] {
      #expect(
        VariantList.adding(try part("d", range, tag), for: request, to: list, now: Self.now).map(
          \.id) == ["d"])
    }
  }
}
