/// A position in bytes that are read from front to back.
struct ByteScanner {
  let bytes: UnsafeRawBufferPointer
  private(set) var offset = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var isAtEnd: Bool { offset == bytes.count }

  /// The next byte; nil at the end.
  var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  mutating func skip(_ count: Int = 1) { offset = min(offset + count, bytes.count) }

  mutating func back(to offset: Int) { self.offset = min(max(offset, 0), bytes.count) }

  func isNext(_ text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    guard count <= bytes.count - offset else { return false }
    return (0..<count).allSatisfy { bytes[offset + $0] == text.utf8Start[$0] }
  }

  /// Advances past `text` if that is next.
  mutating func take(_ text: StaticString) -> Bool {
    guard isNext(text) else { return false }
    offset += text.utf8CodeUnitCount
    return true
  }

  mutating func skipSpace() {
    while let byte = next, byte.isSpace { offset += 1 }
  }

  /// Advances past the next `text`, and returns where it began; nil, at the end, when it does not occur.
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

  /// Advances past the bytes that satisfy `condition`, and returns them.
  mutating func take(while condition: (UInt8) -> Bool) -> UnsafeRawBufferPointer {
    let start = offset
    while let byte = next, condition(byte) { offset += 1 }
    return UnsafeRawBufferPointer(rebasing: bytes[start..<offset])
  }
}

extension UInt8 {
  var isSpace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }

  var isDigit: Bool { (0x30...0x39).contains(self) }

  /// The value of a hexadecimal digit.
  var hexadecimalValue: UInt8? {
    switch self {
    case 0x30...0x39: self - 0x30
    case 0x41...0x46: self - 0x37
    case 0x61...0x66: self - 0x57
    default: nil
    }
  }
}
