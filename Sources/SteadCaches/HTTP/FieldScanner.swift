/// Reads the parts that values of fields are made of (RFC 9110, 5.6), from any bytes.
struct FieldScanner {
  private let bytes: [UInt8]
  private var position = 0

  init(_ value: some StringProtocol) { bytes = Array(value.utf8) }

  var isAtEnd: Bool { position >= bytes.count }

  /// Skips spaces and tabs, and returns whether there were any.
  @discardableResult
  mutating func skipWhitespace() -> Bool {
    let start = position
    while position < bytes.count, Self.isWhitespace(bytes[position]) { position += 1 }
    return position > start
  }

  /// Skips a character if it is the next one.
  mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  /// The token that begins here in lower case, empty if none does.
  mutating func token() -> String {
    let start = position
    while position < bytes.count, Self.isTokenCharacter(bytes[position]) { position += 1 }
    return String(decoding: bytes[start..<position].map(\.lowercasedASCII), as: UTF8.self)
  }

  /// The quoted string that begins here, without quotes and backslashes; nil if none does or if it doesn't end.
  mutating func quotedString() -> String? {
    let start = position
    guard skip("\"") else { return nil }
    var content: [UInt8] = []
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      if byte == UInt8(ascii: "\"") { return String(decoding: content, as: UTF8.self) }
      if byte == UInt8(ascii: "\\"), position < bytes.count {
        content.append(bytes[position])
        position += 1
      } else {
        content.append(byte)
      }
    }
    position = start
    return nil
  }

  /// The rest of the input.
  mutating func rest() -> String {
    defer { position = bytes.count }
    return String(decoding: bytes[position...], as: UTF8.self)
  }

  /// The members of a comma-separated list without the whitespace around them; empty members don't count.
  ///
  /// Commas in quoted strings don't separate. An unclosed quote quotes nothing, so that it cannot hide the directives
  /// after it.
  static func members(of value: String) -> [String] {
    var members: [String] = []
    var scanner = FieldScanner(value)
    var start = 0
    // Looking for the end of each quote again would take time in proportion to the square of the length.
    var quotesEnd = true
    while true {
      while !scanner.isAtEnd, scanner.bytes[scanner.position] != UInt8(ascii: ",") {
        if quotesEnd, scanner.bytes[scanner.position] == UInt8(ascii: "\"") {
          if scanner.quotedString() != nil { continue }
          quotesEnd = false
        }
        scanner.position += 1
      }
      let member = trimmed(scanner.bytes[start..<scanner.position])
      if !member.isEmpty { members.append(String(decoding: member, as: UTF8.self)) }
      if scanner.isAtEnd { return members }
      scanner.position += 1
      start = scanner.position
    }
  }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard let first = bytes.firstIndex(where: { !isWhitespace($0) }),
      let last = bytes.lastIndex(where: { !isWhitespace($0) })
    else { return [] }
    return bytes[first...last]
  }

  private static func isWhitespace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }

  private static func isTokenCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "A")...UInt8(ascii: "Z"):
      true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }
}

extension StringProtocol {
  /// The number that the string is, made of digits alone; one too large is the largest. Nil for anything else.
  var decimalDigits: Int? {
    guard !isEmpty, utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) else {
      return nil
    }
    return Int(self) ?? .max
  }
}
