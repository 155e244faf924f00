import Foundation

/// Writes JSON text.
package enum JSONWriter {
  /// Appends a string in quotation marks.
  ///
  /// A string that needs no escapes, as most do, is copied as a whole.
  package static func append(_ string: String, to text: inout String) {
    text += "\""
    if string.utf8.allSatisfy({
      $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
    }) {
      text += string
    } else {
      for scalar in string.unicodeScalars { append(scalar, to: &text) }
    }
    text += "\""
  }

  private static func append(_ scalar: Unicode.Scalar, to text: inout String) {
    switch scalar {
    case "\"": text += "\\\""
    case "\\": text += "\\\\"
    case "\n": text += "\\n"
    case "\r": text += "\\r"
    case "\t": text += "\\t"
    case "\u{0}"..<" ":
      let digits = String(scalar.value, radix: 16)
      text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    default: text.unicodeScalars.append(scalar)
    }
  }
}

extension JSONWriter {
  /// Appends a value; the names in an object are sorted by their characters.
  ///
  /// - Parameter depth: How deeply the value is nested, for lines of their own with an indentation; nil for one line.
  fileprivate static func append(_ value: JSONValue, to text: inout String, depth: Int? = nil) {
    switch value {
    case .null: text += "null"
    case .bool(let flag): text += flag ? "true" : "false"
    case .number(let digits): text += digits
    case .string(let string): append(string, to: &text)
    case .array(let values):
      append(values, in: ("[", "]"), to: &text, depth) { append($0, to: &$1, depth: $2) }
    case .object(let fields):
      let sorted = fields.sorted { $0.key < $1.key }
      append(sorted, in: ("{", "}"), to: &text, depth) { field, text, depth in
        append(field.key, to: &text)
        text += depth == nil ? ":" : " : "
        append(field.value, to: &text, depth: depth)
      }
    }
  }

  private static func append<Element>(
    _ elements: [Element], in brackets: (String, String), to text: inout String, _ depth: Int?,
    _ appendElement: (Element, inout String, Int?) -> Void
  ) {
    func startLine(_ depth: Int) { text += "\n" + String(repeating: "  ", count: depth) }
    text += brackets.0
    for (index, element) in elements.enumerated() {
      if index > 0 { text += "," }
      if let depth { startLine(depth + 1) }
      appendElement(element, &text, depth.map { $0 + 1 })
    }
    if let depth, !elements.isEmpty { startLine(depth) }
    text += brackets.1
  }
}

extension JSONValue {
  /// The JSON bytes, with names sorted by their characters.
  package var data: Data {
    var text = ""
    JSONWriter.append(self, to: &text)
    return Data(text.utf8)
  }

  /// The same for people to read: each element and field on a line of its own.
  package var indentedData: Data {
    var text = ""
    JSONWriter.append(self, to: &text, depth: 0)
    return Data(text.utf8)
  }
}
