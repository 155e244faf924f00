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

  /// In a shared cache without a word of the server about cookies, the response is not used again at all.
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
    origin.answer(["Cache-Control": control], body: "new")
    let reply = try await origin.get(from: cache)
    let isNamed = control.contains("no-cache")
    #expect(reply.outcome.source == (isNamed || !isShared ? .hit : .miss))
    #expect(reply.response.fields.contains("Set-Cookie") == (!isNamed && !isShared))
  }
}
