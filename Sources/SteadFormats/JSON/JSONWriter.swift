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
  fileprivate static func append(_ value: JSONValue, to text: inout String) {
    switch value {
    case .null: text += "null"
    case .bool(let flag): text += flag ? "true" : "false"
    case .number(let digits): text += digits
    case .string(let string): append(string, to: &text)
    case .array(let values):
      text += "["
      for (index, value) in values.enumerated() {
        if index > 0 { text += "," }
        append(value, to: &text)
      }
      text += "]"
    case .object(let fields):
      text += "{"
      for (index, field) in fields.sorted(by: { $0.key < $1.key }).enumerated() {
        if index > 0 { text += "," }
        append(field.key, to: &text)
        text += ":"
        append(field.value, to: &text)
      }
      text += "}"
    }
  }
}

extension JSONValue {
  /// The JSON bytes, with names sorted by their characters.
  package var data: Data {
    var text = ""
    JSONWriter.append(self, to: &text)
    return Data(text.utf8)
  }
}
