import CSteadFiles
import Foundation

extension Journal {
  /// Opens the file at the path, and closes the one that was open.
  ///
  /// The first opening verifies the whole log, with the lock. Later ones leave that to the reading of each record, so they need
  /// the lock only if something seems damaged, or listeners have to be counted. If the lock isn't free in time, an intact file
  /// is opened without, and ``isOpenedWithoutLock`` is true.
  func open() throws {
    if let opened = try openUnlocked() {
      // A reader takes no lock, and appends nothing that would need a generation.
      if access == .readOnly { return switchTo(opened) }
      if isUsableWithoutLock(opened) { return switchTo(opened) }
      // It is a copy, or older than what this process knows. Its words are corrected below, with the lock.
      opened.file.close(on: disk)
    }
    if file.isBlank, try openAtOnce() { return }
    do {
      try reopenLocked()
    } catch let error as FileError where error.code == .busy {
      // An intact file can be read without the lock.
      guard let opened = try openUnlocked(isFirst: false) else { throw error }
      switchTo(opened)
      isOpenedWithoutLock = true
      return
    }
    isOpenedWithoutLock = false
    unlockFile()
  }

  /// Opens the file for the first time, with the lock if it is free within ``firstLockWait``, otherwise without if the file is
  /// intact. So a stopped process that holds the lock delays nobody's start. Returns false if the lock has to be waited for.
  private func openAtOnce() throws -> Bool {
    // An owner that waits no longer than that anyway gets the lock, or `.busy`, by the ordinary way.
    let limit = lockWait
    guard limit > Self.firstLockWait else { return false }
    lockWait = Self.firstLockWait
    defer { lockWait = limit }
    do {
      try reopenLocked()
      unlockFile()
      isOpenedWithoutLock = false
      return true
    } catch let error as FileError where error.code == .busy {
      guard let opened = try openUnlocked(isFirst: false) else { return false }
      guard isUsableWithoutLock(opened) else {
        opened.file.close(on: disk)
        return false
      }
      // `isOpenedWithoutLock` stays false: after so short a wait the holder must not count as stopped.
      switchTo(opened)
      return true
    }
  }

  /// How long the first opening waits for the lock if the file is intact without. A process at work frees it sooner.
  private static let firstLockWait = Duration.milliseconds(10)

  /// Opens the open file again if another process has replaced its contents in place; false if that needs the lock.
  func openSuccessor() throws -> Bool {
    guard let opened = try openUnlocked(isFirst: false) else { return false }
    guard isSuccessor(opened), isUsableWithoutLock(opened) else {
      opened.file.close(on: disk)
      return false
    }
    switchTo(opened)
    return true
  }

  /// Whether records may be appended to an opened file as it is: it is no copy, and not older than those that were open. To
  /// such a file a new generation has to be given first, with the lock.
  private func isUsableWithoutLock(_ opened: Opened) -> Bool {
    opened.generation >= generation
      && opened.file.word(at: JournalLayout.home) == opened.file.identity?.word
  }

  /// Opens and repairs the file at the path, and leaves it locked.
  ///
  /// The caller does not hold the old file's lock, which may be the same file's, except one kept between writes.
  func reopenLocked() throws {
    // `flock` belongs to the open file description, so a kept lock would exclude the descriptor that is opened below.
    if file.keepsLock { unlockFile() }
    let opened = try replacingOverwritten(openLocked())
    // The words of a file that was rewritten in place stay, so this listener is counted there already.
    let isSame = !file.isInherited && opened.file.identity == file.identity
    switchTo(opened)
    if isListening, !isSame { addListener() }
  }

