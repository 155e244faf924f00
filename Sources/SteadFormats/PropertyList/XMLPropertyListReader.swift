import Foundation

/// Parses Apple's XML property lists, and the XML that can surround them.
///
/// Declarations, a document type with or without an internal subset, comments, processing
/// instructions and attributes are skipped. Entities are XML's five and character references:
/// declared ones are refused, so there is no entity expansion and no external entity (XXE). Nothing
/// outside the bytes is ever read.
///
/// A list may lack the surrounding `<plist>`. Line ends and control characters in strings stay as
/// they are, since Apple's writer emits them so. If a key occurs twice, its last value counts.
///
/// `PropertyListSerialization` takes 3.8 times as long for 10,000 keys: `Scripts/benchmark formats
/// --cpu`. It also treats two spellings of "é" as one key, and loses the value of one.
struct XMLPropertyListReader {
  private var scanner: ByteScanner

  /// Parses a property list in UTF-8.
  static func read(_ bytes: UnsafeRawBufferPointer) throws -> PropertyList {
    var reader = XMLPropertyListReader(scanner: ByteScanner(bytes))
    return try reader.document()
  }

  /// The elements of property lists. Text that begins with one of them is XML, valid or not.
  static let names: Set<String> = [
    "plist", "dict", "key", "array", "string", "integer", "real", "true", "false", "date", "data",
  ]

  /// A start tag, without its attributes.
  private struct Tag {
    /// The element's name.
    var name: String
    /// Whether the tag closes itself: `<true/>`.
    var isEmpty: Bool
    /// The offset of the tag, for errors.
    var offset: Int
  }

  /// An error at the current offset.
  private func damaged(_ fault: String) -> PropertyListError {
    .damaged(fault, at: scanner.offset)
  }

  // MARK: - Document and tags

  /// Parses the whole document.
  private mutating func document() throws -> PropertyList {
    try skipMiscellaneous()
    let tag = try openTag()
    let list: PropertyList
    // The element around the value is optional.
    if tag.name == "plist" {
      guard !tag.isEmpty else { throw damaged("it has no value") }
      try skipMiscellaneous()
      list = try value(openTag(), depth: 0)
      try skipMiscellaneous()
      try close(tag)
    } else {
      list = try value(tag, depth: 0)
    }
    try skipMiscellaneous()
    // A second value would be lost silently.
    guard scanner.isAtEnd else { throw damaged("other content follows it") }
    return list
  }

  /// Skips whitespace, comments, processing instructions and document types, up to the next tag or
  /// text.
  private mutating func skipMiscellaneous() throws {
    while true {
      scanner.skipSpace()
      if scanner.consume("<!--") {
        guard scanner.skip(past: "-->") != nil else { throw damaged("a comment has no end") }
      } else if scanner.consume("<?") {
        guard scanner.skip(past: "?>") != nil else { throw damaged("an instruction has no end") }
      } else if scanner.consume("<!DOCTYPE") {
        try skipDocumentType()
      } else {
        return
      }
    }
  }

