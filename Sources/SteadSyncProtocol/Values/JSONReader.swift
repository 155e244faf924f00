/// Reads JSON from untrusted bytes. Never traps; throws ``SyncCodingError``.
///
/// Stricter than JSON where peers could differ: a whole number must fit 64 bits, a number must be finite, no member may
/// appear twice, and nothing may be nested deeper than ``SyncValue/depthLimit``.
struct JSONReader {
  private let bytes: [UInt8]
  private var position = 0

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  static func value(_ bytes: [UInt8]) throws(SyncCodingError) -> SyncValue {
    var reader = JSONReader(bytes)
    let value = try reader.value(depth: SyncValue.depthLimit)
    reader.skipSpace()
    guard reader.position == bytes.count else { throw reader.malformed("the end") }
    return value
  }

  private func malformed(_ expected: String) -> SyncCodingError {
    SyncCodingError(
      .malformed, "The JSON is damaged at byte \(position): \(expected) was expected.")
  }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
      position += 1
    }
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    position += 1
    return true
  }

  private mutating func value(depth: Int) throws(SyncCodingError) -> SyncValue {
    skipSpace()
    switch next {
    case UInt8(ascii: "{"): return try object(depth: depth)
    case UInt8(ascii: "["): return try array(depth: depth)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return try number()
    }
  }

  private mutating func word(_ text: String, _ value: SyncValue) throws(SyncCodingError)
    -> SyncValue
  {
    for byte in text.utf8 {
      guard take(byte) else { throw malformed(text) }
    }
    return value
  }

  private mutating func open(_ depth: Int) throws(SyncCodingError) {
    guard depth > 0 else {
      throw SyncCodingError(
        .limit, "The JSON is nested deeper than \(SyncValue.depthLimit) levels.")
    }
    position += 1
    skipSpace()
  }

  private mutating func array(depth: Int) throws(SyncCodingError) -> SyncValue {
    try open(depth)
    var values: [SyncValue] = []
    if take(UInt8(ascii: "]")) { return .array(values) }
    repeat {
      values.append(try value(depth: depth - 1))
      skipSpace()
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "]")) else { throw malformed("]") }
    return .array(values)
  }

  private mutating func object(depth: Int) throws(SyncCodingError) -> SyncValue {
    try open(depth)
    if take(UInt8(ascii: "}")) { return .object([:]) }
    // Most objects have that many; growing costs more than the room.
    var members = [String: SyncValue](minimumCapacity: 6)
    repeat {
      skipSpace()
      guard next == UInt8(ascii: "\"") else { throw malformed("a member's name") }
      let name = try string()
      skipSpace()
      guard take(UInt8(ascii: ":")) else { throw malformed(":") }
      let member = try value(depth: depth - 1)
      guard members.updateValue(member, forKey: name) == nil else {
        throw malformed("another name")
      }
      skipSpace()
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "}")) else { throw malformed("}") }
    return .object(members)
  }
}

// MARK: Strings and numbers

extension JSONReader {
  private mutating func string() throws(SyncCodingError) -> String {
    position += 1
    let start = position
    // Most strings have no escapes and are copied unchanged. ASCII is always valid UTF-8.
    var isASCII = true
    while position < bytes.count, bytes[position] >= 0x20, bytes[position] != UInt8(ascii: "\""),
      bytes[position] != UInt8(ascii: "\\")
    {
      if bytes[position] >= 0x80 { isASCII = false }
      position += 1
    }
    if take(UInt8(ascii: "\"")) {
      if isASCII {
        return bytes.withUnsafeBufferPointer { bytes in
          String(
            decoding: UnsafeBufferPointer(rebasing: bytes[start..<position - 1]), as: UTF8.self)
        }
      }
      guard let result = String(validating: bytes[start..<position - 1], as: UTF8.self) else {
        throw malformed("UTF-8")
      }
      return result
    }
    var text = Array(bytes[start..<position])
    while let byte = next {
      position += 1
      switch byte {
      case UInt8(ascii: "\""):
        guard let result = String(validating: text, as: UTF8.self) else { throw malformed("UTF-8") }
        return result
      case UInt8(ascii: "\\"): text += try escaped()
      case 0..<0x20: throw malformed("an escape")
      default: text.append(byte)
      }
    }
    throw malformed("a quotation mark")
  }

  private mutating func escaped() throws(SyncCodingError) -> [UInt8] {
    guard let byte = next else { throw malformed("an escape") }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
    case UInt8(ascii: "b"): return [0x08]
    case UInt8(ascii: "f"): return [0x0C]
    case UInt8(ascii: "n"): return [0x0A]
    case UInt8(ascii: "r"): return [0x0D]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "u"): return try unicode()
    default: throw malformed("an escape")
    }
  }

  private mutating func unicode() throws(SyncCodingError) -> [UInt8] {
    var code = try fourDigits()
    if (0xD800..<0xDC00).contains(code) {
      guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
        throw malformed("a low surrogate")
      }
      let low = try fourDigits()
      guard (0xDC00..<0xE000).contains(low) else { throw malformed("a low surrogate") }
      code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
    }
    guard let scalar = Unicode.Scalar(code) else { throw malformed("a character") }
    return Array(String(Character(scalar)).utf8)
  }

  private mutating func fourDigits() throws(SyncCodingError) -> UInt32 {
    var code: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw malformed("a hexadecimal digit")
      }
      position += 1
      code = code << 4 | UInt32(digit)
    }
    return code
  }

  private mutating func number() throws(SyncCodingError) -> SyncValue {
    let start = position
    _ = take(UInt8(ascii: "-"))
    let first = position
    let wholeDigits = skipDigits()
    guard wholeDigits > 0, wholeDigits == 1 || bytes[first] != UInt8(ascii: "0") else {
      throw malformed("a value")
    }
    var isWhole = true
    if take(UInt8(ascii: ".")) {
      isWhole = false
      guard skipDigits() > 0 else { throw malformed("a digit") }
    }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      isWhole = false
      _ = take(UInt8(ascii: "+")) || take(UInt8(ascii: "-"))
      guard skipDigits() > 0 else { throw malformed("a digit") }
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if isWhole {
      guard let number = Int64(text) else { throw malformed("a whole number of 64 bits") }
      return .int(number)
    }
    guard let number = Double(text), number.isFinite else { throw malformed("a finite number") }
    return .double(number)
  }

  private mutating func skipDigits() -> Int {
    let start = position
    while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
    return position - start
  }
}
