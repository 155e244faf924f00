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
  func `is refused`(text: String) {
    #expect(throws: PropertyListError.self) { try PropertyList.parse(Data(text.utf8)) }
  }

  /// Foundation takes these for an empty dictionary. A file that was just emptied by an editor would
  /// then remove all keys of its domain.
  @Test(arguments: [" ", "\n\n", "/* a */", "// a"])
  func `what holds no list is refused`(text: String) {
    #expect(throws: PropertyListError.self) { try PropertyList.parse(Data(text.utf8)) }
  }

  // Foundation's reader ends a list without braces at the first character that no key can begin with, and
  // returns the keys before it. An edit by hand with a stray character then removed all other keys of a domain.
  @Test(arguments: [
    "a = b; ! c = d;", "a = b; } c = d;", "a = b; { c = d; }", "a = b; (1)", "a = b; , c = d;",
    "a = b;; c = d;", "a = b; ) ", "a = b; c = d; }", "// {\na = b; }", "a = b; \u{1} c = d;",
    "a = b; /* c = d;", "a; = b;", "/* { */", "// {", "a = b; <0f>",
  ])
  func `a list without braces is refused unless all of it is one`(text: String) {
    #expect(throws: PropertyListError.self) { try PropertyList.parse(text) }
  }

  @Test(
    arguments: [
      ("a = b; // end", ["a": .string("b")]),
      ("/* { */ a = b; c;", ["a": .string("b"), "c": .string("c")]),
      ("\u{FEFF}\"a\" = \"}\";\n", ["a": .string("}")]),
      (" // {\r\n a = { b = c; }; ", ["a": .dictionary(["b": .string("c")])]),
      ("a = b; /* } */", ["a": .string("b")]), ("/**/{ a = b; }/* x */", ["a": .string("b")]),
    ] as [(String, PropertyList.Fields)])
  func `comments do not matter in a list without braces`(text: String, fields: PropertyList.Fields)
    throws
  {
    #expect(try PropertyList.parse(text) == .dictionary(fields))
  }

  @Test func `a stray character in a list without braces removes no key`() {
    var random = SplitMix(seed: 25)
    let strays = "!?)(}{]=;,<>'\"#%&@*+\u{0}\u{1}\u{7F}".map(String.init)
    for _ in 0..<Effort.times(4_000) {
      var (tokens, count) = ([String](), 0)
      for number in 0..<Int.random(in: 1...5, using: &random) {
        let value =
          ["v", "\"a b\"", "(1, 2)", "{ x = y; }", "<0f>", "'q'"]
          .randomElement(using: &random) ?? "v"
        tokens += ["k\(number)", " = ", value, ";"]
        tokens.append(
          [" ", "\n", "\t", " /* ; */ ", " // c\n"].randomElement(using: &random) ?? "")
        count += 1
      }
      guard case .dictionary(let whole)? = try? PropertyList.parse(tokens.joined()) else {
        Issue.record("isn't read: \(tokens.joined())")
        continue
      }
      #expect(whole.count == count)
      tokens.insert(
        strays.randomElement(using: &random) ?? "!",
        at: Int.random(in: 0...tokens.count, using: &random))
      let text = tokens.joined()
      guard case .dictionary(let fields)? = try? PropertyList.parse(text) else { continue }
      #expect(fields.count >= count, "keys are missing from: \(text)")
    }
  }

  @Test(arguments: ["(", "{a="])
  func `what is nested deeply is refused`(opening: String) {
    let text = String(repeating: opening, count: 100_000)
    #expect(throws: PropertyListError.self) { try PropertyList.parse(text) }
    let closed = String(repeating: "(", count: 300) + String(repeating: ")", count: 300)
    let error = #expect(throws: PropertyListError.self) { try PropertyList.parse(closed) }
    #expect(error?.code == .tooDeep)
  }

  @Test func `what is no list is the argument itself`() {
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
