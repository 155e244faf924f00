import Foundation
import Testing

@testable import SteadCaches

@Suite struct StoredAnswerTests {
  private static let now = Date(timeIntervalSince1970: 1_800_000_000)

  /// A stored response of ten bytes, or of the last six of them.
  private func stored(_ fields: HTTPCache.Fields = [:], isPart: Bool = false, status: Int = 200)
    throws
    -> StoredResponse
  {
    var all = fields
    if isPart { all["Content-Range"] = "bytes 4-9/10" }
    let request = try Origin.request("/", isPart ? ["Range": "bytes=4-"] : [:])
    var draft = try #require(
      StoreDecision.draft(
        of: HTTPCache.Response(status: isPart ? 206 : status, fields: all), to: request,
        requestedAt: Self.now, receivedAt: Self.now, id: "id"))
    draft.bodySize = isPart ? 6 : 10
    return draft
  }

  private func answer(
    _ stored: StoredResponse, _ asked: HTTPCache.Fields, method: String = "GET"
  ) throws -> StoredAnswer? {
    let request = try Origin.request("/", asked, method: method)
    return StoredAnswer.best(of: [stored], for: request).map {
      StoredAnswer($0, to: request, now: Self.now + 5)
    }
  }

  @Test(arguments: [
    ("bytes=0-1", 0..<2, "bytes 0-1/10"), ("bytes=8-", 8..<10, "bytes 8-9/10"),
    ("bytes=-3", 7..<10, "bytes 7-9/10"),
    ("bytes=5-99", 5..<10, "bytes 5-9/10"),
  ])
  func `cuts ranges from the whole`(range: String, positions: Range<Int>, written: String) throws {
    let answer = try #require(try answer(stored(["Content-Length": "10"]), ["Range": range]))
    #expect(answer.response.status == 206)
    #expect(answer.positions == positions)
    #expect(answer.response.fields["Content-Range"] == written)
    #expect(answer.response.fields["Content-Length"] == String(positions.count))
    #expect(answer.response.fields["Age"] == "5")
  }

  @Test func `cuts ranges from parts`() throws {
    let part = try stored(isPart: true)
    #expect(try answer(part, ["Range": "bytes=6-8"])?.positions == 2..<5)
    #expect(
      try answer(part, ["Range": "bytes=6-8"])?.response.fields["Content-Range"] == "bytes 6-8/10")
    #expect(try answer(part, ["Range": "bytes=-1"])?.positions == 5..<6)
    #expect(try answer(part, ["Range": "bytes=3-8"]) == nil)
    #expect(try answer(part, [:]) == nil)
    #expect(try answer(part, [:], method: "HEAD") == nil)
  }

  @Test func `leaves other ranges to the server`() throws {
    for range in ["bytes=10-", "bytes=0-1,3-4", "lines=1-2", "x"] {
      #expect(try answer(stored(), ["Range": range]) == nil, "\(range)")
    }
    // The positions count the encoded bytes, which the client may have decoded.
    #expect(try answer(stored(["Content-Encoding": "gzip"]), ["Range": "bytes=0-1"]) == nil)
    #expect(try answer(stored(status: 404), ["Range": "bytes=0-1"]) == nil)
  }

  @Test func `sends the whole when the range is of another version`() throws {
    let modified = "Wed, 07 Oct 2026 08:00:00 GMT"
    let whole = try stored(["ETag": "\"a\"", "Last-Modified": modified])
    for (condition, status) in [
      ("\"a\"", 206), ("\"b\"", 200), ("W/\"a\"", 200), (modified, 206), ("x", 200),
    ] {
      let answer = try answer(whole, ["Range": "bytes=0-1", "If-Range": condition])
      #expect(answer?.response.status == status, "\(condition)")
    }
  }

  @Test(arguments: [
    ("\"a\"", 304), ("W/\"a\"", 304), ("\"b\", \"a\"", 304), ("*", 304), ("\"b\"", 200), ("a", 200),
    ("\"b,\"a\"\"", 200),
    ("", 200),
  ])
  func `tells the client what it has`(tags: String, status: Int) throws {
    let answer = try #require(
      try answer(stored(["ETag": "\"a\"", "X": "y", "Vary": "Z"]), ["If-None-Match": tags]))
    #expect(answer.response.status == status)
    #expect(answer.positions.isEmpty == (status == 304))
    #expect(answer.response.fields["ETag"] == "\"a\"")
    #expect(answer.response.fields.contains("X") == (status == 200))
    #expect(answer.response.fields.contains("Vary"))
  }

  @Test func `compares dates without a tag`() throws {
    let modified = "Wed, 07 Oct 2026 08:00:00 GMT"
    let (before, after) = ("Wed, 07 Oct 2026 07:59:59 GMT", "Wednesday, 07-Oct-26 08:00:01 GMT")
    let dated = try stored(["ETag": "\"a\"", "Last-Modified": modified])
    #expect(try answer(dated, ["If-Modified-Since": modified])?.response.status == 304)
    #expect(try answer(dated, ["If-Modified-Since": after])?.response.status == 304)
    #expect(try answer(dated, ["If-Modified-Since": before])?.response.status == 200)
    #expect(
      try answer(dated, ["If-Modified-Since": after, "If-None-Match": "\"b\""])?.response.status
        == 200)
    #expect(try answer(stored(), ["If-Modified-Since": before])?.response.status == 200)
    #expect(
      try answer(stored(), ["If-Modified-Since": "Fri, 15 Jan 2027 08:00:00 GMT"])?.response.status
        == 304)
    #expect(try answer(stored(status: 404), ["If-None-Match": "*"])?.response.status == 404)
  }

  @Test func `sends no body to HEAD`() throws {
    let answer = try #require(try answer(stored(["Content-Length": "10"]), [:], method: "HEAD"))
    #expect(answer.positions.isEmpty)
    #expect(answer.response.fields["Content-Length"] == "10")
  }
}

