import Foundation
import SteadEncoding

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

extension JSONValue {
  /// The JSON in one line, with names sorted by their characters.
  package var data: Data {
    var bytes: [UInt8] = []
    append(to: &bytes, depth: nil)
    return Data(bytes)
  }

  /// The JSON with a line of its own for each element and field, for people to read.
  package var indentedData: Data {
    var bytes: [UInt8] = []
    append(to: &bytes, depth: 0)
    return Data(bytes)
  }

  /// Appends the value. Names are sorted by their characters, so that equal values have equal bytes.
  ///
  /// - Parameter depth: The nesting depth, for a line of its own for each element and field; nil
  ///   for a single line.
  private func append(to bytes: inout [UInt8], depth: Int?) {
    switch self {
    case .null: bytes += "null".utf8
    case .bool(let flag): bytes += (flag ? "true" : "false").utf8
    // The text as it was read; a `Double` in between would round it.
    case .number(let digits): bytes += digits.utf8
    case .string(let string): JSONText.append(string, to: &bytes, .short)
    case .array(let values):
      Self.append(values, in: ("[", "]"), to: &bytes, depth) { $0.append(to: &$1, depth: $2) }
    case .object(let fields):
      let sorted = fields.sorted { $0.key < $1.key }
      Self.append(sorted, in: ("{", "}"), to: &bytes, depth) { field, bytes, depth in
        JSONText.append(field.key, to: &bytes, .short)
        bytes += (depth == nil ? ":" : " : ").utf8
        field.value.append(to: &bytes, depth: depth)
      }
    }
  }

  /// Appends the elements of an array, or the fields of an object, in brackets.
  private static func append<Element>(
    _ elements: [Element], in brackets: (Unicode.Scalar, Unicode.Scalar), to bytes: inout [UInt8],
    _ depth: Int?, _ appendElement: (Element, inout [UInt8], Int?) -> Void
  ) {
    func startLine(_ depth: Int) {
      bytes.append(UInt8(ascii: "\n"))
      bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
    }
    bytes.append(UInt8(ascii: brackets.0))
    for (index, element) in elements.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      if let depth { startLine(depth + 1) }
      appendElement(element, &bytes, depth.map { $0 + 1 })
    }
    if let depth, !elements.isEmpty { startLine(depth) }
    bytes.append(UInt8(ascii: brackets.1))
  }
}
