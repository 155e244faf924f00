import Foundation
import SteadTestSupport
import Testing

@testable import SteadCaches

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
  func readsTheThreeForms(value: String, seconds: Int) {
    #expect(HTTPDate.date(value, now: Self.now)?.timeIntervalSince1970 == Double(seconds))
  }

  /// Two digits are a year at most 50 years from now.
  @Test(arguments: [("77", 2077), ("78", 1978), ("00", 2000), ("27", 2027), ("99", 1999)])
  func findsTheCenturyOfTwoDigits(digits: String, year: Int) throws {
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
  func readsNothingElse(value: String) {
    #expect(HTTPDate.date(value, now: Self.now) == nil)
  }

  // The seconds until such a time have no room in an integer, which stopped the program.
  @Test(arguments: [1e300, -1e300, 1e19])
  func reckonsWithTimesBeyondAllYears(seconds: TimeInterval) {
    let now = Date(timeIntervalSince1970: seconds)
    let bound = Date(timeIntervalSince1970: seconds < 0 ? -HTTPDate.furthest : HTTPDate.furthest)
    #expect(HTTPDate.string(now) == HTTPDate.string(bound))
    let value = "Monday, 01-Mar-77 00:00:00 GMT"
    #expect(HTTPDate.date(value, now: now) == HTTPDate.date(value, now: bound))
  }

  @Test func readsWhatItWrites() {
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
