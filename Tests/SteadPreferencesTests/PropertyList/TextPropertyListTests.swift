import Foundation
import Testing

@testable import SteadPreferences

struct TextPropertyListTests {
  @Test(arguments: [
    ("{ a = b; }", PropertyList.dictionary(["a": .string("b")])),
    ("{a=b}", .dictionary(["a": .string("b")])), ("{}", .dictionary([:])), ("()", .array([])),
    (
      "{ a; \"b c\" = (1, <0f bd77>, {}); }",
      .dictionary([
        "a": .string("a"),
        "b c": .array([.string("1"), .data(Data([0x0F, 0xBD, 0x77])), .dictionary([:])]),
      ])
    ),
    ("(1, 2,)", .array([.string("1"), .string("2")])),
    ("[1, x.y]", .array([.string("1"), .string("x.y")])),
    ("<>", .data(Data())), ("< 0FBD 77 >", .data(Data([0x0F, 0xBD, 0x77]))),
    ("/* a */ ( // b\n c /* ) */ )", .array([.string("c")])),
    ("word-1_2/3:4$5.6", .string("word-1_2/3:4$5.6")), ("'it'", .string("it")),
    (
      "\"a\\\"\\\\\\n\\t\\101\\341\\U00e9\\Ud83d\\uDE00\\q\\\u{E9}\"",
      .string("a\"\\\n\tA\u{C6}\u{E9}\u{1F600}q\u{E9}")
    ),
    ("\"\u{E9} and \u{1F600}\"", .string("\u{E9} and \u{1F600}")),
    ("a = b; \"c\" = (d);", .dictionary(["a": .string("b"), "c": .array([.string("d")])])),
    (
      "(<*I-5>, <*R0.5>, <*BY>, <*BN>, <*I18446744073709551615>, <*I\"7\">)",
      .array([
        .integer(-5), .double(0.5), .bool(true), .bool(false), .unsignedInteger(.max), .integer(7),
      ])
    ),
    ("<*D2001-01-01 01:00:05 +0100>", .date(Date(timeIntervalSinceReferenceDate: 5))),
    ("<[AQID]>", .data(Data([1, 2, 3]))), ("<dead>", .data(Data([0xDE, 0xAD]))),
  ])
  func isRead(text: String, list: PropertyList) throws {
    #expect(try PropertyList.parse(text) == list)
  }

  @Test(arguments: [
    "", " ", "{", "{ a", "{ a = }", "{ a = b c = d }", "{ a = b; ", "(a b)", "(a", "(,)", "<0f",
    "<0>", "<0f0>", "<0x>",
    "\"a", "\"\\", "\"\\U\"", "\"\\777\"", "'a\"", "a b", "{} {}", "{ = b; }", "/* a", "<*X1>",
    "<*I1.5>", "<*B>",
    "<[A]>", "\u{E9}", "(1, 2))", "{\"a\": 1}", "<*D2001-01-01>",
  ])
  func isRefused(text: String) {
    #expect(throws: PropertyListError.self) { try PropertyList.parse(Data(text.utf8)) }
  }

  /// Apple's reader and this one mean the same by what both take.
  @Test(arguments: [
    "{ a = b; }", "{ a; }", "(1, 2)", "(a,)", "<0fbd77 1c>", "\"a\\U0041\\101\\341\"", "'x y'",
    "a = b;", "hello",
    "1.5", "{ \"k\" = { x = (1, \"2\"); }; }", "<integer>5</integer>", "<true/>",
  ])
  func foundationReadsTheSame(text: String) throws {
    let theirs = try PropertyListSerialization.propertyList(from: Data(text.utf8), format: nil)
    #expect(try PropertyList.parse(text) == PropertyList(validating: theirs))
  }

  @Test func whatIsNoListIsTheArgumentItself() {
    #expect(PropertyList(argument: "5") == .string("5"))
    #expect(PropertyList(argument: "YES") == .string("YES"))
    #expect(PropertyList(argument: "") == .string(""))
    #expect(PropertyList(argument: "(1, 2)") == .array([.string("1"), .string("2")]))
    #expect(PropertyList(argument: "[1]") == .array([.string("1")]))
    #expect(PropertyList(argument: "{ a = 1; }") == .dictionary(["a": .string("1")]))
    #expect(PropertyList(argument: "<true/>") == .bool(true))
    #expect(PropertyList(argument: "<0f>") == .data(Data([0x0F])))
    #expect(PropertyList(argument: "\"5\"") == .string("5"))
    for text in ["{", "(1, 2", "<3", "\"open", "[]x", "<b>"] {
      #expect(PropertyList(argument: text) == .string(text))
    }
  }
}