  /// Makes an opened file the current one, and closes the one before.
  ///
  /// Decides whether the owner has to restore something: what it had received of the file before (``previousPosition``)
  /// is compared with what the new file says that it contains. The position remembered is that of the first file whose
  /// contents the owner had received as a whole, also if further files are opened before it receives one of them.
  ///
  /// Invariant: afterwards nothing of the new file counts as received (``position`` is 0), and ``generation`` has not decreased.
  func switchTo(_ opened: Opened) {
    if previousPosition == nil, let received = receivedPosition {
      previousPosition = received
      // In the child of a fork zeros have replaced the mapping. That says nothing about the file.
      isPreviousIntact = file.isInherited || !isKnownOverwritten && hasLastRecord && !file.isLost
    }
    if let previousPosition, mayLackRecords(opened, since: previousPosition) {
      isRecovering = true
      lostPosition = lostPosition ?? previousPosition
    }
    lineage.inherit(opened.lineage)
    generation = max(generation, opened.generation)
    file.close(on: disk)
    (file, header, verifiedEnd) = (opened.file, opened.header, opened.verifiedEnd)
    (substitute, seed) = (opened.substitute, opened.header.seed)
    (position, populatedEnd) = (0, 0)
    // As of the examination. What is read of the page from now on may be of other contents.
    (salt, lineageIdentity, origins) = (opened.salt, opened.identity, opened.origins)
    (isKnownOverwritten, lastRecord) = (false, 0)
    (isLockYielded, hasRequestedLock) = (false, false)
    writesUntilRevalidation = Self.writesPerLook
  }

  /// In the child of a fork: opens the file again, and continues at the parent's position if the file is the same, up to the last
  /// record that the parent had received. Otherwise the owner receives the file from the beginning.
  func reattach() throws {
    // Only the parent watches the file for itself; nobody in the child does.
    isListening = false
    let (position, salt, verifiedEnd) = (position, header.salt, verifiedEnd)
    let (last, lastWord) = (lastRecord, lastWord)
    try open()
    // A copy has the same salt, and may have other records.
    guard salt == header.salt, salt != 0, substitute == nil, !isRecovering,
      last == 0 || last + 8 <= file.byteCount && file.word(at: last) == lastWord
    else { return }
    // `switchTo(_:)` has reset these. The parent has verified the records up to here, and this process has its state.
    (self.lastRecord, self.lastWord) = (last, lastWord)
    self.position = position
    self.verifiedEnd = max(verifiedEnd, self.verifiedEnd)
  }

  func openIfPresent(_ flags: Int32) throws -> Int32? {
    do {
      // Without O_NONBLOCK a named pipe would block the caller until somebody writes to it.
      return try disk.open(path, flags | O_NONBLOCK, mode: 0)
    } catch let error as FileError where error.code == .notFound {
      return nil
    }
  }
}

// MARK: - An open file

extension Journal {
  /// An open file that has been examined, with a copy of what its header page said then.
  ///
  /// The contents of a mount point are replaced in place. Without the lock that may happen at any moment, and the
  /// page would then describe the new contents, while the header read before describes the old ones.
  struct Opened {
    var file: MappedFile
    let header: JournalHeader
    /// Where the verified records end.
    let verifiedEnd: Int
    /// Replaces a checkpoint that cannot be repaired.
    var substitute: Checkpoint?
    /// Whether records were lost, or the checkpoint is the owner's replacement.
    var isPartial: Bool
    /// Whether it was a copy, such as a backup, that nobody had opened before. Only known with the lock.
    var isCopy: Bool
    /// The salt as stored in the first copy of the header.
    let salt: UInt64
    /// By which number the file is named in a lineage.
    let identity: UInt64
    let lineage: JournalLineage
    let origins: JournalOrigins

    init(
      file: MappedFile, header: JournalHeader, verifiedEnd: Int = 0,
      substitute: Checkpoint? = nil, isPartial: Bool = false, isCopy: Bool = false
    ) {
      (self.file, self.header, self.verifiedEnd) = (file, header, verifiedEnd)
      (self.substitute, self.isPartial, self.isCopy) = (substitute, isPartial, isCopy)
      salt = file.word(at: JournalLayout.salt)
      identity = JournalLineage.identity(of: file, header)
      lineage = JournalLineage(file)
      origins = JournalOrigins(file)
    }

    /// Greater than that of the file that it has replaced; 0 in one that an older version has made.
    var generation: UInt64 { origins.generation }

