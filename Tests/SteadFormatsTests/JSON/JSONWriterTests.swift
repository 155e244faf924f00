import Foundation
import Testing

@testable import SteadFormats

struct JSONWriterTests {
  private func written(_ string: String) -> String {
    var text = ""
    JSONWriter.append(string, to: &text)
    return text
  }

  @Test(arguments: [
    ("", #""""#), ("plain \u{E9}\u{1F600}/", "\"plain \u{E9}\u{1F600}/\""),
    ("a\"b\\c", #""a\"b\\c""#), ("\n\r\t\u{0}\u{1F}", #""\n\r\t\u0000\u001f""#),
    ("e\u{301}\"", "\"e\u{301}\\\"\""),
  ])
  func stringsAreEscaped(string: String, text: String) throws {
    #expect(written(string).utf8.elementsEqual(text.utf8))
  }

  @Test func everyCharacterIsReadAgain() throws {
    let scalars =
      (0..<0x300).compactMap { Unicode.Scalar(UInt32($0)) } + ["\u{2028}", "\u{10FFFF}"]
    for scalar in scalars {
      let text = Data(written("a\(scalar)b").utf8)
      #expect(JSONReader.value(of: text) == .string("a\(scalar)b"))
      #expect(try JSONDecoder().decode(String.self, from: text) == "a\(scalar)b")
    }
  }

  @Test func namesAreInOrder() throws {
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
