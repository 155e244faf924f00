/// Strings of JSON as bytes: where a run without escapes ends, and which characters are escaped.
package enum JSONText {
  // MARK: - Reading

  /// Returns the index of the first byte at or after `start` that a string can't have unescaped: a quotation mark, a
  /// backslash or a control character; the count if there is none. Says also whether the bytes before it are ASCII.
  ///
  /// Tests eight bytes at once.
  ///
  /// Invariant: the result is exact, although the test of a word isn't for all of its bytes: see below. Little-endian
  /// order makes the first byte of memory the lowest one of the word, whatever the processor's order is.
  package static func endOfRun(
    in bytes: UnsafeBufferPointer<UInt8>, from start: Int
  ) -> (end: Int, isASCII: Bool) {
    guard let base = bytes.baseAddress else { return (start, true) }
    let ones: UInt64 = 0x0101_0101_0101_0101
    let highBits: UInt64 = 0x8080_8080_8080_8080
    var index = start
    var seen: UInt64 = 0
    while index + 8 <= bytes.count {
      let word = UInt64(
        littleEndian: UnsafeRawPointer(base).loadUnaligned(fromByteOffset: index, as: UInt64.self))
      let quotes = word ^ (ones &* 0x22)
      let backslashes = word ^ (ones &* 0x5C)
      // A subtraction sets the high bit of a byte that is below the subtrahend (`haszero` and `hasless` of Bit
      // Twiddling Hacks, https://graphics.stanford.edu/~seander/bithacks.html). Its borrow may also set that of bytes
      // after such a one, so only the first is right, and only the first is used.
      let controls = (word &- (ones &* 0x20)) & ~word
      let others = ((quotes &- ones) & ~quotes) | ((backslashes &- ones) & ~backslashes)
      let found = (controls | others) & highBits
      if found != 0 {
        let count = found.trailingZeroBitCount / 8
        // Only the bytes before the one that was found belong to the run.
        seen |= word & ((1 << UInt64(8 * count)) - 1)
        return (index + count, seen & highBits == 0)
      }
      seen |= word
      index += 8
    }
    while index < bytes.count, !isEscaped(bytes[index]) {
      seen |= UInt64(bytes[index])
      index += 1
    }
    return (index, seen & highBits == 0)
  }

  /// Whether an ASCII character has to be escaped in a string.
  private static func isEscaped(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  // MARK: - Writing

  /// Which escapes a writer uses. RFC 8259 requires them for quotation marks, backslashes and characters below U+0020.
  package enum Escapes {
    /// `\n`, `\r` and `\t` for line breaks and tabs, and `\u0001` for other control characters.
    case short
    /// `\u000a` for all control characters.
    case numbers
    /// The same, and for all characters beyond ASCII, as UTF-16.
    case ascii
  }

  /// Appends a string in quotation marks. Costs time in proportion to its UTF-8; with `ascii`, to its UTF-16.
  package static func append(_ text: String, to bytes: inout [UInt8], _ escapes: Escapes) {
    bytes.append(UInt8(ascii: "\""))
    if escapes == .ascii {
      for unit in text.utf16 {
        guard unit < 0x80 else {
          append(number: unit, to: &bytes)
          continue
        }
        let byte = UInt8(unit)
        if isEscaped(byte) {
          append(escaped: byte, to: &bytes, escapes)
        } else {
          bytes.append(byte)
        }
      }
    } else {
      // A copy of the reference, which makes no string.
      var text = text
      text.withUTF8 { append($0, to: &bytes, escapes) }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// A string in quotation marks.
  package static func quoted(_ text: String, _ escapes: Escapes) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count + 2)
    append(text, to: &bytes, escapes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends runs as a whole, and what is between them escaped.
  private static func append(
    _ text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8], _ escapes: Escapes
  ) {
    var start = 0
    while start < text.count {
      let end = endOfRun(in: text, from: start).end
      bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start..<end]))
      if end < text.count { append(escaped: text[end], to: &bytes, escapes) }
      // Behind the escaped byte, or behind the end, which ends the loop.
      start = end + 1
    }
  }

  /// Appends the escape of an ASCII character, the short one where there is one and it is wanted.
  private static func append(escaped byte: UInt8, to bytes: inout [UInt8], _ escapes: Escapes) {
    let short: UInt8? =
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): byte
      case 0x0A where escapes == .short: UInt8(ascii: "n")
      case 0x0D where escapes == .short: UInt8(ascii: "r")
      case 0x09 where escapes == .short: UInt8(ascii: "t")
      default: nil
      }
    guard let short else { return append(number: UInt16(byte), to: &bytes) }
    bytes.append(UInt8(ascii: "\\"))
    bytes.append(short)
  }

  /// Appends the escape of a UTF-16 code unit.
  private static func append(number unit: UInt16, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\\"))
    bytes.append(UInt8(ascii: "u"))
    for shift in [12, 8, 4, 0] as [UInt16] {
      let digit = UInt8((unit >> shift) & 15)
      bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit)
    }
  }
}
