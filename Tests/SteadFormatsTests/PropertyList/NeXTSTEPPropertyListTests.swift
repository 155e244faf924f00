import Foundation
import Testing

@testable import SteadFormats

/// Lists as people write them: on the command line, and by hand in a file. Foundation reads them.
struct NeXTSTEPPropertyListTests {
  @Test(arguments: [
    ("(de, en)", PropertyList.array([.string("de"), .string("en")])), ("()", .array([])),
    ("{ a = b; }", .dictionary(["a": .string("b")])), ("{}", .dictionary([:])),
    ("{ a; }", .dictionary(["a": .string("a")])), ("a = b;", .dictionary(["a": .string("b")])),
    ("<0f bd77>", .data(Data([0x0F, 0xBD, 0x77]))), ("<dead>", .data(Data([0xDE, 0xAD]))),
    ("/* a */ ( // b\n c )", .array([.string("c")])), ("'it'", .string("it")),
    ("\"caf\u{E9} \\U00e9\"", .string("caf\u{E9} \u{E9}")),
    (
      "{ \"b c\" = (1, { d = \"2\"; }); }",
      .dictionary(["b c": .array([.string("1"), .dictionary(["d": .string("2")])])])
    ),
  ])
  func isRead(text: String, list: PropertyList) throws {
    #expect(try PropertyList.parse(text) == list)
  }

  @Test(arguments: [
    "", "(a b)", "(a", "(,)", "<0f", "<0f0>", "\"a", "a b", "(1, 2))", "\u{E9}", "bplist",
    "bplist15 and more",
  ])
  func isRefused(text: String) {
    #expect(throws: PropertyListError.self) { try PropertyList.parse(Data(text.utf8)) }
  }

  /// Foundation takes these for an empty dictionary. A file that was just emptied by an editor would
  /// then remove all keys of its domain.
  @Test(arguments: [" ", "\n\n", "/* a */", "// a"])
  func whatHoldsNoListIsRefused(text: String) {
    #expect(throws: PropertyListError.self) { try PropertyList.parse(Data(text.utf8)) }
  }

  @Test(arguments: ["(", "{a="])
  func whatIsNestedDeeplyIsRefused(opening: String) {
    let text = String(repeating: opening, count: 100_000)
    #expect(throws: PropertyListError.self) { try PropertyList.parse(text) }
    let closed = String(repeating: "(", count: 300) + String(repeating: ")", count: 300)
    let error = #expect(throws: PropertyListError.self) { try PropertyList.parse(closed) }
    #expect(error?.code == .tooDeep)
  }

  @Test func whatIsNoListIsTheArgumentItself() {
    for text in ["5", "YES", "", "{", "(1, 2", "<3", "\"open", "[1]", "[]x", "<b>"] {
      #expect(PropertyList(argument: text) == .string(text))
    }
    #expect(PropertyList(argument: "(1, 2)") == .array([.string("1"), .string("2")]))
    #expect(PropertyList(argument: "{ a = 1; }") == .dictionary(["a": .string("1")]))
    #expect(PropertyList(argument: "<true/>") == .bool(true))
    #expect(PropertyList(argument: "<0f>") == .data(Data([0x0F])))
    #expect(PropertyList(argument: "\"5\"") == .string("5"))
  }
}
