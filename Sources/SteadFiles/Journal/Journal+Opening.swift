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

  private func openIfPresent(_ flags: Int32) throws -> Int32? {
    do {
      // Without O_NONBLOCK a named pipe would block the caller until somebody writes to it.
      return try disk.open(path, flags | O_NONBLOCK, mode: 0)
    } catch let error as FileError where error.code == .notFound {
      return nil
    }
  }
}

// MARK: Without the lock

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

// MARK: With the lock

extension Journal {
  /// How often another process may replace the file while this one waits for its lock.
  private static let attemptLimit = 1_000

  /// Opens or creates the journal that has the name, repairs it, and leaves it locked.
  func openLocked() throws -> Opened {
    for _ in 0..<Self.attemptLimit {
      guard try clearName() != nil, let descriptor = try openIfPresent(O_RDWR) else {
        if let made = try make() { return made }
        continue
      }
      do {
        let error = lock(descriptor)
        if error == EWOULDBLOCK { throw busy }
        guard error == 0 else { throw FileError(errno: error, doing: "lock the file", path: path) }
        let identity = try disk.status(descriptor, path: path).identity
        guard try disk.status(at: path)?.identity == identity else {
          unlockAndClose(descriptor)
          continue
        }
      } catch {
        unlockAndClose(descriptor)
        throw error
      }
      do {
        return try examine(descriptor)
      } catch let error as FileError where error.code == .changed {
        continue  // Another program overwrites it at this moment.
      }
    }
    throw FileError(
      code: .busy,
      message: "The journal was replaced by another process on each of "
        + "\(Self.attemptLimit) attempts; try again.", path: path)
  }

  /// Locks a file that was just opened; returns the number of an error, or 0.
  func lock(_ descriptor: Int32) -> Int32 {
    let error = stead_file_try_lock(descriptor)
    guard error == EWOULDBLOCK else { return error }
    // A holder that keeps the lock between two writes is asked for it, through a word that only a journal has.
    let limit = lockWait.wholeMicroseconds
    guard let status = try? disk.status(descriptor, path: path), status.kind == .file,
      let file = try? MappedFile(descriptor, writable: true, status: status, path: path)
    else { return stead_file_lock_within(descriptor, limit, nil) }
    defer { stead_unmap(file.base, file.byteCount) }
    guard case .header = JournalHeader.read(file.bytes) else {
      return stead_file_lock_within(descriptor, limit, nil)
    }
    return stead_file_lock_within(descriptor, limit, file.base + JournalLayout.keptLock)
  }

  /// Creates the first file; nil when another process came first.
  private func make() throws -> Opened? {
    try disk.makeDirectories(path.directoryPath)
    let draft = try draft(initial())
    let isPlaced: Bool
    do {
      try draft.write(generation: nextGeneration(), path: path)
      isPlaced = try place(draft)
    } catch {
      draft.temporary.finish()
      throw error
    }
    if isPlaced {
      do {
        var opened = try opened(draft)
        opened.isPartial = true
        return opened
      } catch let error as FileError where error.isUnsupported {
        // Nobody could use the file.
        try? disk.remove(path)
        throw error
      }
    }
    draft.temporary.finish()
    return nil
  }

  func place(_ draft: JournalDraft) throws -> Bool {
    // Not a link: the descriptor would keep the temporary name, and inotify would report that name to those
    // who watch the journal. The directory's lock keeps our other writers out between the check and the
    // rename.
    try disk.withLockedDirectory(path.directoryPath, wait: lockWait) { _ in
      guard try disk.status(at: path) == nil else { return false }
      try disk.rename(draft.temporary.path, to: path)
      return true
    }
  }

  func draft(_ checkpoint: Checkpoint, records: JournalDraft.Records? = nil) throws -> JournalDraft
  {
    try checkpoint.bytes.withUnsafeBytes { bytes in
      try JournalDraft(
        at: path, on: disk, checkpoint: bytes, metadata: checkpoint.metadata, records: records)
    }
  }

  /// The new file made from a draft, still locked.
  func opened(_ draft: JournalDraft) throws -> Opened {
    let descriptor = draft.temporary.finishKeepingOpen()
    guard let file = try map(descriptor) else { throw damagedAgain }
    markHome(of: file, tail: draft.tail)
    return Opened(
      file: file, header: draft.header, verifiedEnd: draft.tail, isPartial: draft.isPartial)
  }

  /// Notes where the records begin that are written while the file is this one, and not the original of a copy.
  func markHome(of file: MappedFile, tail: Int) {
    guard let name = file.identity?.word, file.word(at: JournalLayout.home) != name else { return }
    file.setWord(UInt64(tail), at: JournalLayout.homeTail)
    file.setWord(name, at: JournalLayout.home)
  }

  /// Replaces a locked file with a draft and closes the old file.
  ///
  /// - Parameters:
  ///   - contained: Up to where the draft contains the old file, if it contains its checkpoint.
  ///   - isForeign: Whether the old file isn't a journal.
  func replace(
    _ file: MappedFile?, with draft: JournalDraft, isPartial: Bool = false, contained: Place? = nil,
    isForeign: Bool = false
  ) throws -> Opened {
    var draft = draft
    do {
      // Of a file without a header nothing is known.
      let old = contained == nil ? 0 : file?.word(at: JournalLayout.generation) ?? 0
      try draft.write(generation: nextGeneration(after: old), path: path)
      // Without the checkpoint nobody knows what of the earlier files is left.
      if let contained {
        var list = JournalLineage()
        if let file {
          let restoredEnd = file.word(at: JournalLayout.restoredEnd)
          list.inherit(
            JournalLineage(file).cut(at: Int(contained.offset), restoredEnd: restoredEnd),
            extent: JournalLineage.extent(draft.tail))
        }
        list.inherit(draft.lineage, extent: JournalLineage.extent(draft.tail))
        list.note(
          JournalLineage.Entry(lost: contained, record: JournalLineage.extent(draft.tail)))
        try draft.write(list, path: path)
      }
      do {
        try disk.rename(draft.temporary.path, to: path)
      } catch let error as FileError where error.isNameInUse {
        guard let file else { throw error }
        let rewritten = try rewrite(file, with: draft)
        rewritten.setWord(UInt64(draft.tail), at: JournalLayout.restoredEnd)
        return Opened(
          file: rewritten, header: draft.header, verifiedEnd: draft.tail,
          isPartial: isPartial || draft.isPartial)
      }
    } catch {
      draft.temporary.finish()
      throw error
    }
    var opened = try opened(draft)
    opened.isPartial = isPartial || draft.isPartial
    // Its records are those of the old file.
    opened.file.setWord(UInt64(draft.tail), at: JournalLayout.restoredEnd)
    guard let file else { return opened }
    // Processes that have the old file open now check where the name leads. Nobody has one open that isn't a journal, and
    // its bytes belong to somebody.
    if !isForeign { file.setWord(JournalLayout.superseded, at: JournalLayout.tail) }
    file.close(on: disk)
    return opened
  }
}

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
}
