import Foundation

/// Reads the property lists of NeXTSTEP, which Apple's tools still take: `{ a = b; }`, `( 1, 2 )`,
/// `<0fbd77>`, `"quoted"`, `'quoted'` and plain words.
///
/// All scalars are texts or data; numbers are texts, too. Taken beyond that:
/// - the contents of a dictionary without its braces, as files of translations have them, and
///   `{ a; }` for `{ a = a; }`, as Apple's reader takes them;
/// - GNUstep's typed values `<*I5>`, `<*R0.5>`, `<*BY>`, `<*BN>`, `<*D2026-11-21 19:30:00 +0000>` and
///   `<[Base64]>`;
/// - `[ 1, 2 ]` for `( 1, 2 )`, a comma behind the last element, a last `;` left out.
struct TextPropertyListReader {
  private var scanner: ByteScanner

  /// The property list in UTF-8.
  static func read(_ bytes: UnsafeRawBufferPointer) throws -> PropertyList {
    var reader = TextPropertyListReader(scanner: ByteScanner(bytes))
    return try reader.document()
  }

  private func damaged(_ message: String) -> PropertyListError {
    .damaged(message, at: scanner.offset)
  }

  private mutating func document() throws -> PropertyList {
    try skipSpace()
    let start = scanner.offset
    let list = try value(depth: 0)
    try skipSpace()
    if scanner.isAtEnd { return list }
    guard case .string = list, scanner.isNext("=") || scanner.isNext(";") else {
      throw damaged("There is something behind the property list.")
    }
    scanner.back(to: start)
    let fields = try fields(depth: 1)
    guard scanner.isAtEnd else { throw damaged("There is something behind the property list.") }
    return .dictionary(fields)
  }

  /// Passes over space and comments.
  private mutating func skipSpace() throws {
    while true {
      scanner.skipSpace()
      if scanner.take("//") {
        _ = scanner.take { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
      } else if scanner.take("/*") {
        guard scanner.skip(past: "*/") != nil else { throw damaged("A comment has no end.") }
      } else {
        return
      }
    }
  }
}

extension TextPropertyListReader {
  private mutating func value(depth: Int) throws -> PropertyList {
    switch scanner.next {
    case UInt8(ascii: "{"):
      guard depth < PropertyList.maximumDepth else {
        throw PropertyListError.tooDeep(at: scanner.offset)
      }
      scanner.skip()
      let fields = try fields(depth: depth + 1)
      guard scanner.take("}") else { throw damaged("A dictionary has no end.") }
      return .dictionary(fields)
    case UInt8(ascii: "("): return .array(try elements(until: ")", depth: depth))
    case UInt8(ascii: "["): return .array(try elements(until: "]", depth: depth))
    case UInt8(ascii: "<"):
      scanner.skip()
      if scanner.take("*") { return try typedValue() }
      if scanner.take("[") { return .data(try base64()) }
      return .data(try hexadecimal())
    default: return .string(try text())
    }
  }

  private mutating func elements(until end: StaticString, depth: Int) throws -> [PropertyList] {
    guard depth < PropertyList.maximumDepth else {
      throw PropertyListError.tooDeep(at: scanner.offset)
    }
    scanner.skip()
    var elements: [PropertyList] = []
    try skipSpace()
    while !scanner.take(end) {
      elements.append(try value(depth: depth + 1))
      try skipSpace()
      if scanner.take(",") {
        try skipSpace()
      } else if !scanner.isNext(end) {
        throw damaged("An array lacks a comma or its end.")
      }
    }
    return elements
  }

