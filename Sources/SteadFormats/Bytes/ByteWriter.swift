import Foundation

/// Appends bytes to growing memory, which it hands over without a copy.
struct ByteWriter: ~Copyable {
  private var base: UnsafeMutableRawPointer
  private var capacity: Int
  private(set) var count = 0

  init(capacity: Int) {
    self.capacity = max(capacity, 64)
    base = .allocate(byteCount: self.capacity, alignment: 16)
  }

  deinit { base.deallocate() }

  /// The bytes written from a position on; valid until the next change.
  @inline(__always)
  func bytes(from start: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: base + start, count: count - start)
  }

  /// Whether an offset already holds the same bytes.
  @inline(__always)
  func hasBytes(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Bool {
    guard bytes.count <= count - offset, let start = bytes.baseAddress else { return false }
    return memcmp(base + offset, start, bytes.count) == 0
  }

  @inline(__always)
  mutating func reserve(_ additional: Int) {
    if additional > capacity - count { grow(additional) }
  }

  @inline(never)
  private mutating func grow(_ additional: Int) {
    capacity = max(capacity * 2, count + additional)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    larger.copyMemory(from: base, byteCount: count)
    base.deallocate()
    base = larger
  }

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    reserve(1)
    base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count += 1
  }

  @inline(__always)
  mutating func append(bigEndian number: some FixedWidthInteger) {
    reserve(MemoryLayout.size(ofValue: number))
    base.storeBytes(of: number.bigEndian, toByteOffset: count, as: type(of: number).self)
    count += MemoryLayout.size(ofValue: number)
  }

  @inline(__always)
  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    reserve(bytes.count)
    base.advanced(by: count).copyMemory(from: start, byteCount: bytes.count)
    count += bytes.count
  }

  /// Reserves room for `additional` bytes, which are zeros until they are set.
  mutating func appendZeros(_ additional: Int) {
    reserve(additional)
    base.advanced(by: count).initializeMemory(as: UInt8.self, repeating: 0, count: additional)
    count += additional
  }

  /// Removes everything from `count` on.
  @inline(__always)
  mutating func truncate(to count: Int) { self.count = min(count, self.count) }

  /// Sets the last `size` bytes of the big-endian `number` at a position that was skipped.
  @inline(__always)
  mutating func set(_ number: Int, size: Int, at offset: Int) {
    precondition(offset >= 0 && size <= 8 && offset <= count - size)
    switch size {
    case 1:
      base.storeBytes(of: UInt8(truncatingIfNeeded: number), toByteOffset: offset, as: UInt8.self)
    case 2:
      base.storeBytes(
        of: UInt16(truncatingIfNeeded: number).bigEndian, toByteOffset: offset, as: UInt16.self)
    case 4:
      base.storeBytes(
        of: UInt32(truncatingIfNeeded: number).bigEndian, toByteOffset: offset, as: UInt32.self)
    default:
      base.storeBytes(of: UInt64(number).bigEndian, toByteOffset: offset, as: UInt64.self)
    }
  }

  /// The bytes as `Data`, which takes ownership of the memory.
  consuming func data() -> Data {
    let (base, count) = (base, count)
    discard self
    return Data(
      bytesNoCopy: base, count: count, deallocator: .custom { start, _ in start.deallocate() })
  }
}
