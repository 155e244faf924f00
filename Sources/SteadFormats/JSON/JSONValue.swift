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

// MARK: - Reading

/// Parses JSON in UTF-8 (RFC 8259) into ``JSONValue``.
///
/// Stricter than Foundation: no trailing commas, no leading zeros, no control characters in
/// strings, no unpaired surrogates, no byte order mark. Numbers keep their digits, so nothing is
/// lost by reading and writing. If a name occurs twice in an object, the last value counts.
package struct JSONReader {
  /// The maximum nesting depth of arrays and objects, the same as that of `JSONDecoder`. Parsing is
  /// recursive, so a limit keeps crafted input from exhausting the stack.
  static let depthLimit = 512

  private var tokens: JSONTokenizer

  /// Parses a JSON document; nil if the bytes aren't one.
  package static func value(of data: Data) -> JSONValue? {
    data.withUnsafeBytes { bytes in
      var reader = JSONReader(tokens: JSONTokenizer(bytes, depthLimit: depthLimit))
      return try? reader.document()
    }
  }

  private mutating func document() throws(JSONSyntaxError) -> JSONValue {
    let value = try value()
    try tokens.end()
    return value
  }

  private mutating func value() throws(JSONSyntaxError) -> JSONValue {
    switch try tokens.next() {
    case .null: return .null
    case .true: return .bool(true)
    case .false: return .bool(false)
    case .number: return .number(Self.text(of: try tokens.number()))
    case .string: return .string(try tokens.string())
    case .array:
      var values: [JSONValue] = []
      guard try tokens.openArray() else { return .array(values) }
      repeat { values.append(try value()) } while try tokens.hasNextElement()
      return .array(values)
    case .object:
      var fields: JSONObject = [:]
      guard try tokens.openObject() else { return .object(fields) }
      repeat {
        let name = try tokens.name()
        // The RFC leaves duplicate names open; JavaScript takes the last value, too.
        fields[name] = try value()
      } while try tokens.hasNextMember()
      return .object(fields)
    }
  }

  /// A number's text with a lower-case `e` and without a `+`: the digits are kept, and the spelling of the exponent is
  /// not.
  private static func text(of number: JSONTokenizer.Number) -> String {
    if number.isWhole { return String(decoding: number.text, as: UTF8.self) }
    let bytes = number.text.filter { $0 != UInt8(ascii: "+") }
    return String(
      decoding: bytes.map { $0 == UInt8(ascii: "E") ? UInt8(ascii: "e") : $0 }, as: UTF8.self)
  }
}

// MARK: - Elements of an array

/// Splits a JSON array into its elements without parsing them.
///
/// The elements keep their bytes, so an element that is put back is unchanged. It interprets only
/// brackets, strings and commas, so one element that isn't valid JSON does not make the others
/// unreadable.
package enum JSONArraySplitter {
  /// The bytes of each element, without surrounding whitespace; nil if the data isn't an array.
  package static func elements(of data: Data) -> [Data]? {
    data.withUnsafeBytes { bytes in
      var elements: [Data] = []
      // Splitting accepts a byte order mark: files have them.
      var position = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
      skipSpace(bytes, &position)
      guard position < bytes.count, bytes[position] == UInt8(ascii: "[") else { return nil }
      position += 1
      skipSpace(bytes, &position)
      if position < bytes.count, bytes[position] == UInt8(ascii: "]") {
        return isEnd(bytes, after: position) ? [] : nil
      }
      while let end = endOfElement(bytes, from: position) {
        let element = trimmed(bytes, position..<end)
        // Two commas in a row, or a trailing one.
        guard !element.isEmpty else { return nil }
        elements.append(Data(bytes[element]))
        if bytes[end] == UInt8(ascii: "]") { return isEnd(bytes, after: end) ? elements : nil }
        position = end + 1
      }
      return nil
    }
  }

  /// The index of the comma or bracket that ends the element at `start`; nil if none does.
  private static func endOfElement(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    var (depth, isInString, position) = (0, false, start)
    while position < bytes.count {
      let byte = bytes[position]
      if isInString {
        // The byte after a backslash is skipped, so an escaped quotation mark does not end the
        // string.
        if byte == UInt8(ascii: "\\") { position += 1 }
        isInString = byte != UInt8(ascii: "\"")
      } else {
        switch byte {
        case UInt8(ascii: "\""): isInString = true
        case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
        case UInt8(ascii: ","), UInt8(ascii: "]"):
          if depth == 0 { return position }
          if byte == UInt8(ascii: "]") { depth -= 1 }
        case UInt8(ascii: "}"):
          // A brace that closes nothing: the array's bounds are unknown.
          guard depth > 0 else { return nil }
          depth -= 1
        default: break
        }
      }
      position += 1
    }
    return nil
  }

  /// Whether only whitespace follows the closing bracket.
  private static func isEnd(_ bytes: UnsafeRawBufferPointer, after bracket: Int) -> Bool {
    bytes[(bracket + 1)...].allSatisfy(\.isSpace)
  }

  /// A range without whitespace at its ends.
  private static func trimmed(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Range<Int> {
    var (start, end) = (range.lowerBound, range.upperBound)
    while start < end, bytes[start].isSpace { start += 1 }
    while end > start, bytes[end - 1].isSpace { end -= 1 }
    return start..<end
  }

  /// Advances past whitespace.
  private static func skipSpace(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) {
    while position < bytes.count, bytes[position].isSpace { position += 1 }
  }
}
