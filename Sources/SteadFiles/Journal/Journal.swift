import CSteadFiles
import Foundation

/// A checkpoint and a log of what happened since, in one file that several processes share.
///
/// For state that changes often and in small steps, and must not be lost: a change is one record, which
/// is kept, `kill -9` included, from the moment in which ``Writer/append(byteCount:_:)`` returns, at the
/// cost of a lock, an unlock and a copy to memory, about 0.6 us. Where ``mayKeepLock`` is set, writes that
/// follow one another closely cost the copy alone. What checkpoint and records mean is the owner's business. The owner holds the state in memory, takes in what ``read(_:)`` and ``write(catchingUp:_:)`` tell
/// it, and asks ``hasNews`` before it uses the state.
///
/// ```swift
/// var total = 0
/// func apply(_ event: Journal.Event) {
///   switch event {
///   case .checkpoint(let bytes, _): total = bytes.isEmpty ? 0 : bytes.loadUnaligned(as: Int.self)
///   case .record(let bytes): total += bytes.loadUnaligned(as: Int.self)
///   }
/// }
/// let journal = try Journal(
///   url: url, initial: { Journal.Checkpoint(bytes: Data()) },
///   onDamage: { print("\($0.lostByteCount) bytes lost, the old file is \(String(describing: $0.keptAside))") },
///   repair: { _ in Journal.Checkpoint(bytes: Data()) })
/// try journal.read(apply)
///
/// // Wherever the state is used:
/// if journal.hasNews { try journal.read(apply) }
///
/// // A change:
/// try journal.write(catchingUp: apply) { writer in
///   try writer.append(byteCount: 8) { $0.storeBytes(of: 5, as: Int.self) }
///   total += 5
///   if writer.logByteCount > 1 << 20 {
///     try writer.compact(to: .init(bytes: withUnsafeBytes(of: total) { Data($0) }))
///   }
/// }
/// ```
///
/// A loss of power is another matter: what has to survive that is flushed, by ``flush()`` or ``flusher``.
///
/// The log grows until its owner compacts it: ``Writer/compact(to:)`` is the simple way,
/// ``compaction(to:)`` the one that keeps nobody waiting.
///
/// A journal is not safe for several threads by itself; its owner has a lock. It must not be used in the
/// midst of `visit`, `fill` or `body`. A program that forks must not do so while another thread writes.
/// The child then finds ``hasNews`` true, opens the file for itself at the next call, and goes on where
/// the parent was.
///
/// A file that somebody removes or exchanges while it is open is noticed by ``look(catchingUp:)``, and by one
/// write in ``writesPerLook``. One that was removed is put back. Of one that was exchanged the new file
/// counts, with what was appended since the last look. One that was cut off or overwritten in place counts
/// as it is now if it is a journal; else it is made anew, and ``isRecovering`` tells the owner to write
/// what it holds in memory.
///
/// The file is drawn to the byte, with its limits, in Documentation/JournalFile.md. It has to be on a local
/// file system. It is readable by its owner alone, or by whom the file before it was; the superuser leaves
/// it to the owner of the file before it, or of its directory. A symbolic link is followed.
@usableFromInline
package final class Journal {
  /// What a journal begins with: the state that all records before it led to.
  package struct Checkpoint: Sendable {
    /// The state, in whatever form its owner gives it.
    package var bytes: Data
    /// A few more bytes that go with it, ``Journal/metadataLimit`` at most.
    package var metadata: Data

    /// A checkpoint of a state.
    package init(bytes: Data, metadata: Data = Data()) {
      self.bytes = bytes
      self.metadata = metadata
    }
  }

  /// Whether a journal may be written.
  package enum Access: Sendable, Hashable {
    /// The file is made where there is none, and repaired where it is damaged.
    case readWrite
    /// Nothing on the disk is ever changed.
    case readOnly
  }

  /// A piece of the journal, in the order in which it was written.
  @usableFromInline
  package enum Event {
    /// Everything before this is to be forgotten; the state is now this.
    case checkpoint(UnsafeRawBufferPointer, metadata: UnsafeRawBufferPointer)
    /// One more record.
    case record(UnsafeRawBufferPointer)
  }

  /// How many bytes of metadata a checkpoint may have.
  package static let metadataLimit = 256
  /// How many bytes a record may have, 1 GiB.
  package static let recordLimit = 1 << 30
  /// How many bytes a checkpoint may have, 4 GiB.
  package static let checkpointLimit = 1 << 32
  /// How many damaged files are kept beside a journal.
  package static let keptAsideLimit = 8
  /// After so many writes the next one looks whether the file still has its name.
  package static let writesPerLook = 64
  /// How long a call waits for another process that has the file locked, unless ``lockWait`` says less.
  package static let lockWaitLimit = Duration.seconds(1)

  /// Where the file is, or will be.
  package let url: URL
  /// Whether the journal may be written.
  package let access: Access
  /// How long a call waits while another process has the file locked, before it throws `.busy`.
  ///
  /// With `.zero` it is as long as a process takes that is at work, some microseconds: for an owner that
  /// waits elsewhere.
  package var lockWait = Journal.lockWaitLimit
  /// Whether the lock may be kept for a moment when writes follow one another closely, which saves two
  /// system calls per write.
  ///
  /// An owner that sets it guards the journal by a ``ForkSafeLock``, and calls ``freeIdleLock()`` on another
  /// thread while ``keepsLock`` is true.
  package var mayKeepLock = false
  /// Whether the file's contents were lost while it was open, so that what the owner holds in memory is
  /// more than what it is told.
  ///
  /// The owner writes what is missing, and says ``endRecovery()``.
  package internal(set) var isRecovering = false

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
  /// The salt as it stands in the file; in another file it is another one.
  @exclusivity(unchecked) @usableFromInline var salt: UInt64 = 0
  @exclusivity(unchecked) @usableFromInline var writesUntilLook = Journal.writesPerLook
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
  var keeping = LockKeeping()
  /// The position at the last call of ``freeIdleLock()``, and how many calls are left when nothing is kept.
  var idlePosition: UInt64 = 0
  var callsLeft = 0

  /// Opens a journal, or makes one, and mends one that is damaged.
  ///
  /// It costs reading the whole file once; making or mending one costs a sync besides. Directories that
  /// are missing are made, readable by their owner alone. Nothing is told to the owner yet: ``hasNews`` is
  /// true, and ``read(_:)`` comes next.
  ///
  /// With `.readOnly` nothing on the disk changes. A file that is missing is stood in for by `initial`,
  /// and looked for again by ``read(_:)``.
  ///
  /// - Parameters:
  ///   - url: Where the file is, or will be.
  ///   - access: Whether it may be written, made and mended.
  ///   - initial: Gives the first checkpoint where there is no journal yet. It is called while the
  ///     journal is being made, also later if somebody removed the file, and must not use this journal.
  ///   - onDamage: Is told what was found damaged, now or in a later call, when the damaged file has been
  ///     kept aside.
  ///   - repair: Gives a checkpoint where the file's own is lost: the best that the owner has. Records
  ///     that are still good are kept behind it.
  /// - Throws: ``FileError``: `.denied`, `.readOnly` or `.noSpace` when the file cannot be made or opened
  ///   for writing, `.newerVersion` for one of a later format, `.notAFile` for a directory; and whatever
  ///   `initial` and `repair` throw.
  package convenience init(
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
  package var hasNews: Bool {
    // What is special in a file, such as that another has taken its place, is in the tail's word, too.
    file.word(at: JournalLayout.tail) != position || file.isInherited
  }
}