    /// Whether all that was read of the file without the lock is of the same contents.
    ///
    /// It works like a seqlock. Whoever replaces the contents sets a flag in the tail, writes the salt before the other
    /// words, truncates the file, and clears the flag last. So what was read before is consistent if afterwards no flag
    /// is set and the salt is that of the header. The mapping may still reach behind the end of the truncated file, hence the last check.
    var isConsistent: Bool {
      file.word(at: JournalLayout.tail) & JournalLayout.flags == 0
        && file.word(at: JournalLayout.salt) == header.salt && !file.isLost && file.coversMapping
    }
  }
}

// MARK: - Without the lock

extension Journal {
  /// Opens an intact journal; nil when finding out requires the lock.
  ///
  /// If ``access`` is read-only, it opens what exists and never returns nil.
  private func openUnlocked(isFirst: Bool? = nil) throws -> Opened? {
    if access == .readOnly { return try openForReading() }
    // The first opening verifies all records, with the lock.
    guard !(isFirst ?? file.isBlank), try resolvePath()?.kind == .file,
      let descriptor = try openIfPresent(O_RDWR)
    else { return nil }
    guard let file = try map(descriptor) else { return nil }
    // A listener is counted with the lock: a writer that is at work would not wake it.
    if case .header(let header, isWhole: true) = JournalHeader.read(file.bytes),
      file.hasCheckpoint(header), file.word(at: JournalLayout.tail) & JournalLayout.flags == 0,
      !isListening
    {
      let opened = Opened(file: file, header: header)
      if opened.isConsistent { return opened }
    }
    file.close(on: disk)
    return nil
  }

  /// How often another process may replace the contents while this one reads them.
  static let readingAttemptLimit = 100

  /// Opens the file for an owner that may only read, and substitutes for what is missing or damaged. Never waits.
  private func openForReading() throws -> Opened {
    for _ in 0..<Self.readingAttemptLimit {
      if let opened = try openForReading(ifSettled: true) { return opened }
    }
    return try openForReading(ifSettled: false) ?? placeholder(for: nil, try initial())
  }

  /// Opens what can be read.
  ///
  /// - Parameter ifSettled: Returns nil instead of reporting damage if another process may just be replacing the contents.
  private func openForReading(ifSettled: Bool) throws -> Opened? {
    // Not opened, since opening a device can have an effect.
    if let found = try resolvePath(), found.kind != .file { throw notAFile }
    guard let descriptor = try openIfPresent(O_RDONLY) else {
      return placeholder(for: nil, try initial())
    }
    guard let file = try map(descriptor) else {
      // Empty. Nothing is lost, and a reader must not fill it.
      report(.header, at: 0, lost: 0, keptAside: nil)
      return placeholder(for: try disk.status(at: path)?.identity, try initial())
    }
    do {
      if let image = image(in: file) {
        file.close(on: disk)
        return image
      }
      if let opened = intactFile(file) { return opened }
      // The words are read after what they are about.
      guard !ifSettled || !isBeingRewritten(file) else {
        file.close(on: disk)
        return nil
      }
      return try examineForReading(file)
    } catch {
      file.close(on: disk)
      throw error
    }
  }

  /// A file whose header and checkpoint are good; nil if something is damaged, or has changed meanwhile. Costs reading the
  /// checkpoint; records are verified when they are read.
  private func intactFile(_ file: MappedFile) -> Opened? {
    guard case .header(let header, isWhole: true) = JournalHeader.read(file.bytes),
      file.hasCheckpoint(header)
    else { return nil }
    // `Opened` copies words of the page. The salt is compared afterwards: if it is still the header's, so are the
    // words.
    let opened = Opened(file: file, header: header)
    return file.word(at: JournalLayout.salt) == header.salt ? opened : nil
  }

  /// Whether what seems damaged may be a moment in which another process gives the file other contents.
  private func isBeingRewritten(_ file: MappedFile) -> Bool {
    guard !file.isBlank, !file.isLost, file.byteCount >= JournalLayout.headerByteCount else {
      return false
    }
    // Contents that are complete by now are good.
    return hasImage(file) || intactFile(file) != nil
  }

