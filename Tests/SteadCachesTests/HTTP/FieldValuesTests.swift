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
  func `splits lists outside of quotes`(value: String, members: [String]) {
    #expect(FieldScanner.members(of: value) == members)
  }

  /// Each quote here could be looked for to the end of the value.
  @Test func `takes time in proportion to the length`() {
    let value = String(repeating: "\"\\", count: 200_000)
    #expect(FieldScanner.members(of: value).count == 1)
  }

  /// Servers send anything: no parser may stop the program.
  @Test func `reads any bytes`() async {
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

@Suite struct ByteRangeTests {
  @Test(arguments: [
    ("bytes=0-1", ByteRange.bytes(first: 0, last: 1)), ("BYTES=5-", .bytes(first: 5, last: nil)),
    ("bytes=-7", .suffix(7)),
  ])
  func `reads one range`(value: String, range: ByteRange) {
    #expect(ByteRange(value) == range)
  }

  @Test(arguments: [
    "", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=2-1", "bytes=0-1,3-4", "lines=0-1",
    "bytes=0-1-2",
    "bytes= 0-1", "bytes=+1-2", "bytes=1-x",
  ])
  func `reads nothing else`(value: String) {
    #expect(ByteRange(value) == nil)
  }

  @Test(arguments: [
    ("bytes=0-1", 0..<2), ("bytes=8-", 8..<10), ("bytes=8-99", 8..<10), ("bytes=-3", 7..<10),
    ("bytes=-30", 0..<10), ("bytes=10-", nil), ("bytes=-0", nil),
    ("bytes=0-99999999999999999999", 0..<10),
  ])
  func `finds positions in ten bytes`(value: String, positions: Range<Int>?) {
    #expect(ByteRange(value)?.positions(in: 10) == positions)
    #expect(ByteRange(value)?.positions(in: 0) == nil)
  }

  @Test func `reads and writes the range of a response`() {
    let range = ContentRange("bytes 4-9/10")
    #expect(range == ContentRange(positions: 4..<10, length: 10))
    #expect(range?.value == "bytes 4-9/10")
    for value in [
      "bytes 4-9/*", "bytes */10", "bytes 9-4/10", "bytes 4-10/10", "items 4-9/10", "bytes 4-9", "",
    ] {
      #expect(ContentRange(value) == nil, "\(value)")
    }
  }
}

@Suite struct HTTPDateTests {
  private static let now = Date(timeIntervalSince1970: 1_800_000_000)

  @Test(arguments: [
    ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
    ("Sun Nov  6 08:49:37 1994", 784_111_777), ("sun, 06 nov 1994 08:49:37 gmt", 784_111_777),
    ("Sun Nov 16 08:49:37 1994", 784_975_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
    ("Thu, 29 Feb 2024 23:59:60 GMT", 1_709_251_200),
    ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600),
    ("Thu, 18 Aug 2050 02:01:18 GMT", 2_544_400_878),
    ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
  ])
  func `reads the three forms`(value: String, seconds: Int) {
    #expect(HTTPDate.date(value, now: Self.now)?.timeIntervalSince1970 == Double(seconds))
  }

  /// Two digits are a year at most 50 years from now.
  @Test(arguments: [("77", 2077), ("78", 1978), ("00", 2000), ("27", 2027), ("99", 1999)])
  func `finds the century of two digits`(digits: String, year: Int) throws {
    let short = try #require(HTTPDate.date("Monday, 01-Mar-\(digits) 00:00:00 GMT", now: Self.now))
    #expect(short == HTTPDate.date("Mon, 01 Mar \(year) 00:00:00 GMT", now: Self.now))
  }

  @Test(arguments: [
    "", "0", "-1", "never", "Thu, 18 Aug 50 02:01:18 GMT", "Thu, 18 Aug 2050 02:01:18 UTC",
    "Thu, 18 Aug 2050 02:01:18 +0000", "Thu 18 Aug 2050 02:01:18 GMT",
    "Thu, 18  Aug  2050 02:01:18 GMT",
    "Thu, 18-Aug-2050 02:01:18 GMT", "Thu, 18-Aug-50 02:01:18 GMT", "Thu, 18 Aug 2050 02.01.18 GMT",
    "Thu, 18 Aug 2050 2:01:18 GMT", "Thu, 8 Aug 2050 02:01:18 GMT", "Thu, 18 Aug 2050 24:00:00 GMT",
    "Thu, 18 Aug 2050 02:60:18 GMT", "Thu, 18 Aug 2050 02:01:61 GMT",
    "Wed, 30 Feb 2022 00:00:00 GMT",
    "Wed, 29 Feb 2023 00:00:00 GMT", "Thu, 00 Aug 2050 00:00:00 GMT", "Thu, 18 Aug 2050 02:01:18",
    "Xyz, 18 Aug 2050 02:01:18 GMT", "Sun Nov 6 08:49:37 1994", "Sun Nov 06 08:49:37 94",
    "Thu, +8 Aug 2050 02:01:18 GMT", "Thu, 18 Aug 2050 02:01:18 GMT ",
    String(repeating: " ", count: 10_000),
  ])
  func `reads nothing else`(value: String) {
    #expect(HTTPDate.date(value, now: Self.now) == nil)
  }

  // The seconds until such a time have no room in an integer, which stopped the program.
  @Test(arguments: [1e300, -1e300, 1e19])
  func `reckons with times beyond all years`(seconds: TimeInterval) {
    let now = Date(timeIntervalSince1970: seconds)
    let bound = Date(timeIntervalSince1970: seconds < 0 ? -HTTPDate.furthest : HTTPDate.furthest)
    #expect(HTTPDate.string(now) == HTTPDate.string(bound))
    let value = "Monday, 01-Mar-77 00:00:00 GMT"
    #expect(HTTPDate.date(value, now: now) == HTTPDate.date(value, now: bound))
  }

  @Test func `reads what it writes`() {
    var random = SplitMix(seed: 4)
    for _ in 0..<2000 {
      let seconds = Int.random(in: 0...253_402_300_799, using: &random)
      let date = Date(timeIntervalSince1970: Double(seconds))
      #expect(HTTPDate.date(HTTPDate.string(date), now: Self.now) == date)
    }
    let example = Date(timeIntervalSince1970: 784_111_777.9)
    #expect(HTTPDate.string(example) == "Sun, 06 Nov 1994 08:49:37 GMT")
  }
}

@Suite struct HTTPFieldsTests {
  @Test func `finds names in any case`() {
    var fields: HTTPCache.Fields = ["Vary": "a", "vary": "b", "ETag": "c"]
    #expect(fields["VARY"] == "a, b")
    #expect(fields.values(named: "Vary") == ["a", "b"])
    #expect(fields["etag"] == "c")
    #expect(fields["Var"] == nil)
    fields["VARY"] = "d"
    #expect(fields.map(\.name) == ["Vary", "ETag"])
    #expect(fields["vary"] == "d")
    fields["vary"] = nil
    #expect(!fields.contains("Vary"))
    fields["New"] = "e"
    fields.append("f", named: "new")
    #expect(fields["New"] == "e, f")
  }

  @Test func `are equal in any case of names`() {
    let fields: HTTPCache.Fields = ["ETag": "a", "Vary": "b"]
    let same: HTTPCache.Fields = ["etag": "a", "VARY": "b"]
    #expect(fields == same)
    #expect(Set([fields, same]).count == 1)
    #expect(fields != ["ETag": "A", "Vary": "b"])
    #expect(fields != ["Vary": "b", "ETag": "a"])
    #expect(fields != ["ETag": "a"])
  }

  /// `@` and `` ` `` differ in the same bit as letters do.
  @Test func `folds letters alone`() {
    #expect(!"x@".isSameFieldName(as: "x`"))
    #expect("x-Ab".isSameFieldName(as: "X-aB"))
    #expect("É".lowercasedASCII == "É")
  }
}
