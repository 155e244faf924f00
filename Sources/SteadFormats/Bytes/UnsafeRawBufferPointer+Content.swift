extension UnsafeRawBufferPointer {
  /// Whether no byte has its high bit set.
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

  /// A hash that is the same for equal bytes, and usually differs for others.
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
}

extension UnsafeRawBufferPointer {
  /// The big-endian number of 1 to 8 bytes at an offset that has been checked.
  @inline(__always)
  func bigEndian(at offset: Int, size: Int) -> UInt64 {
    switch size {
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
