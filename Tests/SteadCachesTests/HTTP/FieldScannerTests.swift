import Foundation
import SteadTestSupport
import Testing

@testable import SteadCaches

@Suite(.hangLimit) struct FieldScannerTests {
  @Test(arguments: [
    ("", []), (",", []), ("a", ["a"]), (" a ,\tb,, c ", ["a", "b", "c"]),
    ("\"a,b\", c", ["\"a,b\"", "c"]), ("\"a\\\",b\",c", ["\"a\\\",b\"", "c"]),
    ("\"a, b", ["\"a", "b"]), ("x=\"y\"z, \"q", ["x=\"y\"z", "\"q"]),
  ])
  func splitsListsOutsideOfQuotes(value: String, members: [String]) {
    #expect(FieldScanner.members(of: value) == members)
  }

  /// Each quote here could be looked for to the end of the value.
  @Test func takesTimeInProportionToTheLength() {
    let value = String(repeating: "\"\\", count: 200_000)
    #expect(FieldScanner.members(of: value).count == 1)
  }

  /// Servers send anything: no parser may stop the program.
  @Test func readsAnyBytes() async {
    var random = SplitMix(seed: Effort.seed)
    let parts = [
      "max-age", "=", "\"", "\\", ",", " ", "\t", "bytes", "-", "/", "*", "0", "9",
      "99999999999999999999", "W/",
      "é", "\0", "GMT", ":", "Sun,", "06", "Nov", "no-cache", ";", "q=", "nan", "http://", "[", "]",
      "@", "?", "#",
    ]
    for number in 0..<Effort.times(Effort.isLong ? 20_000 : 10_000) {
      if number.isMultiple(of: 500) { await Task.yield() }
      let value = (0..<Int.random(in: 0...8, using: &random)).map { _ in
        parts.randomElement(using: &random) ?? ""
      }.joined()
      let fields: HTTPCache.Fields = [
        "Cache-Control": value, "Age": value, "Date": value, "Expires": value,
        "Last-Modified": value,
        "ETag": value, "Vary": value, "Content-Range": value, "Content-Length": value,
        "Connection": value,
        "Range": value, "If-Range": value, "If-None-Match": value, "If-Modified-Since": value,
        "Accept-Language": value, "Location": value, "Content-Location": value,
      ]
      let request = HTTPCache.Request(
        url: URL(string: value) ?? URL(filePath: "/"), fields: fields)
      let response = HTTPCache.Response(status: 206, fields: fields)
      let now = Date(timeIntervalSince1970: 1_800_000_000)
      let draft = StoreDecision.draft(
        of: response, to: request, requestedAt: now, receivedAt: now, id: "id")
      _ = CacheKey(request.url)
      _ = Invalidation.keys(of: request, response: response)
      guard var draft else { continue }
      draft.bodySize = 5
      let decision = CacheDecision.make(
        for: request, mode: .standard, stored: [draft], now: now)
      _ = StoredAnswer(draft, to: request, now: now)
      #expect(decision != .unavailable || value.contains("only-if-cached"))
      #expect(CachedVariants.decode(CachedVariants.encode([draft])) == [draft])
    }
  }
}
