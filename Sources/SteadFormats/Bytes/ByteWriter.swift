import Foundation

/// A growing buffer that becomes `Data` without a copy.
///
/// Like `[UInt8]`, but with big-endian integers, gaps that are filled in later, and no zeroing of
/// memory that is written anyway. ``data()`` consumes the writer and passes ownership of its memory
/// on; a writer that is dropped instead frees it.
struct ByteWriter: ~Copyable {
  /// The allocated memory. Invariant: its first `count` bytes are initialized, and `count <=
  /// capacity`.
  private var base: UnsafeMutableRawPointer
  private var capacity: Int
  private(set) var count = 0

  /// Allocates room for `capacity` bytes.
  init(capacity: Int) {
    self.capacity = max(capacity, 64)
    base = .allocate(byteCount: self.capacity, alignment: 16)
  }

  deinit { base.deallocate() }

  /// The bytes from an offset to the end. They are valid until the next mutation, which may move
  /// them.
  @inline(__always)
  func bytes(from start: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: base + start, count: count - start)
  }

  /// Whether the bytes at an offset equal `bytes`.
  @inline(__always)
  func hasBytes(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Bool {
    guard bytes.count <= count - offset, let start = bytes.baseAddress else { return false }
    return memcmp(base + offset, start, bytes.count) == 0
  }

  /// Makes room for `additional` bytes.
  @inline(__always)
  mutating func reserve(_ additional: Int) {
    if additional > capacity - count { grow(additional) }
  }

  /// Doubles the capacity, so that appending is amortized O(1).
  @inline(never)
  private mutating func grow(_ additional: Int) {
    capacity = max(capacity * 2, count + additional)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    larger.copyMemory(from: base, byteCount: count)
    base.deallocate()
    base = larger
  }

  /// Appends a byte.
  @inline(__always)
  mutating func append(_ byte: UInt8) {
    reserve(1)
    base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count += 1
  }

  /// Appends an integer in big-endian order.
  @inline(__always)
  mutating func append(bigEndian number: some FixedWidthInteger) {
    reserve(MemoryLayout.size(ofValue: number))
    base.storeBytes(of: number.bigEndian, toByteOffset: count, as: type(of: number).self)
    count += MemoryLayout.size(ofValue: number)
  }

  /// Appends bytes. They must not be the writer's own: growing would free them before they are
  /// copied.
  @inline(__always)
  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    reserve(bytes.count)
    base.advanced(by: count).copyMemory(from: start, byteCount: bytes.count)
    count += bytes.count
  }

  /// Appends zeros, as a gap that ``set(_:size:at:)`` fills in later.
  mutating func appendZeros(_ additional: Int) {
    reserve(additional)
    base.advanced(by: count).initializeMemory(as: UInt8.self, repeating: 0, count: additional)
    count += additional
  }

  /// Removes everything from offset `count` on; the capacity stays.
  @inline(__always)
  mutating func truncate(to count: Int) { self.count = min(count, self.count) }

  /// Overwrites a gap with the low `size` bytes of `number`, in big-endian order.
  @inline(__always)
  mutating func set(_ number: Int, size: Int, at offset: Int) {
    // The pointer is unchecked, so an offset beyond the written bytes would corrupt memory.
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
    // Without this, `deinit` would free the memory that now belongs to the data.
    discard self
    return Data(
      bytesNoCopy: base, count: count, deallocator: .custom { start, _ in start.deallocate() })
  }
}
