import Foundation
import Testing

@testable import SteadFormats

struct XMLPropertyListTests {
  @Test(arguments: 0..<40)
  func `what was written is read`(seed: UInt64) throws {
    var generator = PropertyListGenerator(seed: seed)
    generator.isPortable = true
    for _ in 0..<25 {
      let value = generator.value()
      #expect(try PropertyList.parse(value.data(format: .xml)) == value)
    }
  }

  @Test func `the layout is Apple's`() throws {
    let list: PropertyList = .dictionary([
      "b": .array([.integer(-1), .double(0.5), .bool(true), .array([]), .dictionary([:])]),
      "a & <b>": .string("it's \"so\""), "data": .data(Data(repeating: 0xAB, count: 60)),
      "date": .date(Date(timeIntervalSinceReferenceDate: -0.25)), "empty": .string(""),
    ])
    #expect(
      String(decoding: try list.data(format: .xml), as: UTF8.self) == """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">
        <dict>
        \t<key>a &amp; &lt;b&gt;</key>
        \t<string>it's "so"</string>
        \t<key>b</key>
        \t<array>
        \t\t<integer>-1</integer>
        \t\t<real>0.5</real>
        \t\t<true/>
        \t\t<array/>
        \t\t<dict/>
        \t</array>
        \t<key>data</key>
        \t<data>
        \tq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6ur
        \tq6urq6urq6ur
        \t</data>
        \t<key>date</key>
        \t<date>2000-12-31T23:59:59Z</date>
        \t<key>empty</key>
        \t<string></string>
        </dict>
        </plist>

        """)
  }

  @Test(arguments: [
    ("<string>a<![CDATA[<b>&amp;]]>c</string>", PropertyList.string("a<b>&amp;c")),
    ("<string>&lt;&gt;&amp;&quot;&apos;&#65;&#x1F600;</string>", .string("<>&\"'A\u{1F600}")),
    ("<string>a<!-- <b> -->b</string>", .string("ab")), ("<string/>", .string("")),
    ("<string>  two  </string>", .string("  two  ")),
    ("<!-- a --><?pi b?><plist><!-- c --><true/></plist> <!-- d -->", .bool(true)),
    ("<false></false>", .bool(false)), ("<integer> +5 </integer>", .integer(5)),
    ("<integer>007</integer>", .integer(7)), ("<integer>0x1F</integer>", .integer(31)),
    ("<integer>-0x10</integer>", .integer(-16)),
    ("<integer>-9223372036854775808</integer>", .integer(.min)),
    ("<integer>18446744073709551615</integer>", .unsignedInteger(.max)),
    ("<real>1e3</real>", .double(1000)), ("<real>-infinity</real>", .double(-.infinity)),
    ("<real>+infinity</real>", .double(.infinity)), ("<real>inf</real>", .double(.infinity)),
    ("<date>2001-01-01T00:00:00Z</date>", .date(Date(timeIntervalSinceReferenceDate: 0))),
    ("<date>2004-02-29T12:30:15Z</date>", .date(Date(timeIntervalSinceReferenceDate: 99_750_615))),
    ("<date>0000-12-30T00:00:00Z</date>", .date(.distantPast)),
    ("<date>4001-01-01T00:00:00Z</date>", .date(.distantFuture)),
    ("<data> AQ\n\tID </data>", .data(Data([1, 2, 3]))), ("<data></data>", .data(Data())),
    ("<array />", .array([])),
    (
      "<dict attribute='>'><key>a</key><true/><key>a</key><false/></dict>",
      .dictionary(["a": .bool(false)])
    ),
    ("<!DOCTYPE plist [<!ENTITY a \"]>b\"><!-- ] > -->]><true/>", .bool(true)),
  ])
  func `is read`(text: String, list: PropertyList) throws {
    #expect(try PropertyList.parse(text) == list)
    #expect(try PropertyList.parse(Data("<?xml version=\"1.0\"?>\n\(text)\n".utf8)) == list)
  }

  @Test func `a number that is none is read`() throws {
    guard case .double(let number) = try PropertyList.parse("<real>nan</real>") else {
      throw PropertyListError.damaged("not a number", at: nil)
    }
    #expect(number.isNaN)
    #expect(try PropertyList.parse(PropertyList.double(.nan).data(format: .xml)) != .double(0))
  }

  @Test(arguments: [
    "<plist/>", "<plist></plist>", "<plist><true/><true/></plist>", "<true/><true/>",
    "<true>x</true>",
    "<dict><true/></dict>", "<dict><key>a</key></dict>", "<dict><key>a</key><true/>",
    "<array>x</array>",
    "<array><true/></dict>", "<integer></integer>", "<integer/>", "<integer>1.5</integer>",
    "<integer>18446744073709551616</integer>", "<integer>-9223372036854775809</integer>",
    "<integer>- 5</integer>", "<integer>--5</integer>", "<integer>0x</integer>",
    "<real>0x1p3</real>",
    "<real></real>", "<real>1,5</real>", "<date>2001-02-29T00:00:00Z</date>",
    "<date>2001-01-01</date>",
    "<date>2001-01-01T24:00:00Z</date>", "<date>now</date>", "<data>AQI</data>",
    "<data>A?==</data>",
    "<string>&b;</string>", "<string>&#xD800;</string>", "<string>&#;</string>", "<string>a",
    "<string><b/></string>",
    "<!DOCTYPE plist [<!ENTITY a SYSTEM \"file:///etc/passwd\">]><string>&a;</string>",
    "<!-- a", "<?xml", "<plist", "<key>a</key>", "<!DOCTYPE plist",
  ])
  func `is refused`(text: String) {
    #expect(throws: PropertyListError.self) { try PropertyList.parse(Data(text.utf8)) }
  }

  @Test func `other encodings are read where they are named`() throws {
    let text = "<?xml version=\"1.0\" encoding=\"NAME\"?><string>\u{E9}</string>"
    func data(_ name: String, _ encoding: String.Encoding) throws -> Data {
      try #require(text.replacingOccurrences(of: "NAME", with: name).data(using: encoding))
    }
    #expect(try PropertyList.parse(data("ISO-8859-1", .isoLatin1)) == .string("\u{E9}"))
    #expect(try PropertyList.parse(data("UTF-16", .utf16)) == .string("\u{E9}"))
    #expect(try PropertyList.parse([0xEF, 0xBB, 0xBF] + data("utf-8", .utf8)) == .string("\u{E9}"))
    #expect(throws: PropertyListError.self) { try PropertyList.parse(data("KOI8-R", .utf8)) }
    #expect(throws: PropertyListError.self) { try PropertyList.parse(data("UTF-8", .isoLatin1)) }
  }

  @Test func `what XML cannot hold is refused`() throws {
    for list: PropertyList in [
      .string("\u{0}"), .dictionary(["\u{1}": .bool(true)]),
      .date(Date(timeIntervalSinceReferenceDate: .nan)),
      .date(Date(timeIntervalSinceReferenceDate: 1e300)),
    ] {
      let error = #expect(throws: PropertyListError.self) { try list.data(format: .xml) }
      #expect(error?.code == .unsupported)
    }
  }

  // It did not say which of a thousand values it was. Inner keys are part of a value.
  @Test func `what is refused is named by its outermost key`() throws {
    let inner: PropertyList = .dictionary(["b\u{1}": .array([.string("\u{7}")])])
    let error = #expect(throws: PropertyListError.self) {
      try PropertyList.dictionary(["a": inner]).data(format: .xml)
    }
    #expect(
      error?.message
        == "\"a\": A string has a control character, which XML cannot hold; write a binary property list."
    )
  }

  @Test func `a carriage return survives`() throws {
    let list = PropertyList.string("a\r\nb\rc\n\td")
    #expect(try PropertyList.parse(list.data(format: .xml)) == list)
  }

  @Test func `dates of many years are the same days`() throws {
    for year in stride(from: -9999, through: 9999, by: 101) {
      for month in [1, 2, 3, 12] {
        let sign = year < 0 ? "-" : ""
        let text = sign + String(format: "%04d-%02d-28T23:59:59Z", abs(year), month)
        let date = try #require(PropertyListDate.date(text.utf8))
        #expect(PropertyListDate.text(date) == text)
      }
    }
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    for year in [1600, 1900, 1999, 2000, 2100, 2399] {
      for (month, day) in [(2, 28), (3, 1), (12, 31)] {
        let parts = DateComponents(
          year: year, month: month, day: day, hour: 1, minute: 2, second: 3)
        let date = try #require(calendar.date(from: parts))
        let text = String(format: "%04d-%02d-%02dT01:02:03Z", year, month, day)
        #expect(PropertyListDate.date(text.utf8) == date)
      }
    }
  }
}
