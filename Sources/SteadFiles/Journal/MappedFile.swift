import CSteadFiles
import Foundation

/// An open file with its bytes in memory, shared with every process that has it so.
///
/// Its owner closes it. Only bytes below ``byteCount`` may be touched; if another program cuts the file
/// off, all of them become zeros of this process's own, and ``isLost`` true.
@usableFromInline
struct MappedFile {
  @usableFromInline var base: UnsafeMutableRawPointer
  /// How much of the file is mapped, a multiple of 8 in a file that is longer than that.
  @usableFromInline var byteCount: Int
  /// -1 when there is no file, but a page of memory in its place.
  @usableFromInline var descriptor: Int32
  @usableFromInline let isWritable: Bool
  let identity: FileStatus.Identity?
  /// The count of forks when the file was opened.
  @usableFromInline let generation: UInt64
  /// Not 0 once the bytes are no longer the file's; nil where there is no file.
  @usableFromInline let loss: UnsafePointer<UInt64>?
  /// Not 0 while the lock is kept between two writes; a fork sets it to 0. nil where there is no file.
  @usableFromInline let keptLock: UnsafeMutablePointer<UInt64>?

  /// Maps all of a file, nil when it is empty. Takes over the descriptor.
  init?(_ descriptor: Int32, writable: Bool, status: FileStatus, path: String) throws {
    let size = Int(status.size)
    guard size > 0 else { return nil }
    let byteCount = size < 8 ? size : size & ~7
    let forks = stead_fork_generation()
    guard let base = stead_map(descriptor, byteCount, writable ? 1 : 0) else {
      throw FileError(errno: errno, doing: "map it", path: path)
    }
    (self.base, self.byteCount, self.descriptor) = (base, byteCount, descriptor)
    (isWritable, identity, generation) = (writable, status.identity, forks)
    loss = stead_map_loss(base)
    keptLock = stead_map_kept_lock(base)
  }

  /// Zeros in memory that stand for a file that is of no use, or for none.
  init(blank byteCount: Int, for identity: FileStatus.Identity? = nil) {
    base = .allocate(byteCount: byteCount, alignment: 8)
    base.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    (self.byteCount, descriptor, isWritable) = (byteCount, -1, false)
    self.identity = identity
    generation = stead_fork_generation()
    loss = nil
    keptLock = nil
  }

  var isBlank: Bool { descriptor < 0 }
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: byteCount) }

  /// Maps what the file has gained, if it was made longer.
  mutating func extendMapping(on disk: any Disk, path: String) throws {
    guard !isBlank else { return }
    let size = Int(try disk.status(descriptor, path: path).size) & ~7
    guard size > byteCount else { return }
    let moved = stead_remap(base, byteCount, size, descriptor, isWritable ? 1 : 0)
    guard let moved else { throw FileError(errno: errno, doing: "map it", path: path) }
    (base, byteCount) = (moved, size)
  }

  func close(on disk: any Disk) {
    if isBlank { return base.deallocate() }
    if keepsLock { setKeepsLock(false) }
    stead_unmap(base, byteCount)
    // In the child of a fork the descriptor was closed, and the number may be another file's.
    guard !isInherited else { return }
    // Said aloud, since a descriptor may be open twice for a moment: between a fork and the handlers that
    // close it in the child, for instance.
    _ = stead_file_unlock(descriptor)
    disk.close(descriptor)
  }

  /// Whether this process is a child that was forked when the file was open.
  ///
  /// The bytes are zeros then, and there is nothing to close.
  @inlinable @inline(__always)
  var isInherited: Bool { generation != stead_fork_generation() }

  /// Whether another program has cut the file off, so that the bytes are zeros of this process's own.
  ///
  /// It becomes true when one of them is touched that the file no longer has.
  @inlinable @inline(__always)
  var isLost: Bool { loss.map { stead_load_acquire($0) != 0 } ?? false }

  /// Whether the lock is kept from the last write to the next one.
  @inlinable @inline(__always)
  var keepsLock: Bool { keptLock.map { $0.pointee != 0 } ?? false && !isInherited }

  /// Says that the lock is kept or no longer is, to this process and to those who wait for it.
  func setKeepsLock(_ isKept: Bool) {
    keptLock?.pointee = isKept ? 1 : 0
    setWord(isKept ? UInt64(STEAD_LOCK_KEPT) : 0, at: JournalLayout.keptLock)
  }

  @inlinable
  func word(at offset: Int) -> UInt64 { stead_load_acquire(base + offset) }
  func setWord(_ value: UInt64, at offset: Int) { stead_store_release(base + offset, value) }
}
