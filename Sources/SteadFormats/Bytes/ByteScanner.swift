/// A cursor over bytes, for recursive-descent parsers of text formats.
///
/// The offset never leaves the bounds. The bytes are borrowed, so a scanner must not outlive the
/// closure that provides them.
struct ByteScanner {
  /// All bytes, from offset 0.
  let bytes: UnsafeRawBufferPointer
  /// The index of the next byte; `bytes.count` at the end.
  private(set) var offset = 0

  /// A scanner at the beginning of bytes.
  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// Whether all bytes were consumed.
  var isAtEnd: Bool { offset == bytes.count }

  /// The next byte, which stays; nil at the end.
  var peek: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  /// Advances by a number of bytes, at most to the end.
  mutating func skip(_ count: Int = 1) { offset = min(offset + count, bytes.count) }

  /// Whether the next bytes are `text`.
  func isNext(_ text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    guard count <= bytes.count - offset else { return false }
    return (0..<count).allSatisfy { bytes[offset + $0] == text.utf8Start[$0] }
  }

  /// Advances past `text` if that is next, and returns whether it was.
  mutating func consume(_ text: StaticString) -> Bool {
    guard isNext(text) else { return false }
    offset += text.utf8CodeUnitCount
    return true
  }

  /// Advances past whitespace, vertical tab and form feed included.
  mutating func skipSpace() {
    while let byte = peek, byte.isSpace { offset += 1 }
  }

  /// Advances past the next occurrence of `text`, and returns where that begins; nil, at the end,
  /// if there is none.
  mutating func skip(past text: StaticString) -> Int? {
    while !isAtEnd {
      if isNext(text) {
        defer { offset += text.utf8CodeUnitCount }
        return offset
      }
      offset += 1
    }
    return nil
  }

  /// Advances past the longest run of bytes that satisfy `condition`, and returns them without a
  /// copy.
  mutating func consume(while condition: (UInt8) -> Bool) -> UnsafeRawBufferPointer {
    let start = offset
    while let byte = peek, condition(byte) { offset += 1 }
    return UnsafeRawBufferPointer(rebasing: bytes[start..<offset])
  }
}

extension UInt8 {
  /// Whether the byte is ASCII whitespace: a space, or one of tab, line feed, vertical tab, form
  /// feed and carriage return.
  var isSpace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }

  /// Whether the byte is an ASCII decimal digit.
  var isDigit: Bool { (0x30...0x39).contains(self) }

  /// The value of a hexadecimal digit of either case; nil for another byte.
  var hexadecimalValue: UInt8? {
    switch self {
    case 0x30...0x39: self - 0x30
    case 0x41...0x46: self - 0x37
    case 0x61...0x66: self - 0x57
    default: nil
    }
  }
}

// MARK: - Bytes in memory

extension UnsafeRawBufferPointer {
  /// Whether no byte has its high bit set. Tests eight bytes at once.
  @inlinable @inline(__always)
  package var isASCII: Bool {
    var bits: UInt64 = 0
    var offset = 0
    while offset + 8 <= count {
      bits |= loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      offset += 8
    }
    while offset < count {
      bits |= UInt64(self[offset])
      offset += 1
    }
    return bits & 0x8080_8080_8080_8080 == 0
  }

  /// A 64-bit hash of the bytes: equal for equal bytes, and the same in each run of a program.
  ///
  /// Multiplicative, by the golden ratio. It isn't keyed, so crafted input can collide; the encoder
  /// that uses it then becomes slower, not wrong.
  @inline(__always)
  var contentHash: UInt64 {
    let factor: UInt64 = 0x9E37_79B9_7F4A_7C15
    var hash = UInt64(truncatingIfNeeded: count) &* factor
    var offset = 0
    while offset + 8 <= count {
      hash = (hash ^ loadUnaligned(fromByteOffset: offset, as: UInt64.self)) &* factor
      hash ^= hash >> 29
      offset += 8
    }
    var last: UInt64 = 0
    while offset < count {
      last = last << 8 | UInt64(self[offset])
      offset += 1
    }
    hash = (hash ^ last) &* factor
    return hash ^ (hash >> 32)
  }

  /// The big-endian integer of 1 to 8 bytes at an offset whose bounds the caller has checked.
  @inline(__always)
  func bigEndian(at offset: Int, size: Int) -> UInt64 {
    switch size {
    // Writers use powers of two. The format allows the other sizes.
    case 1: return UInt64(self[offset])
    case 2: return UInt64(UInt16(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
    case 4: return UInt64(UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    case 8: return UInt64(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    default:
      var number: UInt64 = 0
      for index in offset..<(offset + size) { number = number << 8 | UInt64(self[index]) }
      return number
    }
  }
}
