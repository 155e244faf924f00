import Foundation
import SteadEncoding
import Testing

@testable import SteadFormats

/// JSON as an upgrade sees it: numbers lose no digit, and what is no JSON is none.
struct JSONReaderTests {
  @Test(arguments: [
    "", " ", "{", "[1,]", "[1 2]", "{\"a\":1,}", "{\"a\"}", "{a:1}", "01", "1.", ".5", "+1", "1e",
    "-", "tru", "nul", "\"a", "\"\u{1}\"", #""\x""#, #""\ud800""#, #""\ud800\u0041""#, #""\u12g4""#,
    "1 2", "[1]]", "'a'", "NaN", "\u{A0}1",
  ])
  func refuses(text: String) {
    #expect(JSONReader.value(of: Data(text.utf8)) == nil)
  }

  @Test func `refuses what is no UTF-8 and what is too deep`() {
    #expect(JSONReader.value(of: Data([0x22, 0xFF, 0x22])) == nil)
    let deep = String(repeating: "[", count: 512) + String(repeating: "]", count: 512)
    #expect(JSONReader.value(of: Data(deep.utf8)) != nil)
    #expect(JSONReader.value(of: Data("[\(deep)]".utf8)) == nil)
  }

  @Test func `reads all kinds`() {
    let text =
      #" {"a" : [1, -0.5e+10 , 12345678901234567890.123456789], "b":{"c":null,"d":true,"e":false},"#
      + #""f":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é"} "#
    let expected: JSONValue = [
      "a": [1, .number("-0.5e10"), .number("12345678901234567890.123456789")],
      "b": ["c": .null, "d": true, "e": false], "f": "\"\\/\u{8}\u{C}\n\r\té😀é",
    ]
    #expect(JSONReader.value(of: Data(text.utf8)) == expected)
    #expect(JSONReader.value(of: expected.data) == expected)
    #expect(expected.object?["a"]?.array?[0].int == 1)
    #expect(expected.object?["b"]?.object?["d"]?.bool == true)
  }

  /// What Python reads, this reads, and the other way round; Foundation takes a comma too many.
  @Test(.needs(.program("python3"))) func `agrees with Python`() throws {
    var random = SplitMix(seed: 7)
    let pieces = ["{", "}", "[", "]", "\"a\"", ":", ",", "1", "-2.5", "true", "null", " "]
    let texts = (0..<3_000).map { _ in
      (0..<Int.random(in: 1...7, using: &random))
        .map { _ in pieces[Int.random(in: 0..<pieces.count, using: &random)] }.joined()
    }
    let program = """
      import json, sys
      for line in sys.stdin.read().split("\\n"):
        try: json.loads(line); print("yes")
        except ValueError: print("no")
      """
    let input = Data(texts.joined(separator: "\n").utf8)
    let answers = try ToolRun.text(["python3", "-c", program], input: input).split(separator: "\n")
    try #require(answers.count == texts.count)
    for (text, answer) in zip(texts, answers) {
      #expect((JSONReader.value(of: Data(text.utf8)) != nil) == (answer == "yes"), "\(text)")
    }
    #expect(answers.count { $0 == "yes" } > 100)
  }
}

struct JSONWriterTests {
  private func written(_ string: String) -> String { JSONText.quoted(string, .short) }

  @Test(arguments: [
    ("", #""""#), ("plain \u{E9}\u{1F600}/", "\"plain \u{E9}\u{1F600}/\""),
    ("a\"b\\c", #""a\"b\\c""#), ("\n\r\t\u{0}\u{1F}", #""\n\r\t\u0000\u001f""#),
    ("e\u{301}\"", "\"e\u{301}\\\"\""),
  ])
  func `strings are escaped`(string: String, text: String) throws {
    #expect(written(string).utf8.elementsEqual(text.utf8))
  }

  @Test func `every character is read again`() throws {
    let scalars =
      (0..<0x300).compactMap { Unicode.Scalar(UInt32($0)) } + ["\u{2028}", "\u{10FFFF}"]
    for scalar in scalars {
      let text = Data(written("a\(scalar)b").utf8)
      #expect(JSONReader.value(of: text) == .string("a\(scalar)b"))
      #expect(try JSONDecoder().decode(String.self, from: text) == "a\(scalar)b")
    }
  }

  @Test func `names are in order`() throws {
    let value: JSONValue = ["b": [1, .null, true], "a": ["c": "d"], "": 0.5]
    #expect(
      String(decoding: value.data, as: UTF8.self) == #"{"":0.5,"a":{"c":"d"},"b":[1,null,true]}"#)
  }

  @Test func `indented values are read as the same`() {
    let value: JSONValue = ["b": [1, .null, ["x": []]], "a": [:], "c": "d\n"]
    let text = String(decoding: value.indentedData, as: UTF8.self)
    #expect(
      text == #"""
        {
          "a" : {},
          "b" : [
            1,
            null,
            {
              "x" : []
            }
          ],
          "c" : "d\n"
        }
        """#)
    #expect(JSONReader.value(of: value.indentedData) == value)
  }
}

struct ISO8601DateTests {
  @Test func `reads either kind of date text`() {
    let moment = Date(timeIntervalSince1970: 1_795_345_200)
    #expect(ISO8601Date.date("2026-11-22T11:00:00Z") == moment)
    #expect(ISO8601Date.date("2026-11-22T13:00:00+02:00") == moment)
    #expect(ISO8601Date.date("2026-11-22T11:00:00.250Z") == moment.addingTimeInterval(0.25))
    #expect(ISO8601Date.date("2026-11-22T13:00:00.250+02:00") == moment.addingTimeInterval(0.25))
    #expect(ISO8601Date.date("yesterday") == nil)
    #expect(ISO8601Date.date("2026-11-22T11:00:00Z and more") == nil)
  }
}
