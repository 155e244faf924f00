import Foundation
import Testing

@testable import SteadPreferences

/// The table in Documentation/Preferences.md is the contract: each cell of it is checked here.
struct CoercionTests {
  private static let page = URL(filePath: #filePath).resolvingSymlinksInPath()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Documentation/Preferences.md")

  private static func stored() throws -> [String: PropertyList] {
    [
      "`true`": .bool(true), "`false`": .bool(false),
      "`1`": .integer(1), "`0`": .integer(0), "`-7`": .integer(-7),
      "`UInt64.max`": PropertyList(UInt64.max), "`Float(0.1)`": .float(0.1),
      "`2.67`": .double(2.67), "`-2.67`": .double(-2.67), "`3.0`": .double(3),
      "`0.0`": .double(0), "`1e300`": .double(1e300),
      "a date": .date(Date(timeIntervalSinceReferenceDate: 0.5)), "data": .data(Data([1, 2, 3])),
      "`[\"a\", \"b\"]`": .array([.string("a"), .string("b")]),
      "`[\"a\", 1]`": .array([.string("a"), .integer(1)]), "`[]`": .array([]),
      "`[\"k\": 1]`": .dictionary(["k": .integer(1)]),
      "a file's URL": try PropertyList(url: URL(filePath: "/tmp/a b")),
      "an https URL": try PropertyList(url: #require(URL(string: "https://example.com/a?b=c#d"))),
    ]
  }

  private static let columns: [String: @Sendable (Preferences) -> String] = [
    "string": { $0.string(forKey: "k").map { "\"\($0)\"" } ?? "nil" },
    "integer": { "\($0.integer(forKey: "k"))" },
    "float": { "\($0.float(forKey: "k"))" },
    "double": { "\($0.double(forKey: "k"))" },
    "bool": { "\($0.bool(forKey: "k"))" },
    "data": { $0.data(forKey: "k").map { $0.count < 10 ? "\($0)" : "archive" } ?? "nil" },
    "array": { $0.array(forKey: "k").map { "\($0.count)" } ?? "nil" },
    "stringArray": { $0.stringArray(forKey: "k").map { "\($0)" } ?? "nil" },
    "dictionary": { $0.dictionary(forKey: "k").map { "\($0.count)" } ?? "nil" },
    "url": { preferences in
      guard let url = preferences.url(forKey: "k") else { return "nil" }
      let isInTable = !url.isFileURL || url.path().hasPrefix("/tmp/a")
      return isInTable ? url.absoluteString : "file"
    },
    "object": { preferences in
      switch preferences.object(forKey: "k") {
      case nil: "nil"
      case is String: "String"
      case is Date: "Date"
      case is Data: "Data"
      case is [Any]: "Array"
      case is [String: Any]: "Dictionary"
      case is NSNumber: "NSNumber"
      default: "something else"
      }
    },
  ]

  private static func rows() throws -> [[String]] {
    let text = try String(contentsOf: page, encoding: .utf8)
    let lines = text.split(separator: "\n").map(String.init)
    let start = try #require(lines.firstIndex { $0.hasPrefix("| stored | string |") })
    return lines[start...].prefix { $0.hasPrefix("|") }.map { line in
      line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
  }

  @Test func `each cell of the table is true`() throws {
    let rows = try Self.rows()
    let stored = try Self.stored()
    #expect(rows.count == 33)
    #expect(Set(rows[0].dropFirst()) == Set(Self.columns.keys))
    for row in rows.dropFirst(2) {
      let preferences = Preferences.inMemory()
      var value: PropertyList?
      if row[0].hasPrefix("`\"") {
        value = .string(String(row[0].dropFirst(2).dropLast(2)))
      } else if row[0] != "nothing" {
        value = try #require(stored[row[0]] as PropertyList?, "\(row[0]) has no value.")
      }
      try preferences.setPropertyList(value, forKey: "k")
      for (name, cell) in zip(rows[0], row).dropFirst() {
        let column = try #require(Self.columns[name])
        #expect(column(preferences) == cell, "\(row[0]) as \(name)")
      }
    }
  }

  @Test(arguments: [
    ("9223372036854775807", Int.max), ("9223372036854775808", .max), ("-9223372036854775808", .min),
    ("-99999999999999999999", .min), ("+5", 5), ("\t\n 8", 8), ("-", 0), ("", 0), ("0x10", 0),
  ])
  func `texts are read as NSString reads them`(text: String, number: Int) {
    #expect(PropertyList.string(text).int == number)
    #expect(PropertyList.string(text).int == (text as NSString).integerValue)
  }

  @Test(arguments: [
    "12.5e2abc", ".5", "5.", "-.25", "1e400", "  -3.5e-2 x", "abc", "", ".", "1.2.3",
  ])
  func `fractions are read as NSString reads them`(text: String) {
    #expect(PropertyList.string(text).doubleValue == (text as NSString).doubleValue)
  }

  /// An exponent without digits is none; Foundation on Linux then takes no number at all.
  @Test(arguments: ["1e", "1e+", "1 e5"])
  func `an exponent needs digits`(text: String) {
    #expect(PropertyList.string(text).doubleValue == 1)
  }

  @Test(arguments: [0.1, 0.1 + 0.2, 1e21, 123_456_789.125, 1e-5, .pi, 1e15])
  func `texts of numbers are read back as the same number`(number: Double) throws {
    let text = try #require(PropertyList.double(number).text)
    #expect(Double(text) == number)
    let short = Float(number)
    #expect(try Float(#require(PropertyList.float(short).text)) == short)
  }
}
