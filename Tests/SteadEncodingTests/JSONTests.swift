import Foundation
import SteadFormats
import SteadSyncProtocol
import Testing

@testable import SteadEncoding

/// What the two values that are read from JSON make of each text: RFC 8259, and where it leaves something open, what
/// ``JSONReader`` and SyncProtocol.md say.
@Suite struct JSONTests {
  /// A text, and what is written again after it was read; nil if it is refused.
  struct Case: Sendable, CustomTestStringConvertible {
    let text: String
    let value: String?
    let synced: String?

    /// Both alike.
    init(_ text: String, _ both: String?) { self.init(text, value: both, synced: both) }

    init(_ text: String, value: String?, synced: String?) {
      (self.text, self.value, self.synced) = (text, value, synced)
    }

    var testDescription: String { text }
  }

  static let cases = [
    // Numbers: JSONValue keeps the digits, SyncValue has 64 bits.
    Case("0", "0"), Case("-0", value: "-0", synced: "0"),
    Case("-0.0", value: "-0.0", synced: "0.0"),
    Case("00", nil), Case("-01", nil), Case("1.", nil), Case("1.e1", nil), Case(".5", nil),
    Case("+1", nil), Case("-", nil), Case("1e", nil), Case("1e+", nil), Case("0x10", nil),
    Case("1E+05", value: "1e05", synced: "100000.0"), Case("1.50", value: "1.50", synced: "1.5"),
    Case("1e400", value: "1e400", synced: nil), Case("-1e400", value: "-1e400", synced: nil),
    Case("1e-400", value: "1e-400", synced: "0.0"),
    Case("9223372036854775807", "9223372036854775807"),
    Case("9223372036854775808", value: "9223372036854775808", synced: nil),
    Case("-9223372036854775808", "-9223372036854775808"),
    Case("NaN", nil), Case("Infinity", nil),
    // Structure.
    Case("", nil), Case(" ", nil), Case("\u{FEFF}1", nil), Case("\u{A0}1", nil),
    Case("\u{C}1", nil),
    Case(" \t\r\n1 \t\r\n", "1"), Case("[]", "[]"), Case("[ ]", "[]"), Case("{ }", "{}"),
    Case("[1,]", nil), Case("[,1]", nil), Case("[1 2]", nil), Case("[1", nil), Case("[1}", nil),
    Case("{\"a\":1,}", nil), Case("{,}", nil), Case("{\"a\"}", nil), Case("{\"a\" 1}", nil),
    Case("{a:1}", nil), Case("{1:1}", nil), Case("{\"a\":1]", nil), Case("1 2", nil),
    Case("[]]", nil),
    Case("tru", nil), Case("truer", nil), Case("nul", nil), Case("True", nil), Case("'a'", nil),
    Case("[true,false,null]", "[true,false,null]"), Case("[1,/**/2]", nil),
    // Names that occur twice: the last value counts, or none. Canonically equivalent names are the same.
    Case(#"{"a":1,"a":2}"#, value: #"{"a":2}"#, synced: nil),
    Case("{\"\u{E9}\":1,\"e\u{301}\":1}", value: "{\"e\u{301}\":1}", synced: nil),
    Case(#"{"b":{"a":1},"a":{"a":1}}"#, #"{"a":{"a":1},"b":{"a":1}}"#),
    Case(#"{"\u0061":1,"":[]}"#, #"{"":[],"a":1}"#),
    // Strings.
    Case(#""\"\\\/""#, #""\"\\/""#), Case(#""\x""#, nil), Case(#""\"#, nil), Case(#""a"#, nil),
    Case(#""\u0000""#, #""\u0000""#), Case(#""\u12g4""#, nil), Case(#""\u12"#, nil),
    Case(#""\u""#, nil),
    Case(#""\U0041""#, nil), Case(#""\u00E9\u00e9""#, "\"\u{E9}\u{E9}\""),
    Case(#""\ud83d\ude00""#, "\"\u{1F600}\""), Case(#""\uD83D\uDE00""#, "\"\u{1F600}\""),
    Case(#""\ud800""#, nil), Case(#""\udc00""#, nil), Case(#""\ud800\u0041""#, nil),
    Case(#""\ud800\ud800""#, nil), Case(#""\ud800x""#, nil), Case(#""\udc00\ud800""#, nil),
    Case("\"\u{7F}\u{2028}\u{10FFFF}/\"", "\"\u{7F}\u{2028}\u{10FFFF}/\""),
    Case(#""0123456\u0041789abcdef""#, #""0123456A789abcdef""#),
  ]

  @Test(arguments: cases) func `Each value is read as its rules say`(_ one: Case) throws {
    let value = JSONReader.value(of: Data(one.text.utf8))
    #expect(value.map { String(decoding: $0.data, as: UTF8.self) } == one.value)
    let synced = try? SyncValue(encoded: one.text.utf8)
    #expect(synced.map { String(decoding: $0.encoded(), as: UTF8.self) } == one.synced)
  }

  /// Whether a tokenizer moves past one value, and nothing comes after it.
  private func skips(_ bytes: [UInt8], depthLimit: Int = 512) -> Bool {
    bytes.withUnsafeBytes { bytes in
      var tokens = JSONTokenizer(bytes, depthLimit: depthLimit)
      do {
        try tokens.skipValue()
        try tokens.end()
        return true
      } catch {
        return false
      }
    }
  }

  @Test(arguments: cases) func `A value that is skipped is checked like one that is read`(
    _ one: Case
  ) {
    let bytes = Array(one.text.utf8)
    #expect(skips(bytes) == (one.value != nil))
    // Within an array and an object, too, whose next value the tokenizer has to find.
    #expect(skips(Array("[".utf8) + bytes + Array(",1]".utf8)) == (one.value != nil))
    #expect(skips(Array("{\"é\":".utf8) + bytes + Array(",\"b\":1}".utf8)) == (one.value != nil))
  }

  /// Unescaped ones are refused; escaped ones are read, and written with each value's escapes.
  @Test(arguments: UInt8(0)..<0x20) func `Control characters`(code: UInt8) throws {
    let digits = String(code, radix: 16)
    let escape = "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    let short = [0x0A: #"\n"#, 0x0D: #"\r"#, 0x09: #"\t"#][code]
    // At each position of a word of eight bytes, which the scanner takes at once.
    for count in 0..<17 {
      let prefix = String(repeating: "x", count: count)
      let raw = Array("\"\(prefix)\(Unicode.Scalar(code))y\"".utf8)
      #expect(JSONReader.value(of: Data(raw)) == nil && !skips(raw))
      #expect(throws: SyncCodingError.self) { try SyncValue(encoded: raw) }
      let text = "\"\(prefix)\(escape)y\""
      let value = try #require(JSONReader.value(of: Data(text.utf8)))
      #expect(value == .string("\(prefix)\(Unicode.Scalar(code))y"))
      #expect(String(decoding: value.data, as: UTF8.self) == "\"\(prefix)\(short ?? escape)y\"")
      #expect(try SyncValue(encoded: text.utf8).encoded() == Array(text.utf8))
    }
  }

  @Test(
    arguments: [
      [0xFF], [0x80], [0xC0, 0x80], [0xC3], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
      [0xE2, 0x82], [0x61, 0xC3, 0x5C, 0x6E],
    ] as [[UInt8]])
  func `Invalid UTF-8 is refused`(bytes: [UInt8]) {
    let text = [0x22] + bytes + [0x22]
    #expect(!skips(text))
    #expect(JSONReader.value(of: Data(text)) == nil)
    #expect(throws: SyncCodingError.self) { try SyncValue(encoded: text) }
  }

  @Test(arguments: [("[", "]"), ("{\"a\":", "}")])
  func `Nesting has its limits`(open: String, close: String) throws {
    func nested(_ depth: Int) -> String {
      String(repeating: open, count: depth) + "[]" + String(repeating: close, count: depth)
    }
    #expect(JSONReader.value(of: Data(nested(511).utf8)) != nil)
    #expect(JSONReader.value(of: Data(nested(512).utf8)) == nil)
    #expect(skips(Array(nested(31).utf8), depthLimit: 32))
    #expect(!skips(Array(nested(32).utf8), depthLimit: 32))
    #expect(try SyncValue(encoded: nested(31).utf8).isValid())
    #expect(throws: SyncCodingError.self) { try SyncValue(encoded: nested(32).utf8) }
    // What is closed does not count.
    let wide = "[" + Array(repeating: "[[]]", count: 600).joined(separator: ",") + "]"
    #expect(JSONReader.value(of: Data(wide.utf8)) != nil)
    #expect(try SyncValue(encoded: wide.utf8).isValid())
  }

  /// The place in the bytes, and never a value.
  @Test(
    arguments: [
      ("", 0, "a value"), ("[1,]", 3, "a value"), ("-", 1, "a value"), ("01", 2, "a value"),
      ("1.", 2, "a digit"), ("1e+", 3, "a digit"), ("trve", 2, "true"), ("[1 2]", 3, "]"),
      (#"{"a":1"#, 6, "}"), (#"{"a" 1}"#, 5, ":"), ("{1}", 1, "a member's name"),
      ("1 2", 2, "the end"),
      (#""a"#, 2, "a quotation mark"), (#""\x""#, 3, "an escape"), ("\"a\n", 3, "an escape"),
      (#""\"#, 2, "an escape"), (#""\u12g""#, 5, "a hexadecimal digit"),
      (#""\ud800""#, 7, "a low surrogate"), (#""\udc00""#, 7, "a character"),
      (#"{"a":1,"a":2}"#, 12, "another name"),
      ("9223372036854775808", 19, "a whole number of 64 bits"),
      ("1e400", 5, "a finite number"),
    ])
  func `Errors of the sync protocol name the byte`(text: String, byte: Int, expected: String) {
    do throws(SyncCodingError) {
      _ = try SyncValue(encoded: text.utf8)
      Issue.record("\(text) was read")
    } catch {
      #expect(error.code == .malformed)
      #expect(error.message == "The JSON is damaged at byte \(byte): \(expected) was expected.")
    }
  }

  @Test func `Too deep is a limit`() {
    do throws(SyncCodingError) {
      _ = try SyncValue(encoded: Array(repeating: 0x5B, count: 1_000_000))
      Issue.record("It was read")
    } catch {
      #expect(error.code == .limit)
      #expect(error.message == "The JSON is nested deeper than 32 levels.")
    }
  }

  @Test func `Escapes of each kind`() {
    let text = "a\u{0}\u{8}\t\n\u{C}\r\u{1F} \"\\/\u{7F}\u{E9}\u{1F600}"
    #expect(
      JSONText.quoted(text, .short)
        == "\"a\\u0000\\u0008\\t\\n\\u000c\\r\\u001f \\\"\\\\/\u{7F}\u{E9}\u{1F600}\"")
    #expect(
      JSONText.quoted(text, .numbers)
        == "\"a\\u0000\\u0008\\u0009\\u000a\\u000c\\u000d\\u001f \\\"\\\\/\u{7F}\u{E9}\u{1F600}\"")
    #expect(
      JSONText.quoted(text, .ascii)
        == "\"a\\u0000\\u0008\\u0009\\u000a\\u000c\\u000d\\u001f \\\"\\\\/\u{7F}\\u00e9\\ud83d\\ude00\""
    )
  }

  /// The eight bytes at once against one after the other.
  @Test func `A run ends at the first byte that is escaped`() {
    var wrong: [[Int]] = []
    for byte in UInt8.min...UInt8.max {
      for place in 0..<20 {
        var bytes = [UInt8](repeating: UInt8(ascii: "x"), count: 20)
        bytes[place] = byte
        let isEscaped = byte < 0x20 || byte == 0x22 || byte == 0x5C
        bytes.withUnsafeBufferPointer { bytes in
          for start in 0...bytes.count {
            let run = JSONText.endOfRun(in: bytes, from: start)
            let end = isEscaped && place >= start ? place : bytes.count
            if run != (end, byte < 0x80 || place < start) {
              wrong.append([Int(byte), place, start])
            }
          }
        }
      }
    }
    #expect(wrong == [])
  }
}