/// Which confirmations are about a stored response, and which dates name one version.
@Suite struct ValidatorTests {
  private static let now = Date(timeIntervalSince1970: 1_800_000_000)
  private static let day = "Thu, 14 Jan 2027 08:00:00 GMT"
  private static let sameDay = "Thu Jan 14 08:00:00 2027"
  private static let otherDay = "Thu, 14 Jan 2027 08:00:01 GMT"

  private func stored(_ fields: HTTPCache.Fields, date: String? = nil) throws -> StoredResponse {
    var all = fields
    all["Cache-Control"] = "max-age=5"
    all["Date"] = date
    var draft = try #require(
      StoreDecision.draft(
        of: HTTPCache.Response(status: 200, fields: all), to: Origin.request(),
        requestedAt: Self.now - 60, receivedAt: Self.now - 60, id: "old"))
    draft.bodySize = 10
    return draft
  }

  /// What is stored, what the 304 has, and whether it is about what is stored.
  static let confirmations: [(HTTPCache.Fields, HTTPCache.Fields, Bool)] = [
    (["ETag": "\"a\""], ["ETag": "\"a\""], true), (["ETag": "\"a\""], ["ETag": "W/\"a\""], true),
    (["ETag": "W/\"a\""], ["ETag": "W/\"a\""], true),
    (["ETag": "W/\"a\""], ["ETag": "\"a\""], false),
    (["ETag": "\"a\""], ["ETag": "\"b\""], false),
    (["ETag": "\"a\""], ["ETag": "W/\"b\""], false), (["ETag": "a"], ["ETag": "a"], true),
    (["Last-Modified": day], ["ETag": "\"a\""], false),
    (
      ["ETag": "\"a\"", "Last-Modified": day], ["ETag": "\"a\"", "Last-Modified": otherDay], true
    ),
    (["ETag": "\"a\"", "Last-Modified": day], ["ETag": "\"b\"", "Last-Modified": day], false),
    (["ETag": "\"a\"", "Last-Modified": day], ["Last-Modified": day], true),
    (["ETag": "\"a\"", "Last-Modified": day], ["Last-Modified": otherDay], false),
    (["ETag": "\"a\""], ["Last-Modified": day], false), (["ETag": "\"a\""], [:], true),
    (["Last-Modified": day], [:], true), (["Last-Modified": day], ["Last-Modified": day], true),
    (["Last-Modified": day], ["Last-Modified": sameDay], true),
    (["Last-Modified": day], ["Last-Modified": otherDay], false),
    (["Last-Modified": day], ["Last-Modified": "yesterday"], false),
    (["Last-Modified": "yesterday"], ["Last-Modified": "yesterday"], true),
  ]

  // A 304 with the tag "a" updated a response that was stored with W/"a", whose bytes may be others, and a 304 with
  // another Last-Modified updated any response.
  @Test(arguments: confirmations)
  func `a 304 updates what has its validators`(
    fields: HTTPCache.Fields, confirmation: HTTPCache.Fields, isAboutIt: Bool
  ) throws {
    let reception = StoreDecision.make(
      of: HTTPCache.Response(status: 304, fields: confirmation), to: try Origin.request(),
      about: try stored(fields), requestedAt: Self.now, receivedAt: Self.now, id: "new")
    if case .confirmed(_, kept: _?) = reception {
      #expect(isAboutIt)
    } else {
      #expect(reception == .fetchUnconditionally && !isAboutIt)
    }
  }

  // A part was cut for a client whose If-Range had the date of the second in which the response was sent: the resource
  // may have changed again within it.
  @Test(
    arguments: [
      (day, otherDay, 206), (day, sameDay, 200), (day, day, 200), (otherDay, day, 200),
      (day, nil, 206),
      ("yesterday", otherDay, 200),
    ] as [(String, String?, Int)])
  func `a date names one version a second later`(
    modified: String, date: String?, status: Int
  ) throws {
    let whole = try stored(["Last-Modified": modified], date: date)
    let request = try Origin.request("/", ["Range": "bytes=0-1", "If-Range": modified])
    let best = try #require(StoredAnswer.best(of: [whole], for: request))
    #expect(StoredAnswer(best, to: request, now: Self.now).response.status == status)
  }
}
