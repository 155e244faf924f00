import Foundation

/// Memory of this process for one record at a time.
///
/// A record is built here before it goes into the file, and read from here once it has been copied out of the
/// file: another program can overwrite the file between a look at a byte and the next one.
@usableFromInline
struct JournalSpace: ~Copyable {
  @usableFromInline var bytes: UnsafeMutableRawBufferPointer
  /// Most records fit into this many bytes.
  private static let usualByteCount = 4096
  /// Larger spaces are not kept from one record to the next.
  private static let keptByteCount = 256 << 10

  init() {
    bytes = .allocate(byteCount: Self.usualByteCount, alignment: 16)
  }

  // Inlinable, since the setter of a property that clients inline destroys the old value.
  @inlinable
  deinit { bytes.deallocate() }

  /// Makes room for a record.
  @usableFromInline
  mutating func resize(for byteCount: Int) {
    if bytes.count >= byteCount, bytes.count <= Self.keptByteCount { return }
    bytes.deallocate()
    bytes = .allocate(byteCount: max(byteCount, Self.usualByteCount), alignment: 16)
  }

  /// Copies a record.
  mutating func copy(_ payload: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    resize(for: payload.count)
    let copy = UnsafeMutableRawBufferPointer(rebasing: bytes[..<payload.count])
    copy.copyMemory(from: payload)
    return UnsafeRawBufferPointer(copy)
  }
}
