import Foundation

/// String orders that equal Swift's and Foundation's.
enum TextOrder {
  /// The order of `String`'s `<`, by canonical equivalence.
  static func canonical(
    _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer
  ) -> Int32 {
    if isASCII(left), isASCII(right) { return bytes(left, right) }
    let one = String(decoding: left, as: UTF8.self)
    let other = String(decoding: right, as: UTF8.self)
    return one == other ? 0 : one < other ? -1 : 1
  }

  /// The order of `String.StandardComparator.lexical`.
  static func lexical(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int32 {
    if isPlain(left), isPlain(right) { return bytes(left, right) }
    let one = String(decoding: left, as: UTF8.self)
    let other = String(decoding: right, as: UTF8.self)
    return Int32(String.StandardComparator.lexical.compare(one, other).rawValue)
  }

  static func bytes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int32 {
    let count = min(left.count, right.count)
    if count > 0, let one = left.baseAddress, let other = right.baseAddress {
      let order = memcmp(one, other, count)
      if order != 0 { return order }
    }
    return left.count == right.count ? 0 : left.count < right.count ? -1 : 1
  }

  static func isASCII(_ text: UnsafeRawBufferPointer) -> Bool {
    var all: UInt8 = 0
    for byte in text { all |= byte }
    return all < 0x80
  }

  /// Whether every byte is one character: ASCII without carriage returns, since one forms a single character with a
  /// line feed.
  static func isPlain(_ text: UnsafeRawBufferPointer) -> Bool {
    var all: UInt8 = 0
    var hasReturn = false
    for byte in text {
      all |= byte
      hasReturn = hasReturn || byte == 0x0D
    }
    return all < 0x80 && !hasReturn
  }
}