  /// Reports what is damaged in a file that may not be repaired, and substitutes for it.
  private func examineForReading(_ file: MappedFile) throws -> Opened {
    if file.isAllZero {
      report(.header, at: 0, lost: file.byteCount, keptAside: nil)
      return placeholder(for: file, try initial())
    }
    switch JournalHeader.read(file.bytes) {
    case .newerVersion(let version): throw newerVersion(version)
    case .damaged: return placeholder(for: file, try repair(reportLoss(of: file, .header)))
    case .foreign: return placeholder(for: file, try repair(reportLoss(of: file, .notAJournal)))
    case .header(let header, let isWhole):
      // The other copy is good, so nothing is lost. A reader can't write this one again.
      if !isWhole { report(.header, at: 0, lost: 0, keptAside: nil) }
      var opened = Opened(file: file, header: header)
      if !file.hasCheckpoint(header) {
        opened.substitute = try repair(
          report(
            .checkpoint, at: JournalLayout.headerByteCount, lost: header.checkpointByteCount,
            keptAside: nil))
      }
      return opened
    }
  }

  private func reportLoss(of file: MappedFile, _ kind: JournalDamage.Kind) -> JournalDamage {
    report(kind, at: 0, lost: file.byteCount, keptAside: nil)
  }

  /// An empty log in memory that replaces an unusable, closed file.
  private func placeholder(for file: MappedFile, _ checkpoint: Checkpoint) -> Opened {
    defer { file.close(on: disk) }
    return placeholder(for: file.identity, checkpoint)
  }

  private func placeholder(for identity: FileStatus.Identity?, _ checkpoint: Checkpoint) -> Opened {
    let file = MappedFile(blank: JournalLayout.headerByteCount, for: identity)
    let header = JournalHeader(
      salt: 0, checkpointByteCount: 0, checkpointChecksum: 0, metadata: Data())
    // An empty log, so the owner receives the substitute and nothing behind it.
    file.setWord(UInt64(header.logStart), at: JournalLayout.tail)
    return Opened(file: file, header: header, substitute: checkpoint)
  }

  /// Maps an open file; nil if it is empty. Closes it unless it is returned.
  func map(_ descriptor: Int32) throws -> MappedFile? {
    do {
      let status = try disk.status(descriptor, path: path)
      guard status.kind == .file else { throw notAFile }
      let file: MappedFile?
      do {
        file = try MappedFile(
          descriptor, writable: access == .readWrite, status: status, path: path)
      } catch let error as FileError where error.isUnsupported && access == .readOnly {
        file = try copy(of: descriptor, status)
      }
      // Nothing maps an empty file, and a copy in memory has no descriptor: neither would close this one.
      if file?.isBlank ?? true { unlockAndClose(descriptor) }
      return file
    } catch {
      unlockAndClose(descriptor)
      throw error
    }
  }

  /// The bytes of a file that the file system can't map. Nobody else can change it either, except as a whole.
  private func copy(of descriptor: Int32, _ status: FileStatus) throws -> MappedFile? {
    let bytes = try disk.contents(of: descriptor, limit: AtomicFile.sizeLimit, path: path)
    // Too short for a word, and so for a header: it counts as empty.
    guard bytes.count >= 8 else { return nil }
    let file = MappedFile(blank: bytes.count & ~7, for: status.identity)
    bytes.withUnsafeBytes { file.base.copyMemory(from: $0.baseAddress!, byteCount: file.byteCount) }
    if file.byteCount >= JournalLayout.headerByteCount {
      // Nobody can replace the contents of a file that can't be mapped, so the flags are leftovers.
      let word = file.word(at: JournalLayout.tail)
      file.setWord(word & ~JournalLayout.flags, at: JournalLayout.tail)
    }
    return file
  }

  /// Closes a file that isn't mapped. A child process that is just being started has it open, too, with its lock.
  func unlockAndClose(_ descriptor: Int32) {
    disk.unlock(descriptor)
    disk.close(descriptor)
  }

  private var notAFile: FileError {
    FileError(
      code: .notAFile,
      message:
        "Only a regular file can be a journal; move away what has the name \(name.fileName).",
      path: name)
  }

  func newerVersion(_ version: UInt32) -> FileError {
    FileError(
      code: .newerVersion,
      message: "The journal has format \(version), and this library knows "
        + "\(JournalLayout.version); update the library.", path: path)
  }
}
