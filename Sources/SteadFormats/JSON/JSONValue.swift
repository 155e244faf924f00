import Foundation

/// The fields of a JSON object, such as the object that an upgrade of a `PayloadHistory` changes.
public typealias JSONObject = [String: JSONValue]

/// A JSON value. Numbers keep their text, so no digit is lost by reading and writing.
///
/// Literals make values:
///
/// ```swift
/// var object: JSONObject = ["title": "Draft", "tags": ["a", "b"], "rating": 4.5]
/// object["words"] = .number("12")
/// object["title"]?.string  // "Draft"
/// ```
///
/// Two numbers are equal if their texts are: `.number("1.0")` does not equal `.number("1")`.
public enum JSONValue: Sendable, Hashable {
  /// `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A number's text, such as `12` or `-1.5e3`.
  case number(String)
  /// A string.
  case string(String)
  /// An ordered list of values.
  case array([JSONValue])
  /// Values by name.
  case object(JSONObject)

  /// The string; nil for any other value.
  public var string: String? {
    if case .string(let text) = self { return text }
    return nil
  }

  /// The integer; nil for any other value, for a number written with a fraction or an exponent, and
  /// if it does not fit.
  public var int: Int? {
    if case .number(let text) = self { return Int(text) }
    return nil
  }

  /// The number, rounded to the nearest `Double`; nil for any other value.
  public var double: Double? {
    if case .number(let text) = self { return Double(text) }
    return nil
  }

  /// The boolean; nil for any other value.
  public var bool: Bool? {
    if case .bool(let value) = self { return value }
    return nil
  }

  /// The elements; nil for any other value.
  public var array: [JSONValue]? {
    if case .array(let values) = self { return values }
    return nil
  }

  /// The fields; nil for any other value.
  public var object: JSONObject? {
    if case .object(let fields) = self { return fields }
    return nil
  }
}

// Not ExpressibleByNilLiteral: nil for a field means that it is missing, and `.null` is a value.
extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// Makes a string.
  public init(stringLiteral value: String) { self = .string(value) }
  /// Makes a whole number.
  public init(integerLiteral value: Int) { self = .number(String(value)) }
  /// Makes a number, or `null` for one that isn't finite, which JSON cannot represent.
  public init(floatLiteral value: Double) {
    self = value.isFinite ? .number("\(value)") : .null
  }
  /// Makes a boolean.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// Makes an array.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  /// Makes an object; if a name occurs twice, the last value counts.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(JSONObject(elements) { $1 })
  }
}

// MARK: - Writing

/// Serializes JSON.
package enum JSONWriter {
  /// Appends a string in quotation marks, with the escapes that RFC 8259 requires and no others.
  package static func append(_ string: String, to text: inout String) {
    text += "\""
    // Most strings need no escapes, and are copied as a whole.
    if string.utf8.allSatisfy({
      $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
    }) {
      text += string
    } else {
      for scalar in string.unicodeScalars { append(scalar, to: &text) }
    }
    text += "\""
  }

  /// Appends a character, escaped if it has to be.
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

  // MARK: - Values

  /// Appends a value. Names are sorted by their characters, so that equal values have equal bytes.
  ///
  /// - Parameter depth: The nesting depth, for a line of its own for each element and field; nil
  ///   for a single line.
  fileprivate static func append(_ value: JSONValue, to text: inout String, depth: Int? = nil) {
    switch value {
    case .null: text += "null"
    case .bool(let flag): text += flag ? "true" : "false"
    // The text as it was read; a `Double` in between would round it.
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

  /// Appends the elements of an array, or the fields of an object, in brackets.
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
  /// The JSON in one line, with names sorted by their characters.
  package var data: Data {
    var text = ""
    JSONWriter.append(self, to: &text)
    return Data(text.utf8)
  }

  /// The JSON with a line of its own for each element and field, for people to read.
  package var indentedData: Data {
    var text = ""
    JSONWriter.append(self, to: &text, depth: 0)
    return Data(text.utf8)
  }
}
