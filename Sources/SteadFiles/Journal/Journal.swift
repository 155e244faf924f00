import CSteadFiles
import Foundation

/// A checkpoint and a log of later changes, in one file that several processes share.
///
/// For state that changes often and in small steps, and must not be lost. A change is one record, which is
/// durable against process death (including `kill -9`) as soon as ``Writer/append(byteCount:_:)`` returns. It
/// costs a lock, an unlock and a copy to memory, about 1.2 us. With ``mayKeepLock``, writes in close
/// succession cost only the copy, 0.3 us. The owner defines the meaning of checkpoint and records. It holds the state
/// in memory, applies what it receives from ``read(_:)`` and ``write(catchingUp:_:)``, and checks ``hasNews``
/// before it uses the state.
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
/// Wherever the state is used:
/// if journal.hasNews { try journal.read(apply) }
///
/// A change:
/// try journal.write(catchingUp: apply) { writer in
///   try writer.append(byteCount: 8) { $0.storeBytes(of: 5, as: Int.self) }
///   total += 5
///   if writer.logByteCount > 1 << 20 {
///     try writer.compact(to: .init(bytes: withUnsafeBytes(of: total) { Data($0) }))
///   }
/// }
/// ```
///
/// A record does not survive a power loss until it is flushed, by ``flush()`` or ``flusher``.
///
/// The log grows until its owner compacts it: ``Writer/compact(to:)`` is the simple way, ``compaction(to:)``
/// the one that keeps nobody waiting.
///
/// A journal isn't thread-safe; its owner has a lock. It must not be used during `visit`, `fill` or `body`. A
/// program that forks must not do so while another thread writes. The child then finds ``hasNews`` true,
/// opens the file for itself at the next call, and continues at the parent's position.
///
/// ``look(catchingUp:)`` notices when the open file was removed or exchanged, and so does one write in
/// ``writesPerLook``. A removed file is put back. After an exchange so is the open one, with the records
/// that another process has appended to it there. A file that was truncated or overwritten in place is recreated, and
/// ``isRecovering`` asks the owner to write what it holds in memory.
///
/// Documentation/JournalFile.md draws the file to the byte, with its limits. The file has to be on a local
/// file system. It is readable by its owner alone, or has the permissions of the file before it; the
/// superuser leaves it to the owner of the file before it, or of its directory. A symbolic link is followed, also one that
/// takes the file's name later. Anything else that isn't a file is kept aside.
@usableFromInline
package final class Journal {
  /// The beginning of a journal: the state that all earlier records led to.
  package struct Checkpoint: Sendable {
    /// The state, in a form that its owner chooses.
    package var bytes: Data
    /// A few more bytes that belong to it, ``Journal/metadataLimit`` at most.
    package var metadata: Data

    /// Makes a checkpoint of a state.
    package init(bytes: Data, metadata: Data = Data()) {
      self.bytes = bytes
      self.metadata = metadata
    }
  }

  /// Where a record begins, in a file that its salt identifies.
  package struct Place: Sendable, Hashable {
    package var salt: UInt64
    package var offset: UInt64

    package init(salt: UInt64, offset: UInt64) { (self.salt, self.offset) = (salt, offset) }
  }

  /// Whether a journal may be written.
  package enum Access: Sendable, Hashable {
    /// The file is created if it is missing, and repaired if it is damaged.
    case readWrite
    /// Nothing on the disk is ever changed.
    case readOnly
  }

  /// What the owner receives, in the order in which it was written.
  @usableFromInline
  package enum Event {
    /// Discard everything before this; the state is now this.
    case checkpoint(UnsafeRawBufferPointer, metadata: UnsafeRawBufferPointer)
    /// One more record.
    case record(UnsafeRawBufferPointer)
  }

  /// The maximum size of a checkpoint's metadata in bytes.
  package static let metadataLimit = 256
  /// The maximum size of a record, 1 GiB.
  package static let recordLimit = 1 << 30
  /// The maximum size of a checkpoint, 4 GiB.
  package static let checkpointLimit = 1 << 32
  /// The maximum number of damaged files kept next to a journal.
  package static let keptAsideLimit = 8
  /// After this many writes the next one checks whether the file still has its name.
  package static let writesPerLook = 64

  // MARK: - Configuration

  /// Where the file is, or will be.
  package let url: URL
  /// Whether the journal may be written.
  package let access: Access
  /// How long a call waits while another process has the file locked, before it throws `.busy`.
  ///
  /// With `.zero` it waits as long as an active process takes, some microseconds: for an owner that waits elsewhere.
  package var lockWait = Journal.lockWaitLimit
  /// Whether the lock may be kept briefly when writes follow one another closely, which saves two system
  /// calls a write.
  ///
  /// An owner that sets it guards the journal by a ``ForkSafeLock``, and calls ``freeIdleLock()`` on another
  /// thread while ``keepsLock`` is true.
  package var mayKeepLock = false
  /// Whether a write throws `.busy` instead of waiting while the lock is yielded to other processes, for an owner that waits
  /// for ``leftLockWait``.
  package var leavesLock = false
  /// The path that was given. Symbolic links may lead from there to ``path``, and may come and go.
  let name: String
  /// Where the file is, as of the last ``resolvePath()``.
  var path: String
  let disk: any Disk
  let initial: () throws -> Checkpoint
  let onDamage: (JournalDamage) -> Void
  let repair: (JournalDamage) throws -> Checkpoint

  // MARK: - The open file

  // Without exclusivity checks, which would cost more than reading the words: the owner lets one thread in at
  // a time, and no two of these accesses overlap.
  @exclusivity(unchecked) @usableFromInline var file: MappedFile
  /// The header as of the opening. The page in `file` may have another one by now, if the contents were replaced in place.
  var header = JournalHeader(
    salt: 0, checkpointByteCount: 0, checkpointChecksum: 0, metadata: Data())
  /// The initial value of the records' checksums, which is computed from the header's salt.
  @exclusivity(unchecked) @usableFromInline var seed: UInt32 = 0
  /// The salt as stored in the file; it differs in another file.
  @exclusivity(unchecked) @usableFromInline var salt: UInt64 = 0
  /// Replaces the file's checkpoint, if the file is missing or its checkpoint cannot be repaired.
  var substitute: Checkpoint?
  /// Records that begin before this were verified when the file was opened.
  var verifiedEnd = 0
  /// Records that end before this fit into the file, and into pages that exist: storing them raises no page fault.
  @exclusivity(unchecked) @usableFromInline var populatedEnd = 0
  /// Whether a write found that another program has truncated or overwritten the file meanwhile.
  var isKnownOverwritten = false
  /// Where the open file's records were written first, as of its opening.
  var origins = JournalOrigins()
  /// The number that names the open file in a lineage; see ``JournalLineage/identity(of:_:)``.
  var lineageIdentity: UInt64 = 0
  /// The lost files that this process knows to be contained in those that it has had open.
  var lineage = JournalLineage()
  /// The greatest generation of all files that were open. It never decreases, so a record that this process appends is newer than
  /// all that it has read, whichever file has the name by then.
  @exclusivity(unchecked) @usableFromInline var generation: UInt64 = 0

  // MARK: - What the owner has received

  // Invariant: the owner's state is the checkpoint and all records that end at or before `position`, those of its own
  // writes included. `position` only moves past a record that `visit` has accepted or this process has published, and goes
  // back to 0 with each file that is opened.

  /// The position up to which the owner has received everything; 0 when it has yet to receive the checkpoint.
  @exclusivity(unchecked) @usableFromInline var position: UInt64 = 0
  /// Where the last record begins that was written or read, and its first word, which has the checksum; 0 when there is none yet.
  ///
  /// A file in which they differ was overwritten, be it by a backup with the same salt.
  @exclusivity(unchecked) @usableFromInline var lastRecord = 0
  @exclusivity(unchecked) @usableFromInline var lastWord: UInt64 = 0
  /// Whether the write in progress has appended a record, so that listeners have to be woken.
  @exclusivity(unchecked) @usableFromInline var hasAppended = false
  /// Where records are built, and read.
  @exclusivity(unchecked) @usableFromInline var buffer = RecordBuffer()
  /// Up to where the owner had received the file that was open before, while it has yet to receive all of this one.
  var previousPosition: Place?
  /// Whether that file was still as the owner had received it when it was closed.
  var isPreviousIntact = true
  /// Whether the file's contents were lost while it was open, so that the owner's memory holds more than the file.
  ///
  /// The owner writes what is missing, and calls ``endRecovery()``.
  package internal(set) var isRecovering = false
  /// Up to where the owner had received the file that was lost, while ``isRecovering``.
  var lostPosition: Place?

  // MARK: - The lock between processes

  /// Whether the lock was waited for in vain when the journal was opened, so that it was opened without.
  package internal(set) var isOpenedWithoutLock = false
  /// How many writes may follow before one checks that the path still leads to the file. 0 if these writes were made; -1 to have
  /// the next write check for another reason.
  @exclusivity(unchecked) @usableFromInline var writesUntilRevalidation = Journal.writesPerLook
  /// Whether the owner has asked for the lock since it last got it or stopped waiting for it.
  @exclusivity(unchecked) var hasRequestedLock = false
  /// Whether the lock was yielded to other processes, until when, in milliseconds of `stead_clock()`.
  @exclusivity(unchecked) @usableFromInline var isLockYielded = false
  var lockYieldedUntil: UInt64 = 0
  /// Decides whether the lock is kept from one write to the next.
  var lockRetention = LockRetention()
  /// The position at the last call of ``freeIdleLock()``, and how many calls are left when nothing is kept.
  var idlePosition: UInt64 = 0
  var idleCallsLeft = 0
  /// Whether this journal counts in the file's word of listeners.
  var isListening = false

  // MARK: - Opening and closing

  /// Opens or creates a journal, repairing it if damaged.
  ///
  /// It costs reading the whole file once; creating or repairing one also costs a sync. Missing directories
  /// are created, readable by their owner alone. The owner receives nothing yet: ``hasNews`` is true, and
  /// ``read(_:)`` comes next.
  ///
  /// With `.readOnly` nothing on the disk changes. `initial` substitutes for a missing file, and ``read(_:)``
  /// looks for the file again.
  ///
  /// - Parameters:
  ///   - url: Where the file is, or will be.
  ///   - access: Whether it may be written, created and repaired.
  ///   - lockWait: How long the opening waits for another process; see ``lockWait``.
  ///   - initial: Returns the first checkpoint if no journal exists yet. It is called while the journal is
  ///     being created, also later if somebody removed the file, and must not use this journal.
  ///   - onDamage: Called with a description of any damage found, now or in a later call, after the damaged
  ///     file has been kept aside.
  ///   - repair: Returns a checkpoint when the file's own is lost: the best that the owner has. Records that
  ///     are still good are kept after it.
  /// - Throws: ``FileError``: `.denied`, `.readOnly` or `.noSpace` when the file cannot be created or opened
  ///   for writing, `.newerVersion` for one of a later format, `.notAFile` for a directory that cannot be moved away, or
  ///   was to be read only; and whatever `initial` and `repair` throw.
  package convenience init(
    url: URL, access: Access = .readWrite, lockWait: Duration = Journal.lockWaitLimit,
    initial: @escaping () throws -> Checkpoint, onDamage: @escaping (JournalDamage) -> Void,
    repair: @escaping (JournalDamage) throws -> Checkpoint
  ) throws {
    try self.init(
      url: url, access: access, lockWait: lockWait, disk: POSIXDisk(), initial: initial,
      onDamage: onDamage, repair: repair)
  }

  init(
    url: URL, access: Access, lockWait: Duration = Journal.lockWaitLimit, disk: any Disk,
    initial: @escaping () throws -> Checkpoint, onDamage: @escaping (JournalDamage) -> Void,
    repair: @escaping (JournalDamage) throws -> Checkpoint
  ) throws {
    // Before anything is mapped: the handlers of a fork replace each mapping in the child, and close its descriptor.
    // Otherwise the child would share the parent's lock.
    stead_fork_watch()
    stead_admit_bus_errors()
    (self.url, self.access, self.disk) = (url, access, disk)
    self.lockWait = lockWait
    (self.initial, self.onDamage, self.repair) = (initial, onDamage, repair)
    name = try url.checkedPath
    path = name
    // A placeholder of zeros. It tells the first opening from later ones (``MappedFile/isBlank``).
    file = MappedFile(blank: JournalLayout.headerByteCount)
    try open()
  }

  deinit {
    stead_admit_bus_errors()
    // While the file is still mapped. A process that is killed leaves its count, so writers go on waking until the file
    // is replaced.
    if isListening { removeListener() }
    file.close(on: disk)
  }

  // MARK: - News

  /// Whether anything exists that the owner has not yet received from ``read(_:)`` or a write.
  ///
  /// It costs three loads from memory, a few nanoseconds, so it may be checked before each use. It may be true without news, for
  /// instance while another process compacts the journal. It is true as soon as another process has appended to the open file; that
  /// another file has taken the path, without that, only a revalidation finds out.
  @inlinable @inline(__always)
  package var hasNews: Bool {
    stead_admit_first_bus_errors()
    // The tail's word also holds a file's special states, such as that another has replaced it.
    // The contents of a file that can't be replaced may become others that end at the same place.
    return file.word(at: JournalLayout.tail) != position
      || file.word(at: JournalLayout.salt) != salt || file.isInherited
  }
}
