/// Reads the tokens of JSON in UTF-8 (RFC 8259) from untrusted bytes. Never traps.
///
/// ```swift
/// mutating func value() throws(JSONSyntaxError) -> Value {
///   switch try tokens.next() {
///   case .array:
///     var values: [Value] = []
///     guard try tokens.openArray() else { return .array(values) }
///     repeat { values.append(try value()) } while try tokens.hasNextElement()
///     return .array(values)
///   …
/// ```
///
/// Strict: no trailing commas, no leading zeros, no control characters in strings, no unpaired surrogates, no byte order
/// mark, no invalid UTF-8, which would otherwise come back as other characters. What the RFC leaves open is the caller's:
/// the range of numbers, and names that occur twice.
///
/// The bytes are borrowed, so a tokenizer must not outlive the closure that provides them. Only strings are allocated.
///
/// Costs time in proportion to the bytes, and no memory but the strings. After an error the position is undefined: a
/// tokenizer that has thrown must not be used again.
package struct JSONTokenizer {
  /// What a value is.
  package enum Kind { case null, `true`, `false`, number, string, array, object }

  /// A number as it is written.
  package struct Number {
    /// Its digits, valid as long as the tokenizer's bytes.
    package let text: UnsafeBufferPointer<UInt8>
    /// Whether it has neither a fraction nor an exponent.
    package let isWhole: Bool
  }

  private let bytes: UnsafeBufferPointer<UInt8>
  private let depthLimit: Int
  private var depth = 0
  /// The index of the next byte.
  private var position = 0

  /// - Parameter depthLimit: How deep arrays and objects may be nested. Whoever reads them recursively needs a limit:
  ///   crafted input would exhaust the stack.
  package init(_ bytes: UnsafeRawBufferPointer, depthLimit: Int) {
    // The memory holds bytes of whatever type, and a byte may be read as one of any type.
    self.bytes = bytes.assumingMemoryBound(to: UInt8.self)
    self.depthLimit = depthLimit
  }

  /// The error of a caller that expects something else than it has just read.
  package func failure(_ expected: String) -> JSONSyntaxError {
    JSONSyntaxError(position: position, reason: .expected(expected))
  }

  // MARK: - Values

  /// The kind of the next value, by its first byte. `null`, `true` and `false` are consumed. Of another value nothing
  /// is, and the function that reads it has to be called; a byte that begins no value counts as a number, and
  /// ``number()`` throws.
  package mutating func next() throws(JSONSyntaxError) -> Kind {
    skipSpace()
    switch byte {
    case UInt8(ascii: "{"): return .object
    case UInt8(ascii: "["): return .array
    case UInt8(ascii: "\""): return .string
    case UInt8(ascii: "t"):
      try expect("true")
      return .true
    case UInt8(ascii: "f"):
      try expect("false")
      return .false
    case UInt8(ascii: "n"):
      try expect("null")
      return .null
    default: return .number
    }
  }

  /// Moves past the opening bracket of an array; returns whether an element follows. If none does, the position is
  /// after the array.
  ///
  /// - Throws: ``JSONSyntaxError/Reason/depth`` beyond the depth limit.
  package mutating func openArray() throws(JSONSyntaxError) -> Bool {
    try open()
    return !closes(UInt8(ascii: "]"))
  }

  /// Moves past a comma, or past the end of the array; returns whether an element follows.
  package mutating func hasNextElement() throws(JSONSyntaxError) -> Bool {
    skipSpace()
    if takes(UInt8(ascii: ",")) { return true }
    guard closes(UInt8(ascii: "]")) else { throw failure("]") }
    return false
  }

  /// Moves past the opening brace of an object; returns whether a member follows. If none does, the position is after
  /// the object.
  ///
  /// - Throws: ``JSONSyntaxError/Reason/depth`` beyond the depth limit.
  package mutating func openObject() throws(JSONSyntaxError) -> Bool {
    try open()
    return !closes(UInt8(ascii: "}"))
  }

  /// Moves past a comma, or past the end of the object; returns whether a member follows.
  package mutating func hasNextMember() throws(JSONSyntaxError) -> Bool {
    skipSpace()
    if takes(UInt8(ascii: ",")) { return true }
    guard closes(UInt8(ascii: "}")) else { throw failure("}") }
    return false
  }

  /// Reads a member's name, and moves to its value.
  package mutating func name() throws(JSONSyntaxError) -> String {
    try beginName()
    let name = try string()
    try endName()
    return name
  }

  /// Moves to the quotation mark of a member's name.
  private mutating func beginName() throws(JSONSyntaxError) {
    skipSpace()
    guard byte == UInt8(ascii: "\"") else { throw failure("a member's name") }
  }

  /// Moves from the end of a member's name to its value.
  private mutating func endName() throws(JSONSyntaxError) {
    skipSpace()
    guard takes(UInt8(ascii: ":")) else { throw failure(":") }
  }

  /// Moves past a value with all that is in it, which is checked as if it were read. For JSON that is passed on as it
  /// is.
  ///
  /// Allocates nothing, except for a string with escapes or characters beyond ASCII, while it is checked.
  package mutating func skipValue() throws(JSONSyntaxError) {
    switch try next() {
    case .null, .true, .false: break
    case .number: _ = try number()
    case .string: try skipString()
    case .array:
      guard try openArray() else { return }
      repeat { try skipValue() } while try hasNextElement()
    case .object:
      guard try openObject() else { return }
      repeat {
        try beginName()
        try skipString()
        try endName()
        try skipValue()
      } while try hasNextMember()
    }
  }

  /// Throws unless nothing but whitespace follows.
  package mutating func end() throws(JSONSyntaxError) {
    skipSpace()
    guard position == bytes.count else { throw failure("the end") }
  }

  /// Moves past an opening bracket and whitespace.
  private mutating func open() throws(JSONSyntaxError) {
    guard depth < depthLimit else { throw JSONSyntaxError(position: position, reason: .depth) }
    depth += 1
    position += 1
    skipSpace()
  }

  /// Moves past a closing bracket if it is the next byte.
  private mutating func closes(_ bracket: UInt8) -> Bool {
    guard takes(bracket) else { return false }
    depth -= 1
    return true
  }

  // MARK: - Numbers

  /// Reads a number. Its range isn't checked: the caller converts the digits, and decides what is too large.
  package mutating func number() throws(JSONSyntaxError) -> Number {
    let start = position
    _ = takes(UInt8(ascii: "-"))
    let first = position
    let count = skipDigits()
    // "01" would be a number followed by a stray digit.
    guard count > 0, count == 1 || bytes[first] != UInt8(ascii: "0") else {
      throw failure("a value")
    }
    var isWhole = true
    if takes(UInt8(ascii: ".")) {
      isWhole = false
      guard skipDigits() > 0 else { throw failure("a digit") }
    }
    if takes(UInt8(ascii: "e")) || takes(UInt8(ascii: "E")) {
      isWhole = false
      _ = takes(UInt8(ascii: "+")) || takes(UInt8(ascii: "-"))
      guard skipDigits() > 0 else { throw failure("a digit") }
    }
    return Number(
      text: UnsafeBufferPointer(rebasing: bytes[start..<position]), isWhole: isWhole)
  }

  /// Moves past digits, and returns their number.
  private mutating func skipDigits() -> Int {
    let start = position
    while let byte, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
    return position - start
  }

  // MARK: - Strings

  /// Reads a string. Most have no escapes, and are copied as a whole.
  ///
  /// The bytes are validated as UTF-8 and never repaired: a replacement character would make different strings equal.
  package mutating func string() throws(JSONSyntaxError) -> String {
    position += 1
    let start = position
    // From behind the quotation mark, by which `next()` or `name()` has found the string.
    let run = JSONText.endOfRun(in: bytes, from: start)
    position = run.end
    if takes(UInt8(ascii: "\"")) {
      let text = UnsafeBufferPointer(rebasing: bytes[start..<run.end])
      // ASCII is always valid.
      if run.isASCII { return String(decoding: text, as: UTF8.self) }
      return try validated(text)
    }
    // The string has an escape, or no end. Its parts are collected in a copy, and validated as a whole.
    var text = Array(bytes[start..<position])
    while let byte {
      switch byte {
      case UInt8(ascii: "\""):
        position += 1
        return try validated(text)
      case UInt8(ascii: "\\"):
        position += 1
        try appendEscaped(to: &text)
      case 0..<0x20:
        position += 1
        throw failure("an escape")
      default:
        let end = JSONText.endOfRun(in: bytes, from: position).end
        text.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[position..<end]))
        position = end
      }
    }
    throw failure("a quotation mark")
  }

  /// Moves past a string.
  private mutating func skipString() throws(JSONSyntaxError) {
    let run = JSONText.endOfRun(in: bytes, from: position + 1)
    // ASCII without escapes is valid, so there is nothing to check but the end.
    if run.isASCII, run.end < bytes.count, bytes[run.end] == UInt8(ascii: "\"") {
      position = run.end + 1
    } else {
      _ = try string()
    }
  }

  /// A string of bytes; throws unless they are UTF-8.
  private func validated(_ text: some Collection<UInt8>) throws(JSONSyntaxError) -> String {
    guard let text = String(validating: text, as: UTF8.self) else { throw failure("UTF-8") }
    return text
  }

  /// Reads an escape after its backslash.
  private mutating func appendEscaped(to text: inout [UInt8]) throws(JSONSyntaxError) {
    guard let byte else { throw failure("an escape") }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"): text.append(contentsOf: String(try scalar()).utf8)
    default: throw failure("an escape")
    }
  }

  /// Reads `XXXX` of `\uXXXX`, or a surrogate pair. An unpaired surrogate has no UTF-8.
  private mutating func scalar() throws(JSONSyntaxError) -> Unicode.Scalar {
    var code = try codeUnit()
    if (0xD800..<0xDC00).contains(code) {
      guard takes(UInt8(ascii: "\\")), takes(UInt8(ascii: "u")) else {
        throw failure("a low surrogate")
      }
      let low = try codeUnit()
      guard (0xDC00..<0xE000).contains(low) else { throw failure("a low surrogate") }
      code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
    }
    guard let scalar = Unicode.Scalar(code) else { throw failure("a character") }
    return scalar
  }

  /// Reads four hexadecimal digits.
  private mutating func codeUnit() throws(JSONSyntaxError) -> UInt32 {
    var code: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = byte.flatMap(Self.hexadecimalValue) else {
        throw failure("a hexadecimal digit")
      }
      position += 1
      code = code << 4 | UInt32(digit)
    }
    return code
  }

  /// The value of a hexadecimal digit of either case; nil for another byte.
  private static func hexadecimalValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x37
    case 0x61...0x66: byte - 0x57
    default: nil
    }
  }

  // MARK: - Bytes

  /// The next byte; nil at the end.
  private var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

  /// Moves past a byte if it is the next one, and returns whether it was.
  private mutating func takes(_ expected: UInt8) -> Bool {
    guard byte == expected else { return false }
    position += 1
    return true
  }

  /// Moves past `null`, `true` or `false`.
  private mutating func expect(_ word: String) throws(JSONSyntaxError) {
    for byte in word.utf8 {
      guard takes(byte) else { throw failure(word) }
    }
  }

  /// Skips the four whitespace characters of JSON.
  private mutating func skipSpace() {
    while let byte, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
  }
}

/// Why bytes aren't JSON.
package struct JSONSyntaxError: Error, Hashable {
  /// What is wrong.
  package enum Reason: Hashable, Sendable {
    /// What should be at the position; never a part of the bytes.
    case expected(String)
    /// Arrays or objects are nested too deep.
    case depth
  }

  /// The index of the first byte that is wrong, or of the one after it.
  package let position: Int
  /// What is wrong at the position.
  package let reason: Reason
}
