import Foundation

/// Whole numbers in groups of seven bits, lowest first, as in LEB128.
enum Varint {
  @inline(__always)
  static func byteCount(_ number: Int) -> Int {
    var (rest, count) = (number >> 7, 1)
    while rest != 0 {
      rest >>= 7
      count += 1
    }
    return count
  }

  @inline(__always)
  static func encode(
    _ number: Int, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
  ) -> Int {
    var (rest, position) = (UInt(number), offset)
    while rest > 127 {
      buffer[position] = UInt8(truncatingIfNeeded: rest) | 128
      rest >>= 7
      position += 1
    }
    buffer[position] = UInt8(rest)
    return position + 1 - offset
  }

  static func append(_ number: Int, to bytes: inout [UInt8]) {
    var rest = UInt(number)
    while rest > 127 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 128)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  static func decode(_ bytes: UnsafeRawBufferPointer) throws -> (number: Int, width: Int) {
    if let first = bytes.first, first < 128 { return (Int(first), 1) }
    var number = 0
    for (index, byte) in bytes.prefix(8).enumerated() {
      number |= Int(byte & 127) << (7 * index)
      if byte < 128 { return (number, index + 1) }
    }
    throw PreferencesError(code: .damaged, message: "A record of the journal ends too early.")
  }
}
