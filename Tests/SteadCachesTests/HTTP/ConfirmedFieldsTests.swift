import Foundation
import SteadTestSupport
import Testing

@testable import SteadCaches

/// Fields that a server doesn't want to be used again, when it confirms a response.
@Suite(.hangLimit) struct ConfirmedFieldsTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let isShared: Bool
    /// What the first response says, and what the confirmation says; nil for nothing.
    let first: String
    let confirmation: String?
    /// Whether the named field may be used again.
    let isUsedAgain: Bool

    var testDescription: String {
      "\(isShared ? "shared" : "private"): \(first), then \(confirmation ?? "nothing")"
    }

    static let all: [Case] = [false, true].flatMap { isShared in
      [
        Case(
          isShared: isShared, first: "max-age=9, no-cache=\"X-User\"", confirmation: nil,
          isUsedAgain: false),
        Case(
          isShared: isShared, first: "max-age=9, private=\"X-User\"", confirmation: nil,
          isUsedAgain: !isShared),
        Case(
          isShared: isShared, first: "max-age=9", confirmation: "max-age=9, no-cache=\"x-user\"",
          isUsedAgain: false),
        Case(
          isShared: isShared, first: "max-age=9", confirmation: "max-age=9, private=\"x-user\"",
          isUsedAgain: !isShared),
        Case(isShared: isShared, first: "max-age=9", confirmation: nil, isUsedAgain: true),
        Case(
          isShared: isShared, first: "max-age=9, no-cache=\"X-User\"", confirmation: "max-age=9",
          isUsedAgain: true),
      ]
    }
  }

  // Only the confirmation's own `Cache-Control` was asked, and only about the confirmation's fields. Most confirmations have none: a
  // shared cache gave all users what it had confirmed one user's `Set-Cookie` with.
  @Test(arguments: Case.all, [true, false])
  func `a named field is not used again`(test: Case, hasNewField: Bool) async throws {
    let origin = Origin(["Cache-Control": test.first, "ETag": "\"a\"", "X-User": "anna"])
    let cache = origin.cache(configuration: .init(isShared: test.isShared))
    _ = try await origin.get(from: cache)
    origin.advance(10)
    var fields: HTTPCache.Fields = ["ETag": "\"a\""]
    fields["Cache-Control"] = test.confirmation
    if hasNewField { fields["X-User"] = "bob" }
    origin.answer(status: 304, fields, body: "")
    #expect(try await origin.get(from: cache).outcome.source == .revalidated)
    let reply = try await origin.get(from: cache)
    #expect(reply.outcome.source == .hit)
    let isKnown =
      hasNewField || !test.first.contains("X-User")
      || test.isUsedAgain && !test.isShared && test.confirmation == nil
    let expected = test.isUsedAgain && isKnown ? (hasNewField ? "bob" : "anna") : nil
    #expect(reply.response.fields["X-User"] == expected)
  }

  /// The response is used again, without the cookie.
  @Test(arguments: [false, true], ["max-age=9, no-cache=\"Set-Cookie\"", "max-age=9"])
  func `a cookie that comes with a confirmation is one user's`(
    isShared: Bool, control: String
  ) async throws {
    let origin = Origin(["Cache-Control": control, "ETag": "\"a\""])
    let cache = origin.cache(configuration: .init(isShared: isShared))
    _ = try await origin.get(from: cache)
    origin.advance(10)
    let cookies = ["session=anna", "theme=dark"]
    var fields: HTTPCache.Fields = ["ETag": "\"a\"", "Connection": "X-Hop", "X-Hop": "1"]
    for cookie in cookies { fields.append(cookie, named: "Set-Cookie") }
    origin.answer(status: 304, fields, body: "")
    let confirmed = try await origin.get(from: cache)
    #expect(confirmed.outcome.source == .revalidated)
    #expect(confirmed.response.fields.values(named: "Set-Cookie") == cookies)
    #expect(!confirmed.response.fields.contains("X-Hop"))
    let reply = try await origin.get(from: cache)
    #expect(reply.outcome.source == .hit)
    let isNamed = control.contains("no-cache")
    #expect(reply.response.fields.contains("Set-Cookie") == (!isNamed && !isShared))
  }

  /// What one user's request is answered, about a response that is for all.
  struct Personal: Sendable, CustomTestStringConvertible {
    let method: String
    /// Of the confirmation.
    let control: String?
    let hasAuthorization: Bool
    /// Whether the stored response has a cookie for all.
    let hasCookie: Bool

    var testDescription: String {
      "\(method), \(control ?? "nothing")\(hasAuthorization ? ", account" : "")\(hasCookie ? ", cookie" : "")"
    }

    var isForAnybody: Bool { control?.contains("public") == true }

    static let all = ["GET", "HEAD"].flatMap { method in
      [nil, "max-age=60", "public, max-age=60"].flatMap { control in
        [(false, false), (false, true), (true, false), (true, true)].map {
          Personal(method: method, control: control, hasAuthorization: $0.0, hasCookie: $0.1)
        }
      }
    }
  }

  // Only the merged `Cache-Control` was asked whether a cookie is for all: the stored response's `public` made it so for one
  // user's session, which came with a confirmation that said nothing.
  @Test(arguments: Personal.all)
  func `what one user is sent with a confirmation is not for all`(test: Personal) async throws {
    var stored: HTTPCache.Fields = ["Cache-Control": "public, max-age=60", "ETag": "\"a\""]
    if test.hasCookie { stored["Set-Cookie"] = "theme=dark" }
    let origin = Origin(stored)
    let cache = origin.cache(configuration: .init(isShared: true))
    _ = try await origin.get(from: cache)
    origin.advance(61)
    var fields: HTTPCache.Fields = [
      "ETag": "\"a\"", "Set-Cookie": "sid=anna", "X-User": "anna",
    ]
    fields["Cache-Control"] = test.control
    origin.answer(status: test.method == "HEAD" ? 200 : 304, fields, body: "")
    let own: HTTPCache.Fields = test.hasAuthorization ? ["Authorization": "anna"] : [:]
    let reply = try await origin.get("/", own, method: test.method, from: cache)
    #expect(reply.response.fields.values(named: "Set-Cookie") == ["sid=anna"])
    #expect(reply.response.fields["X-User"] == "anna")
    origin.answer(["Cache-Control": "no-store"], body: "new")
    let other = try await origin.get(from: cache)
    let isKept =
      test.control != "max-age=60" || !test.hasAuthorization && !test.hasCookie
    #expect(other.outcome.source == (isKept ? .hit : .miss))
    guard isKept else { return }
    #expect(
      other.response.fields["Set-Cookie"]
        == (test.isForAnybody ? "sid=anna" : test.hasCookie ? "theme=dark" : nil))
    let isForAll = test.isForAnybody || !test.hasAuthorization
    #expect(other.response.fields["X-User"] == (isForAll ? "anna" : nil))
  }

  // The caller got the fields of the stored response: what the server had just forbidden was allowed by them to caches on the
  // way, and the caller's own cookie was lost.
  @Test(
    arguments: ["no-store", "private", "Vary: *", "long"],
    [[:], ["If-None-Match": "\"a\""]]
      as [HTTPCache.Fields])
  func `a confirmation that forbids another use is passed on`(
    how: String, asked: HTTPCache.Fields
  ) async throws {
    let origin = Origin([
      "Cache-Control": "public, max-age=60, stale-while-revalidate=600", "ETag": "\"a\"",
      "Set-Cookie": "theme=dark", "X-Other": "1", "Content-Length": "4",
    ])
    let cache = origin.cache(configuration: .init(isShared: true))
    _ = try await origin.get(from: cache)
    origin.advance(61)
    let control = how.contains("Vary") || how == "long" ? "max-age=1" : how
    var fields: HTTPCache.Fields = ["ETag": "\"a\"", "Cache-Control": control]
    fields["Set-Cookie"] = "sid=anna"
    if how.contains("Vary") { fields["Vary"] = "*" }
    if how == "long" {
      fields["X-Long"] = String(repeating: "a", count: HTTPCache.Limits.headSizeLimit)
    }
    origin.answer(status: 304, fields, body: "")
    let reply = try await origin.get("/", asked, mode: .revalidate, from: cache)
    #expect(reply.outcome.source == .revalidated)
    #expect(!reply.outcome.isStored && reply.outcome.freshness == nil)
    #expect(reply.response.fields["Cache-Control"] == control)
    #expect(reply.response.fields["Vary"] == fields["Vary"])
    #expect(reply.response.fields.values(named: "Set-Cookie") == ["sid=anna"])
    #expect(reply.response.fields["X-Long"] == fields["X-Long"])
    #expect(reply.response.fields["Age"] == "0")
    if asked.isEmpty {
      #expect(try await reply.text == "body")
      #expect(reply.response.fields["X-Other"] == "1")
      #expect(reply.response.fields["Content-Length"] == "4")
    } else {
      #expect(reply.response.status == 304)
    }
    #expect(try cache.storedResponse(to: Origin.request()) == nil)
  }
}
