import CSteadFiles
import Foundation

/// An open file whose bytes are mapped into memory, shared with every process that maps it.
///
/// Its owner closes it. Only bytes below ``byteCount`` may be accessed; if another program truncates the
/// file, all of them become private zeros of this process, and ``isLost`` becomes true.
@usableFromInline
struct MappedFile {
  @usableFromInline var base: UnsafeMutableRawPointer
  /// How much of the file is mapped, a multiple of 8 even if the file is longer.
  @usableFromInline var byteCount: Int
  /// -1 when a page of memory replaces the file.
  @usableFromInline var descriptor: Int32
  @usableFromInline let isWritable: Bool
  let identity: FileStatus.Identity?
  /// The number of forks when the file was opened.
  @usableFromInline let generation: UInt64
  /// Nonzero once the bytes are no longer the file's; nil without a file.
  @usableFromInline let loss: UnsafePointer<UInt64>?
  /// Nonzero while the lock is kept between two writes; a fork resets it to 0. nil without a file.
  @usableFromInline let keptLock: UnsafeMutablePointer<UInt64>?

  /// Maps a whole file; nil when it is empty. Takes ownership of the descriptor.
  init?(_ descriptor: Int32, writable: Bool, status: FileStatus, path: String) throws {
    let size = Int(status.size)
    guard size > 0 else { return nil }
    // Whole words only: words are loaded atomically, and a load must not reach behind the mapping.
    let byteCount = size < 8 ? size : size & ~7
    let forks = stead_fork_generation()
    guard let base = stead_map(descriptor, byteCount, writable ? 1 : 0) else {
      throw FileError(errno: errno, doing: "map the file into memory", path: path)
    }
    (self.base, self.byteCount, self.descriptor) = (base, byteCount, descriptor)
    (isWritable, identity, generation) = (writable, status.identity, forks)
    loss = stead_map_loss(base)
    keptLock = stead_map_kept_lock(base)
  }

  /// Makes a placeholder in memory for an unusable or missing file. Nothing can be written to it.
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

  /// Extends the mapping if the file has become longer. The address may change.
  mutating func extendMapping(on disk: any Disk, path: String) throws {
    guard !isBlank else { return }
    let size = Int(try disk.status(descriptor, path: path).size) & ~7
    // Never shorter: that a file was truncated has to be noticed by the mapping that is too long (``coversMapping``).
    guard size > byteCount else { return }
    let moved = stead_remap(base, byteCount, size, descriptor, isWritable ? 1 : 0)
    guard let moved else {
      throw FileError(errno: errno, doing: "map the file into memory", path: path)
    }
    (base, byteCount) = (moved, size)
  }

  /// Makes the mapping as long as the file, which has become longer or shorter. The address may change.
  mutating func resizeMapping(on disk: any Disk, path: String) throws {
    let size = Int(try disk.status(descriptor, path: path).size) & ~7
    guard size != byteCount else { return }
    let moved = stead_remap(base, byteCount, size, descriptor, isWritable ? 1 : 0)
    guard let moved else {
      throw FileError(errno: errno, doing: "map the file into memory", path: path)
    }
    (base, byteCount) = (moved, size)
  }

  func close(on disk: any Disk) {
    if isBlank { return base.deallocate() }
    // Before the mapping is gone: waiting processes read the word.
    if keepsLock { setKeepsLock(false) }
    stead_unmap(base, byteCount)
    // In the child of a fork the descriptor was closed, and the number may belong to another file.
    guard !isInherited else { return }
    // Unlocked explicitly, since a descriptor may briefly be open twice: for instance between a fork and the
    // handlers that close it in the child.
    _ = stead_file_unlock(descriptor)
    disk.close(descriptor)
  }

  /// Whether this process is a child that was forked while the file was open.
  ///
  /// The bytes are then zeros, and nothing has to be closed.
  @inlinable @inline(__always)
  var isInherited: Bool { generation != stead_fork_generation() }

  /// Whether another program has truncated the file, so that the bytes are private zeros of this process.
  ///
  /// It becomes true when a byte is accessed that the file no longer has.
  @inlinable @inline(__always)
  var isLost: Bool { loss.map { stead_load_acquire($0) != 0 } ?? false }

  /// Whether the file still reaches to the end of the mapping; one that was truncated does not. Costs a system call, 0.1 us.
  @inlinable
  var coversMapping: Bool { stead_file_reaches(descriptor, Int64(byteCount)) != 0 }

  /// Whether the file has a link, and still reaches to the end of the mapping. Costs a system call, 0.1 us.
  @inlinable
  var isLinkedAndComplete: Bool { stead_file_is_whole(descriptor, Int64(byteCount)) != 0 }

  /// Whether the file has a link, at whatever path; a removed one has none. Costs a system call, 0.1 us.
  var isLinked: Bool { stead_file_is_whole(descriptor, 0) != 0 }

  /// Whether the lock is kept from the last write to the next one.
  @inlinable @inline(__always)
  var keepsLock: Bool { keptLock.map { $0.pointee != 0 } ?? false && !isInherited }

  /// Records whether the lock is kept, for this process and for those that wait for it.
  func setKeepsLock(_ isKept: Bool) {
    keptLock?.pointee = isKept ? 1 : 0
    setWord(isKept ? UInt64(STEAD_LOCK_KEPT) : 0, at: JournalLayout.keptLock)
  }

  @inlinable
  func word(at offset: Int) -> UInt64 { stead_load_acquire(base + offset) }
  func setWord(_ value: UInt64, at offset: Int) { stead_store_release(base + offset, value) }
}

// MARK: - Contents of a journal

extension MappedFile {
  var isAllZero: Bool {
    bytes.allSatisfy { $0 == 0 }
  }

  func hasCheckpoint(_ header: JournalHeader) -> Bool {
    guard header.logStart <= byteCount else { return false }
    let start = JournalLayout.headerByteCount
    let checkpoint = bytes[start..<(start + header.checkpointByteCount)]
    return UnsafeRawBufferPointer(rebasing: checkpoint).checksum == header.checkpointChecksum
  }

  /// A copy of the checkpoint; nil if that isn't what the header describes.
  ///
  /// The copy is verified, since another program can overwrite the file between the verification and the reading.
  func checkpoint(_ header: JournalHeader) -> Data? {
    guard header.logStart <= byteCount else { return nil }
    let start = JournalLayout.headerByteCount
    let copy = Data(bytes[start..<(start + header.checkpointByteCount)])
    let checksum = copy.withUnsafeBytes { $0.checksum }
    return checksum == header.checkpointChecksum ? copy : nil
  }
}

extension FileStatus.Identity {
  /// A number that identifies an open file, also among those to which the system gives its number later. Never 0.
  var word: UInt64 {
    // 2^64 divided by the golden ratio, and another odd constant: small numbers spread over all bits.
    (file &* 0x9E37_79B9_7F4A_7C15 ^ device ^ birth &* 0xD6E8_FEB8_6659_FD93) | 1
  }

  /// The number that older versions give the same file.
  var wordWithoutBirth: UInt64 { (file &* 0x9E37_79B9_7F4A_7C15 ^ device) | 1 }
}
