import Foundation
import Testing

@testable import SteadCaches

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