  /// Skips a document type from after `<!DOCTYPE` on. Its declarations are ignored, so no entity
  /// can expand.
  private mutating func skipDocumentType() throws {
    // `>` ends declarations within the brackets of the internal subset, and the document type only
    // outside of them.
    var isInside = false
    while let byte = scanner.peek {
      if scanner.consume("<!--") {
        guard scanner.skip(past: "-->") != nil else { break }
        continue
      }
      scanner.skip()
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "'"):
        _ = scanner.consume { $0 != byte }
        scanner.skip()
      case UInt8(ascii: "["): isInside = true
      case UInt8(ascii: "]"): isInside = false
      case UInt8(ascii: ">") where !isInside: return
      default: break
      }
    }
    throw damaged("its document type has no end")
  }

  /// Parses a start tag; attributes are skipped, quoted `>` included.
  private mutating func openTag() throws -> Tag {
    let offset = scanner.offset
    guard scanner.consume("<") else { throw damaged("it has text where an element is expected") }
    let name = scanner.consume { !$0.isSpace && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ">") }
    while let byte = scanner.peek {
      scanner.skip()
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "'"):
        _ = scanner.consume { $0 != byte }
        scanner.skip()
      case UInt8(ascii: "/"):
        guard scanner.consume(">") else { throw damaged("a tag has no end") }
        return Tag(name: String(decoding: name, as: UTF8.self), isEmpty: true, offset: offset)
      case UInt8(ascii: ">"):
        return Tag(name: String(decoding: name, as: UTF8.self), isEmpty: false, offset: offset)
      // A forgotten `>` would otherwise swallow the next element.
      case UInt8(ascii: "<"): throw damaged("a tag has no end")
      default: break
      }
    }
    throw damaged("a tag has no end")
  }

  /// Parses the end tag of an element.
  private mutating func close(_ tag: Tag) throws {
    guard scanner.consume("</") else { throw damaged("an element isn't closed") }
    let name = scanner.consume { !$0.isSpace && $0 != UInt8(ascii: ">") }
    scanner.skipSpace()
    // Mismatched tags mean that something is missing in between.
    guard name.elementsEqual(tag.name.utf8), scanner.consume(">") else {
      throw damaged("an element is closed under another name")
    }
  }

  // MARK: - Values

  /// Parses the contents of an element, from after its start tag to after its end tag.
  private mutating func value(_ tag: Tag, depth: Int) throws -> PropertyList {
    switch tag.name {
    case "dict": return .dictionary(try fields(tag, depth: depth))
    case "array": return .array(try elements(tag, depth: depth))
    case "string": return .string(try text(tag))
    case "true", "false":
      // `<true></true>` is as good as `<true/>`.
      guard try text(tag).utf8.allSatisfy(\.isSpace) else {
        throw PropertyListError.damaged("a boolean has content", at: tag.offset)
      }
      return .bool(tag.name == "true")
    case "integer":
      guard let number = Self.integer(try trimmedText(tag)) else {
        throw PropertyListError.damaged(
          "a whole number is malformed or beyond 64 bits", at: tag.offset)
      }
      return number
    case "real":
      guard let number = Self.real(try trimmedText(tag)) else {
        throw PropertyListError.damaged("a number is malformed", at: tag.offset)
      }
      return .double(number)
    case "date":
      guard let date = PropertyListDate.date(try trimmedText(tag).utf8) else {
        throw PropertyListError.damaged(
          "a date isn't of the form 2001-01-01T00:00:00Z", at: tag.offset)
      }
      return .date(date)
    case "data":
      // Apple's writer breaks Base64 into indented lines.
      let digits = try text(tag).utf8.filter { !$0.isSpace }
      guard let data = Data(base64Encoded: Data(digits)) else {
        throw PropertyListError.damaged("data isn't Base64", at: tag.offset)
      }
      return .data(data)
    default:
      throw PropertyListError.unsupported(
        "The property list has an element of an unknown kind; remove it.", at: tag.offset)
    }
  }

  /// Parses the contents of an `array`.
  private mutating func elements(_ tag: Tag, depth: Int) throws -> [PropertyList] {
    guard depth < PropertyList.maximumDepth else {
      throw PropertyListError.tooDeep(at: tag.offset)
    }
    guard !tag.isEmpty else { return [] }
    var elements: [PropertyList] = []
    while true {
      try skipMiscellaneous()
      if scanner.isNext("</") { break }
      elements.append(try value(openTag(), depth: depth + 1))
    }
    try close(tag)
    return elements
  }

  /// Parses the contents of a `dict`: keys and values in turn.
  private mutating func fields(_ tag: Tag, depth: Int) throws -> PropertyList.Fields {
    guard depth < PropertyList.maximumDepth else {
      throw PropertyListError.tooDeep(at: tag.offset)
    }
    guard !tag.isEmpty else { return [:] }
    var fields: [PropertyList.Fields.Field] = []
    while true {
      try skipMiscellaneous()
      if scanner.isNext("</") { break }
      let keyTag = try openTag()
      guard keyTag.name == "key" else {
        throw PropertyListError.damaged(
          "a dictionary has a value without a key", at: keyTag.offset)
      }
      let key = try text(keyTag)
      try skipMiscellaneous()
      // Checked here for a better message than a missing element.
      guard !scanner.isNext("</") else { throw damaged("a key has no value") }
      fields.append(.init(key, try value(openTag(), depth: depth + 1)))
    }
    try close(tag)
    return PropertyList.Fields(fields)
  }

  // MARK: - Text

  /// An element's text without surrounding whitespace, for numbers and dates.
  private mutating func trimmedText(_ tag: Tag) throws -> String {
    let text = try text(tag).utf8.drop { $0.isSpace }
    guard let end = text.lastIndex(where: { !$0.isSpace }) else { return "" }
    return String(text[...end]) ?? ""
  }

  /// An element's text, with entities and CDATA sections resolved; consumes the end tag.
  private mutating func text(_ tag: Tag) throws -> String {
    guard !tag.isEmpty else { return "" }
    var text: [UInt8] = []
    while true {
      text += scanner.consume { $0 != UInt8(ascii: "<") && $0 != UInt8(ascii: "&") }
      if scanner.consume("&") {
        text += String(try entity()).utf8
      } else if scanner.consume("<![CDATA[") {
        let start = scanner.offset
        guard let end = scanner.skip(past: "]]>") else {
          throw damaged("a CDATA section has no end")
        }
        // As it is: a CDATA section has no entities.
        text += scanner.bytes[start..<end]
      } else if scanner.consume("<!--") {
        guard scanner.skip(past: "-->") != nil else { throw damaged("a comment has no end") }
      } else {
        break
      }
    }
    try close(tag)
    // Validated once, after entities and CDATA sections are joined.
    guard let string = String(validating: text, as: UTF8.self) else {
      throw PropertyListError.damaged("a string isn't UTF-8", at: tag.offset)
    }
    return string
  }

  /// Parses an entity after its `&`.
  private mutating func entity() throws -> Character {
    if scanner.consume("lt;") { return "<" }
    if scanner.consume("gt;") { return ">" }
    if scanner.consume("amp;") { return "&" }
    if scanner.consume("quot;") { return "\"" }
    if scanner.consume("apos;") { return "'" }
    guard scanner.consume("#") else {
      throw PropertyListError.unsupported(
        "The property list has an entity that XML does not define; write its character instead.",
        at: scanner.offset)
    }
    let radix = scanner.consume("x") ? 16 : 10
    let digits = scanner.consume { $0.hexadecimalValue != nil }
    // More digits can't be a character, and `UInt32(_:radix:)` must not see an arbitrarily long
    // string.
    guard digits.count <= 8, scanner.consume(";"),
      let number = UInt32(String(decoding: digits, as: UTF8.self), radix: radix),
      let scalar = Unicode.Scalar(number)
    else { throw damaged("a character reference names no character") }
    return Character(scalar)
  }

  /// A decimal integer, or a hexadecimal one after `0x`, as in Apple's reader. Leading zeros are
  /// ignored; they don't mean octal.
  private static func integer(_ text: String) -> PropertyList? {
    var digits = Substring(text)
    let isNegative = digits.hasPrefix("-")
    if isNegative || digits.hasPrefix("+") { digits.removeFirst() }
    let isHexadecimal = digits.hasPrefix("0x") || digits.hasPrefix("0X")
    if isHexadecimal { digits.removeFirst(2) }
    guard let first = digits.utf8.first, first.hexadecimalValue != nil,
      let size = UInt64(digits, radix: isHexadecimal ? 16 : 10)
    else { return nil }
    guard isNegative else { return PropertyList(size) }
    // The magnitude of Int64.min is one more than Int64.max.
    return size <= 1 << 63 ? .integer(Int64(truncatingIfNeeded: 0 &- size)) : nil
  }

  /// A floating-point number, or one of the names that Apple's writer uses.
  private static func real(_ text: String) -> Double? {
    switch text.lowercased() {
    case "nan": return .nan
    case "inf", "+inf", "infinity", "+infinity": return .infinity
    case "-inf", "-infinity": return -.infinity
    default:
      // `Double.init` also accepts hexadecimal floats and other spellings, which Apple's reader
      // refuses.
      let isDecimal = text.utf8.allSatisfy { $0.isDigit || "+-.eE".utf8.contains($0) }
      return isDecimal ? Double(text) : nil
    }
  }
}
