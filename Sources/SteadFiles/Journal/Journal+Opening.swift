import CSteadFiles
import Foundation

extension Journal {
  /// Opens whatever has the name now, replacing the file that was open.
  func open() throws {
    if let opened = try openUnlocked() {
      if access == .readOnly { return adopt(opened) }
      if isUsableUnlocked(opened) { return adopt(opened) }
      opened.file.close(on: disk)
    }
    if file.isBlank, try openAtOnce() { return }
    do {
      try reopenLocked()
    } catch let error as FileError where error.code == .busy {
      // An intact file can be read without the lock.
      guard let opened = try openUnlocked(isFirst: false) else { throw error }
      adopt(opened)
      isOpenedWithoutLock = true
      return
    }
    isOpenedWithoutLock = false
    unlockFile()
  }

  /// Opens the file for the first time without waiting for a process that was stopped; false if that has to be waited for.
  private func openAtOnce() throws -> Bool {
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
      guard isUsableUnlocked(opened) else {
        opened.file.close(on: disk)
        return false
      }
      adopt(opened)
      return true
    }
  }

  /// How long the first opening waits for the lock if the file is intact without. A process at work frees it sooner.
  private static let firstLockWait = Duration.milliseconds(10)

  /// Opens the open file again, whose contents another process has replaced, and returns false if that needs the lock.
  func openSuccessor() throws -> Bool {
    guard let opened = try openUnlocked(isFirst: false) else { return false }
    guard isSuccessor(opened), isUsableUnlocked(opened) else {
      opened.file.close(on: disk)
      return false
    }
    adopt(opened)
    return true
  }

  /// Whether records may be appended to an opened file as it is: it is no copy, and not older than those that were open.
  private func isUsableUnlocked(_ opened: Opened) -> Bool {
    opened.generation >= generation
      && opened.file.word(at: JournalLayout.home) == opened.file.identity?.word
  }

  /// Opens and repairs the file that has the name now, and leaves it locked.
  ///
  /// The caller does not hold the old file's lock, which may be the same file's, except one kept between writes.
  func reopenLocked() throws {
    if file.keepsLock { unlockFile() }
    let opened = try renewed(openLocked())
    // A file that got other contents has kept its listeners.
    let isSame = !file.isInherited && opened.file.identity == file.identity
    adopt(opened)
    if isListening, !isSame { announce() }
  }

  /// Replaces the current file with an opened one.
  func adopt(_ opened: Opened) {
    if heldPlace == nil, let place = receivedPlace {
      heldPlace = place
      // The child of a fork has nothing left of the file, which says nothing about it.
      isHeldIntact = file.isInherited || !isDisturbed && hasLastRecord && !file.isLost
    }
    // The owner has been given more than the file holds now.
    if let heldPlace, mayLackRecords(opened, since: heldPlace) {
      isRecovering = true
      lostPlace = lostPlace ?? heldPlace
    }
    lineage.inherit(opened.lineage)
    generation = max(generation, opened.generation)
    file.close(on: disk)
    (file, header, verifiedEnd) = (opened.file, opened.header, opened.verifiedEnd)
    (substitute, seed) = (opened.substitute, opened.header.seed)
    (position, roomEnd) = (0, 0)
    (salt, lineageIdentity, origins) = (opened.salt, opened.identity, opened.origins)
    (isDisturbed, lastRecord) = (false, 0)
    (isLockLeft, hasInsisted) = (false, false)
    writesUntilLook = Self.writesPerLook
  }

  /// In the child of a fork: opens the file again, and continues at the parent's position if it is the same file.
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
  /// An open file that has been examined.
  ///
  /// It has what the header page said then. The contents of a file that can't be replaced may become others at any moment
  /// without the lock, and what is read of the page later would be about those.
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

    /// Whether the file still has the contents that were examined, and ends where it did.
    ///
    /// Who replaces the contents first sets a flag, writes the salt before the other words, and truncates the file before the
    /// flag is cleared. So all that was read is of the same contents if no flag is set and the salt is the same afterwards. But
    /// the file may have been mapped before it was truncated.
    var isSettled: Bool {
      file.word(at: JournalLayout.tail) & JournalLayout.flags == 0
        && file.word(at: JournalLayout.salt) == header.salt && !file.isLost && file.isReached
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
    guard !(isFirst ?? file.isBlank), try statusInPlace()?.kind == .file,
      let descriptor = try openIfPresent(O_RDWR)
    else { return nil }
    guard let file = try map(descriptor) else { return nil }
    if case .header(let header, isWhole: true) = JournalHeader.read(file.bytes),
      file.hasCheckpoint(header), file.word(at: JournalLayout.tail) & JournalLayout.flags == 0,
      !isListening
    {
      let opened = Opened(file: file, header: header)
      if opened.isSettled { return opened }
    }
    file.close(on: disk)
    return nil
  }

  /// How often another process may give the file other contents while this one looks at them.
  static let readingAttemptLimit = 100

  private func openForReading() throws -> Opened {
    for _ in 0..<Self.readingAttemptLimit {
      if let opened = try openForReading(ifSettled: true) { return opened }
    }
    return try openForReading(ifSettled: false) ?? standIn(for: nil, try initial())
  }

  /// Opens what can be read.
  ///
  /// - Parameter ifSettled: Returns nil instead of reporting damage if another process may just be replacing the contents.
  private func openForReading(ifSettled: Bool) throws -> Opened? {
    // Not opened, since a device may do something then.
    if let found = try statusInPlace(), found.kind != .file { throw notAFile }
    guard let descriptor = try openIfPresent(O_RDONLY) else {
      return standIn(for: nil, try initial())
    }
    guard let file = try map(descriptor) else {
      report(.header, at: 0, lost: 0, keptAside: nil)
      return standIn(for: try disk.status(at: path)?.identity, try initial())
    }
    do {
      if let image = image(in: file) {
        file.close(on: disk)
        return image
      }
      if let opened = good(file) { return opened }
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

  /// A file in which nothing is damaged; nil if something is, or has changed meanwhile.
  private func good(_ file: MappedFile) -> Opened? {
    guard case .header(let header, isWhole: true) = JournalHeader.read(file.bytes),
      file.hasCheckpoint(header)
    else { return nil }
    let opened = Opened(file: file, header: header)
    return file.word(at: JournalLayout.salt) == header.salt ? opened : nil
  }

  /// Whether what seems damaged may be a moment in which another process gives the file other contents.
  private func isBeingRewritten(_ file: MappedFile) -> Bool {
    guard !file.isBlank, !file.isLost, file.byteCount >= JournalLayout.headerByteCount else {
      return false
    }
    // Contents that are complete by now are good.
    return hasImage(file) || good(file) != nil
  }

  private func examineForReading(_ file: MappedFile) throws -> Opened {
    if file.isAllZero {
      report(.header, at: 0, lost: file.byteCount, keptAside: nil)
      return standIn(for: file, try initial())
    }
    switch JournalHeader.read(file.bytes) {
    case .newerVersion(let version): throw newerVersion(version)
    case .damaged: return standIn(for: file, try repair(reportLoss(of: file, .header)))
    case .foreign: return standIn(for: file, try repair(reportLoss(of: file, .notAJournal)))
    case .header(let header, let isWhole):
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
  private func standIn(for file: MappedFile, _ checkpoint: Checkpoint) -> Opened {
    defer { file.close(on: disk) }
    return standIn(for: file.identity, checkpoint)
  }

  private func standIn(for identity: FileStatus.Identity?, _ checkpoint: Checkpoint) -> Opened {
    let file = MappedFile(blank: JournalLayout.headerByteCount, for: identity)
    let header = JournalHeader(
      salt: 0, checkpointByteCount: 0, checkpointChecksum: 0, metadata: Data())
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
    guard bytes.count >= 8 else { return nil }
    let file = MappedFile(blank: bytes.count & ~7, for: status.identity)
    bytes.withUnsafeBytes { file.base.copyMemory(from: $0.baseAddress!, byteCount: file.byteCount) }
    if file.byteCount >= JournalLayout.headerByteCount {
      // What they announce can't happen.
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
