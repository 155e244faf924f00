import Foundation
import SteadPreferences
import Testing

/// Another process finds what was set as what it was: kinds, bits and spellings.
@Suite(.ownThread) struct ReloadTests {
  private static let exact: [(key: String, value: PropertyList, line: String)] = [
    ("true", .bool(true), "bool true"),
    ("one", .integer(1), "integer 1"),
    ("one of 64 bits", .double(1), "double 3ff0000000000000"),
    ("one of 32 bits", .float(1), "float 3f800000"),
    ("a third", .double(1.0 / 3), "double 3fd5555555555555"),
    ("least", .integer(.min), "integer -9223372036854775808"),
    ("greatest", .integer(.max), "integer 9223372036854775807"),
    ("beyond", PropertyList(UInt64.max), "unsigned 18446744073709551615"),
    ("minus nothing", .double(-0.0), "double 8000000000000000"),
    ("endless", .double(.infinity), "double 7ff0000000000000"),
    (
      "moment", .date(Date(timeIntervalSinceReferenceDate: 123_456_789.123_456)),
      "date 419d6f34547e6b40"
    ),
    ("no text", .string(""), "string "),
    ("nul", .string("a\u{0}b"), "string a%00b"),
    ("\u{E9}", .string("\u{E9}"), "string %C3%A9"),
    ("e\u{301}", .string("e\u{301}"), "string e%CC%81"),
    ("no data", .data(Data()), "data 0 hash 0"),
    ("data", .data(Data(repeating: 7, count: 16)), "data 16 of 506381209866536711"),
    (
      "nested",
      .array([
        .array([.integer(1), .bool(false)]), .array([]),
        .dictionary(["deep": .array([.double(0.5), .string("x")])]),
      ]),
      "[[integer 1, bool false], [], {deep: [double 3fe0000000000000, string x]}]"
    ),
    ("", .integer(5), "integer 5"),
  ]

  /// Once from the records of the journal alone, once through a checkpoint.
  @Test(arguments: [false, true])
  func `kinds and spellings stay`(synchronizes: Bool) throws {
    let directory = try TemporaryDirectory(inMemory: true)
    let preferences = try Preferences(domain: "domain", directory: directory.url)
    for (key, value, _) in Self.exact { try preferences.setPropertyList(value, forKey: key) }
    if synchronizes { #expect(preferences.synchronize()) }
    let contents = try Worker.contents(directory.url)
    for (key, _, line) in Self.exact {
      #expect(contents[key.escaped] == line, "\(key)")
    }
    #expect(contents.count == Self.exact.count)
  }

  /// What is set by the methods of `UserDefaults`, read by them in another process.
  @Test(arguments: [false, true])
  func `what UserDefaults sets comes back`(synchronizes: Bool) throws {
    let directory = try TemporaryDirectory(inMemory: true)
    let preferences = try Preferences(domain: "domain", directory: directory.url)
    preferences.set(7, forKey: "int")
    preferences.set(true, forKey: "bool")
    preferences.set(0.1, forKey: "double")
    preferences.set(Float(0.1), forKey: "float")
    preferences.set(UInt64.max, forKey: "unsigned")
    preferences.set(URL(string: "https://example.com/a?b=c#d"), forKey: "url")
    preferences.set([1, 2, 3], forKey: "array")
    preferences.set(["a": [true, "b"]] as [String: Any], forKey: "dictionary")
    if synchronizes { #expect(preferences.synchronize()) }
    let contents = try Worker.contents(directory.url)
    #expect(contents["int"] == "integer 7")
    #expect(contents["bool"] == "bool true")
    #expect(contents["double"] == "double 3fb999999999999a")
    #expect(contents["float"] == "float 3dcccccd")
    #expect(contents["unsigned"] == "unsigned 18446744073709551615")
    #expect(contents["array"] == "[integer 1, integer 2, integer 3]")
    #expect(contents["dictionary"] == "{a: [bool true, string b]}")
    let worker = try Worker(directory.url, ["url", "url"])
    #expect(worker.line() == "https://example.com/a?b=c#d")
  }
}
