import Foundation
import SteadEncoding

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
