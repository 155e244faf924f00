import Foundation

/// Parses JSON in UTF-8 (RFC 8259) into ``JSONValue``.
///
/// Stricter than Foundation: no trailing commas, no leading zeros, no control characters in
/// strings, no unpaired surrogates, no byte order mark. Numbers keep their digits, so nothing is
/// lost by reading and writing. If a name occurs twice in an object, the last value counts.
package struct JSONReader {
  /// The maximum nesting depth of arrays and objects, the same as that of `JSONDecoder`. Parsing is
  /// recursive, so a limit keeps crafted input from exhausting the stack.
  static let depthLimit = 512

  private var scanner: ByteScanner

  /// Parses a JSON document; nil if the bytes aren't one.
  package static func value(of data: Data) -> JSONValue? {
    data.withUnsafeBytes { bytes in
      var reader = JSONReader(scanner: ByteScanner(bytes))
      guard let value = reader.value(depth: 0) else { return nil }
      // A document is one value: anything after it but whitespace is an error.
      reader.skipSpace()
      return reader.scanner.isAtEnd ? value : nil
    }
  }

  /// Parses the next value. As of all functions here, a result of nil means a syntax error, after
  /// which the offset is meaningless.
  private mutating func value(depth: Int) -> JSONValue? {
    skipSpace()
    switch scanner.peek {
    case UInt8(ascii: "{")?: return depth < Self.depthLimit ? object(depth: depth + 1) : nil
    case UInt8(ascii: "[")?: return depth < Self.depthLimit ? array(depth: depth + 1) : nil
    case UInt8(ascii: "\"")?: return string().map(JSONValue.string)
    case UInt8(ascii: "t")?: return scanner.consume("true") ? .bool(true) : nil
    case UInt8(ascii: "f")?: return scanner.consume("false") ? .bool(false) : nil
    case UInt8(ascii: "n")?: return scanner.consume("null") ? .null : nil
    default: return number().map(JSONValue.number)
    }
  }

  /// Parses an array from its opening bracket on.
  private mutating func array(depth: Int) -> JSONValue? {
    scanner.skip()
    skipSpace()
    var values: [JSONValue] = []
    if scanner.consume("]") { return .array(values) }
    while let value = value(depth: depth) {
      values.append(value)
      skipSpace()
      if scanner.consume("]") { return .array(values) }
      guard scanner.consume(",") else { return nil }
    }
    return nil
  }

  /// Parses an object from its opening brace on.
  private mutating func object(depth: Int) -> JSONValue? {
    scanner.skip()
    skipSpace()
    var fields: JSONObject = [:]
    if scanner.consume("}") { return .object(fields) }
    while true {
      skipSpace()
      guard scanner.peek == UInt8(ascii: "\""), let name = string() else { return nil }
      skipSpace()
      guard scanner.consume(":"), let value = value(depth: depth) else { return nil }
      // The RFC leaves duplicate names open; JavaScript takes the last value, too.
      fields[name] = value
      skipSpace()
      if scanner.consume("}") { return .object(fields) }
      guard scanner.consume(",") else { return nil }
    }
  }

  /// Parses a number, and returns its text with a lower-case `e` and without a `+`.
  private mutating func number() -> String? {
    var text = scanner.consume("-") ? "-" : ""
    let whole = digits()
    // JSON has no leading zeros: "01" would be a number followed by a stray digit.
    guard let first = whole.utf8.first, first != UInt8(ascii: "0") || whole.utf8.count == 1
    else { return nil }
    text += whole
    if scanner.consume(".") {
      let fraction = digits()
      guard !fraction.isEmpty else { return nil }
      text += "." + fraction
    }
    if scanner.consume("e") || scanner.consume("E") {
      text += "e"
      // The digits are kept, and the spelling of the exponent is not.
      if scanner.consume("-") { text += "-" } else { _ = scanner.consume("+") }
      let exponent = digits()
      guard !exponent.isEmpty else { return nil }
      text += exponent
    }
    return text
  }

  /// Consumes digits; empty if none follow.
  private mutating func digits() -> String {
    String(decoding: scanner.consume(while: \.isDigit), as: UTF8.self)
  }

  /// Parses a string from its opening quotation mark on.
  private mutating func string() -> String? {
    scanner.skip()
    var bytes: [UInt8] = []
    while true {
      // Runs without escapes are copied as a whole. UTF-8 is validated once, at the end.
      bytes += scanner.consume {
        $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") && $0 >= 0x20
      }
      // Invalid UTF-8 is an error rather than U+FFFD, which would change the value when it is
      // written back.
      if scanner.consume("\"") { return String(validating: bytes, as: UTF8.self) }
      guard scanner.consume("\\"), let escaped = escape() else { return nil }
      bytes += escaped.utf8
    }
  }

  /// Parses an escape sequence after its backslash.
  private mutating func escape() -> String? {
    guard let byte = scanner.peek else { return nil }
    scanner.skip()
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"):
      return String(UnicodeScalar(byte))
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return unicode()
    default: return nil
    }
  }

  /// Parses `XXXX` of `\uXXXX`, or a surrogate pair; nil for an unpaired surrogate, which has no
  /// UTF-8.
  private mutating func unicode() -> String? {
    guard let first = codeUnit() else { return nil }
    if let scalar = UnicodeScalar(first) { return String(scalar) }
    // A low surrogate without a high one has no scalar either, and fails here.
    guard UTF16.isLeadSurrogate(first), scanner.consume("\\u"), let second = codeUnit(),
      UTF16.isTrailSurrogate(second)
    else { return nil }
    return String(decoding: [first, second], as: UTF16.self)
  }

  /// Parses four hexadecimal digits.
  private mutating func codeUnit() -> UInt16? {
    var number: UInt16 = 0
    for _ in 0..<4 {
      guard let digit = scanner.peek?.hexadecimalValue else { return nil }
      number = number << 4 | UInt16(digit)
      scanner.skip()
    }
    return number
  }

  /// Skips the four whitespace characters of JSON; ``ByteScanner/skipSpace()`` accepts two more.
  private mutating func skipSpace() {
    _ = scanner.consume { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
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
