import CSteadFiles
import Foundation

/// A checkpoint and a log of what happened since, in one file that several processes share.
public final class Journal {
  /// What a journal begins with: the state that all records before it led to.
  public struct Checkpoint: Sendable {
    /// The state, in whatever form its owner gives it.
    public var bytes: Data
    /// A few more bytes that go with it, ``Journal/metadataLimit`` at most.
    public var metadata: Data

    /// A checkpoint of a state.
    public init(bytes: Data, metadata: Data = Data()) {
      self.bytes = bytes
      self.metadata = metadata
    }
  }

  /// Whether a journal may be written.
  public enum Access: Sendable, Hashable {
    /// The file is made where there is none, and repaired where it is damaged.
    case readWrite
    /// Nothing on the disk is ever changed.
    case readOnly
  }

  /// A piece of the journal, in the order in which it was written.
  public enum Event {
    /// Everything before this is to be forgotten; the state is now this.
    case checkpoint(UnsafeRawBufferPointer, metadata: UnsafeRawBufferPointer)
    /// One more record.
    case record(UnsafeRawBufferPointer)
  }

  /// How many bytes of metadata a checkpoint may have.
  public static let metadataLimit = 256
  /// How many bytes a record may have, 1 GiB.
  public static let recordLimit = 1 << 30
  /// How many bytes a checkpoint may have, 4 GiB.
  public static let checkpointLimit = 1 << 32
  /// How many damaged files are kept beside a journal.
  public static let keptAsideLimit = 8

  /// Where the file is, or will be.
  public let url: URL
  /// Whether the journal may be written.
  public let access: Access

  let path: String
  let disk: any Disk
  let initial: () throws -> Checkpoint
  let onDamage: (JournalDamage) -> Void
  let repair: (JournalDamage) throws -> Checkpoint

  // Without the checks of exclusive access, which would cost more than reading the words: the owner
  // lets one thread in at a time, and no two of these accesses overlap.
  @exclusivity(unchecked) @usableFromInline var file: MappedFile
  /// How far the owner has been told; 0 when it has still to hear the checkpoint.
  @exclusivity(unchecked) @usableFromInline var position: UInt64 = 0
  @exclusivity(unchecked) @usableFromInline var seed: UInt32 = 0
  @exclusivity(unchecked) @usableFromInline var hasAppended = false
  /// Records that end before this fit into the file, and into pages that are there.
  @exclusivity(unchecked) @usableFromInline var roomEnd = 0
  var header = JournalHeader(
    salt: 0, checkpointByteCount: 0, checkpointChecksum: 0, metadata: Data())
  /// Records that begin before this were found good when the file was opened.
  var verifiedEnd = 0
  /// Takes the place of the file's checkpoint, where there is no file or it cannot be mended.
  var substitute: Checkpoint?
  var isListening = false

  /// Opens a journal, or makes one.
  public convenience init(
    url: URL, access: Access = .readWrite, initial: @escaping () throws -> Checkpoint,
    onDamage: @escaping (JournalDamage) -> Void,
    repair: @escaping (JournalDamage) throws -> Checkpoint
  ) throws {
    try self.init(
      url: url, access: access, disk: POSIXDisk(), initial: initial, onDamage: onDamage,
      repair: repair)
  }

  init(
    url: URL, access: Access, disk: any Disk, initial: @escaping () throws -> Checkpoint,
    onDamage: @escaping (JournalDamage) -> Void,
    repair: @escaping (JournalDamage) throws -> Checkpoint
  ) throws {
    stead_fork_watch()
    (self.url, self.access, self.disk) = (url, access, disk)
    (self.initial, self.onDamage, self.repair) = (initial, onDamage, repair)
    path = try disk.resolveLinks(url.checkedPath)
    file = MappedFile(blank: JournalLayout.headerByteCount)
    try open()
  }

  deinit {
    if isListening { withdraw() }
    file.close(on: disk)
  }

  /// Whether there is anything that the owner has not been told by ``read(_:)`` or a write.
  ///
  /// It costs two loads from memory, a few nanoseconds, so it may be asked before each use.
  @inlinable @inline(__always)
  public var hasNews: Bool {
    // What is special in a file, such as that another has taken its place, is in the tail's word, too.
    file.word(at: JournalLayout.tail) != position || file.isInherited
  }
}