  /// Keys and values as far as there are any.
  private mutating func fields(depth: Int) throws -> PropertyList.Fields {
    var fields: [PropertyList.Fields.Field] = []
    try skipSpace()
    while !scanner.isAtEnd, !scanner.isNext("}") {
      let key = try text()
      try skipSpace()
      if scanner.take("=") {
        try skipSpace()
        fields.append(.init(key, try value(depth: depth)))
        try skipSpace()
      } else {
        fields.append(.init(key, .string(key)))
        guard scanner.isNext(";") else { throw damaged("A key lacks its \"=\" or its end.") }
      }
      let isEnded = scanner.take(";")
      try skipSpace()
      guard isEnded || scanner.isAtEnd || scanner.isNext("}") else {
        throw damaged("A value in a dictionary lacks its \";\".")
      }
    }
    return PropertyList.Fields(fields)
  }
}

extension TextPropertyListReader {
  private mutating func hexadecimal() throws -> Data {
    let digits = scanner.take { $0.isSpace || $0.hexadecimalValue != nil }
    let values = digits.compactMap(\.hexadecimalValue)
    guard values.count.isMultiple(of: 2), scanner.take(">") else {
      throw damaged("Data is not made of pairs of hexadecimal digits.")
    }
    return Data(
      stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] })
  }

  private mutating func base64() throws -> Data {
    let digits = scanner.take { $0 != UInt8(ascii: "]") }.filter { !$0.isSpace }
    guard scanner.take("]>"), let data = Data(base64Encoded: Data(digits)) else {
      throw damaged("Data is not Base64.")
    }
    return data
  }

  private mutating func typedValue() throws -> PropertyList {
    let start = scanner.offset
    let kind = scanner.next
    scanner.skip()
    // GNUstep puts quotes around some.
    let content = scanner.take { $0 != UInt8(ascii: ">") }.filter { $0 != UInt8(ascii: "\"") }
    let text = String(decoding: content, as: UTF8.self)
    guard scanner.take(">") else { throw damaged("A typed value has no end.") }
    let value: PropertyList? =
      switch kind {
      case UInt8(ascii: "I"):
        Int64(text).map { .integer($0) } ?? UInt64(text).map { .unsignedInteger($0) }
      case UInt8(ascii: "R"): Double(text).map { .double($0) }
      case UInt8(ascii: "B"): text == "Y" ? .bool(true) : text == "N" ? .bool(false) : nil
      case UInt8(ascii: "D"): Self.date(text).map { .date($0) }
      default: nil
      }
    guard let value else {
      throw PropertyListError.damaged("A typed value is malformed.", at: start)
    }
    return value
  }

  /// A date such as `2026-11-21 19:30:00 +0100`.
  private static func date(_ text: String) -> Date? {
    let parts = text.split(separator: " ")
    guard parts.count == 3, let zone = Int(parts[2]), parts[2].utf8.count == 5,
      let date = PropertyListDate.date("\(parts[0])T\(parts[1])Z".utf8)
    else { return nil }
    let (hours, minutes) = zone.quotientAndRemainder(dividingBy: 100)
    return date - Double(hours * 3600 + minutes * 60)
  }
}

extension TextPropertyListReader {
  private mutating func text() throws -> String {
    if let quote = scanner.next, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
      return try quotedText(quote)
    }
    let word = scanner.take { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
      default: byte.isDigit || "_$/:.-".utf8.contains(byte)
      }
    }
    guard !word.isEmpty else {
      throw damaged("Something is missing, or there is a character that has to be in quotes.")
    }
    return String(decoding: word, as: UTF8.self)
  }

  private mutating func quotedText(_ quote: UInt8) throws -> String {
    let start = scanner.offset
    scanner.skip()
    var text: [UInt8] = []
    while true {
      text += scanner.take { $0 != quote && $0 != UInt8(ascii: "\\") }
      if scanner.take("\\") {
        text += try escape().utf8
      } else {
        break
      }
    }
    guard !scanner.isAtEnd else {
      throw PropertyListError.damaged("A text in quotes has no end.", at: start)
    }
    scanner.skip()
    guard let string = String(validating: text, as: UTF8.self) else {
      throw PropertyListError.damaged("A text is not UTF-8.", at: start)
    }
    return string
  }

  /// What stands behind a backslash.
  private mutating func escape() throws -> String {
    guard let byte = scanner.next else { throw damaged("A text in quotes has no end.") }
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "7"): return try octal()
    case UInt8(ascii: "U"), UInt8(ascii: "u"): return try utf16()
    default: scanner.skip()
    }
    switch byte {
    case UInt8(ascii: "a"): return "\u{7}"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "v"): return "\u{B}"
    case 0x80...:
      // The first byte of a character: the others follow it as what they are.
      scanner.back(to: scanner.offset - 1)
      return ""
    default: return String(Unicode.Scalar(byte))
    }
  }

  /// Up to three octal digits: a character of NeXTSTEP's own set.
  private mutating func octal() throws -> String {
    var number = 0
    for _ in 0..<3 {
      guard let byte = scanner.next, (0x30...0x37).contains(byte) else { break }
      number = number * 8 + Int(byte - 0x30)
      scanner.skip()
    }
    guard let code = UInt8(exactly: number),
      let text = String(bytes: [code], encoding: .nextstep)
    else { throw damaged("An octal escape names no character.") }
    return text
  }

  /// Up to four hexadecimal digits, and as many again where a pair makes one character.
  private mutating func utf16() throws -> String {
    var units: [UInt16] = []
    repeat {
      scanner.skip(units.isEmpty ? 1 : 2)
      var unit: UInt16 = 0
      var count = 0
      while count < 4, let value = scanner.next?.hexadecimalValue {
        unit = unit << 4 | UInt16(value)
        scanner.skip()
        count += 1
      }
      guard count > 0 else { throw damaged("A \\U has no hexadecimal digits.") }
      units.append(unit)
    } while units.count == 1 && UTF16.isLeadSurrogate(units[0])
      && (scanner.isNext("\\U") || scanner.isNext("\\u"))
    return String(decoding: units, as: UTF16.self)
  }
}
