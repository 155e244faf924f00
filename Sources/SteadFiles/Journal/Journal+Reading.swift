import CSteadFiles
import Foundation

extension Journal {
  /// Passes everything new to the owner.
  ///
  /// A checkpoint comes first if this is the first call or another process has replaced the file; then record
  /// after record. If `visit` throws, the next call begins with the event that it threw for. No lock is
  /// taken, and nobody is kept waiting.
  ///
  /// - Throws: ``FileError`` when the file cannot be opened again; and whatever `visit` throws.
  package func read(_ visit: (Event) throws -> Void) throws {
    stead_admit_bus_errors()
    if needsReopening { try reopenIfReplaced() }
    if try deliver(visit) { return }
    if access == .readOnly { return try rereadDamaged(visit) }
    try reopenLocked()
    // With the lock: otherwise the contents of a file that can't be replaced may be others by then.
    defer { unlockFile() }
    if try !deliver(visit) { throw damagedAgain }
  }

  /// Opens the file again where something seems damaged, since another process may have replaced the contents in place, and
  /// skips the damage if that is not it. For an owner that may only read.
  private func rereadDamaged(_ visit: (Event) throws -> Void) throws {
    for _ in 0..<Self.readingAttemptLimit {
      // At position 0 the checkpoint has changed since the opening, which verified it. Behind it, records differ only if
      // the contents were replaced, or are about to be.
      guard position == 0 || isOverwritten || hasWholeImage(file) else { break }
      try open()
      if try deliver(visit) { return }
    }
    skipDamage()
  }

  /// Whether the file has to be looked at before its records can be read: it was inherited by a fork, is a placeholder or was
  /// overwritten, or its tail has a flag.
  private var needsReopening: Bool {
    file.word(at: JournalLayout.tail) & JournalLayout.flags != 0 || file.isBlank
      || file.isInherited || isOverwritten
  }

  /// Opens the file at the path if the open one was inherited, overwritten or replaced, or is a placeholder.
  ///
  /// A flag in the tail may also be a killed writer's, which was about to replace the file. It is cleared if the lock is free;
  /// if it is not, a writer is at work, and the next call finds out what it has done.
  private func reopenIfReplaced() throws {
    if file.isInherited {
      try reattach()
    } else if isOverwritten {
      if access == .readOnly { return try open() }
      if try openSuccessor() { return }
      try reopenOverwritten()
      unlockFile()
    } else if file.isBlank {
      if try isCopyCurrent() { return }
      try open()
    }
    if file.word(at: JournalLayout.tail) & JournalLayout.flags == 0 { return }
    if try !isPathCurrent() { return try open() }
    if access == .readOnly, hasImage { return try open() }
    // A writer that was about to replace the file, and has died; or is still at it.
    guard access == .readWrite, stead_file_try_lock(file.descriptor) == 0 else { return }
    if hasImage {
      unlockFile()
      try reopenOverwritten()
    }
    defer { unlockFile() }
    if try isPathCurrent() { clearFlags() }
  }

  /// Whether the path, with its links followed again, leads to the open file. Costs a status for each component that is a link.
  func isPathCurrent() throws -> Bool {
    try resolvePath()?.identity == file.identity
  }

  /// Clears the flags of a writer that was killed before it could replace the file. Requires the lock, and that the path leads to
  /// the file.
  func clearFlags() {
    let word = file.word(at: JournalLayout.tail)
    file.setWord(word & ~JournalLayout.flags, at: JournalLayout.tail)
  }

  /// Passes the checkpoint, if the owner has not received it, and the records up to the tail; false at the first damaged one.
  ///
  /// Invariant: ``position`` moves only after `visit` has returned, so an event for which it threw comes again. Each record is
  /// verified in a copy, since another program may overwrite the file at any moment. Needs no lock: the tail is loaded
  /// with acquire order, and everything before it was stored before it.
  func deliver(_ visit: (Event) throws -> Void) throws -> Bool {
    let tail = Int(file.word(at: JournalLayout.tail) & ~JournalLayout.flags)
    if tail > file.byteCount { try file.extendMapping(on: disk, path: path) }
    if position == 0 {
      guard try visitCheckpoint(visit) else { return false }
      position = UInt64(header.logStart)
    }
    // A tail before what was received belongs to an older copy of the file.
    guard tail <= file.byteCount, tail >= position else { return false }
    let log = JournalLog(bytes: file.bytes, seed: seed)
    while position < tail {
      let offset = Int(position)
      guard let (payload, word) = log.copy(at: offset, limit: tail, into: &buffer) else {
        return false
      }
      try visit(.record(payload))
      position = UInt64(JournalLog.end(ofPayloadAt: offset, payload))
      (lastRecord, lastWord) = (offset, word)
    }
    previousPosition = nil
    return true
  }

  /// How many bytes of records the owner has received.
  package var logByteCount: Int { max(Int(position) - header.logStart, 0) }
  /// The size of the file's checkpoint in bytes.
  package var checkpointByteCount: Int { header.checkpointByteCount }

  /// Where the record begins that is being visited, or the next one.
  package var recordOffset: UInt64 { position }

  /// The word that changes with each record; see Documentation/JournalFile.md.
  package var tailWord: UInt64 {
    stead_admit_bus_errors()
    return file.word(at: JournalLayout.tail)
  }

  /// The record that begins at a place; nil if that is in another file, or the owner has not received it.
  package func record(at place: Place) -> Data? {
    // Records begin at multiples of 8. The place may come from a file that anybody could change.
    guard place.salt == header.salt, place.offset >= header.logStart, place.offset < position,
      place.offset % 8 == 0
    else { return nil }
    var buffer = RecordBuffer()
    let log = JournalLog(bytes: file.bytes, seed: seed)
    return log.copy(at: Int(place.offset), limit: Int(position), into: &buffer).map {
      Data($0.payload)
    }
  }

  /// A copy of the checkpoint. Empty where it is damaged.
  ///
  /// - Throws: ``FileError`` `.changed` when another program has overwritten it.
  package func checkpointBytes() throws -> Data {
    stead_admit_bus_errors()
    if substitute != nil { return Data() }
    guard let bytes = file.checkpoint(header) else { throw FileError.overwritten(path) }
    return bytes
  }

  /// Passes the checkpoint; false if it isn't what the header describes.
  private func visitCheckpoint(_ visit: (Event) throws -> Void) throws -> Bool {
    guard let bytes = substitute?.bytes ?? file.checkpoint(header) else { return false }
    try (substitute?.metadata ?? header.metadata).withUnsafeBytes { metadata in
      try bytes.withUnsafeBytes { try visit(.checkpoint($0, metadata: metadata)) }
    }
    return true
  }

  /// Reports damage that may not be repaired, and moves to the tail, so that it is reported once and later records are read.
  private func skipDamage() {
    let tail = file.word(at: JournalLayout.tail) & ~JournalLayout.flags
    report(.log, at: Int(position), lost: Int(tail) - Int(position), keptAside: nil)
    position = tail
  }

  /// Passes the payloads of all records behind the checkpoint that the owner has received or appended.
  package func visitLog(_ visit: (UnsafeRawBufferPointer) throws -> Void) rethrows {
    let log = JournalLog(bytes: file.bytes, seed: seed)
    let end = min(Int(position), file.byteCount)
    var offset = header.logStart
    var buffer = RecordBuffer()
    // Ends at a damaged record: where the next one begins can't be found.
    while offset < end, let (payload, _) = log.copy(at: offset, limit: end, into: &buffer) {
      try visit(payload)
      offset = JournalLog.end(ofPayloadAt: offset, payload)
    }
  }
}

// MARK: - Listening

extension Journal {
  /// How long, in milliseconds, a notice counts that no listener has cleared.
  private static let noticeLifetime: UInt64 = 1_000

  /// Asks writers in all processes to change the file's date after they have written.
  ///
  /// A process that watches the directory, by inotify for instance, thereby notices writes that go through
  /// memory alone. It costs a writer 2 us, once for everything that is written before a listener calls
  /// ``clearNotice()``.
  ///
  /// - Throws: ``FileError``: `.readOnly` for a journal that was opened read-only.
  package func listen() throws {
    stead_admit_bus_errors()
    guard !isListening else { return }
    guard access == .readWrite else {
      throw FileError(
        code: .readOnly, message: "Listening requires a journal opened for writing.", path: path)
    }
    if file.isInherited { try reattach() }
    // A writer that has freed the lock has made all its records visible; a later one sees the word.
    do {
      try lockFile()
    } catch let error as FileError where error.code == .busy {
      // A writer that is at work right now may not wake the listener, which is then woken by the next one.
      isListening = true
      return addListener()
    }
    defer { unlockFile() }
    isListening = true
    addListener()
  }

  /// Reverts ``listen()``.
  package func stopListening() {
    stead_admit_bus_errors()
    guard isListening else { return }
    isListening = false
    removeListener()
  }

  /// Re-arms the notice: the next write wakes the listener.
  ///
  /// A listener calls it before ``read(_:)``, so that it misses nothing in between.
  package func clearNotice() {
    stead_admit_bus_errors()
    guard file.isWritable else { return }
    _ = stead_exchange(file.base + JournalLayout.notice, 0)
  }

  /// Counts this journal among the listeners of the open file. Needs no lock.
  func addListener() { _ = stead_fetch_add(file.base + JournalLayout.listeners, 1) }

  func removeListener() {
    // 2^64 - 1 wraps, and so subtracts 1.
    _ = stead_fetch_add(file.base + JournalLayout.listeners, UInt64.max)
  }

  /// Changes the file's date, unless that was already done and no listener has woken since.
  @usableFromInline
  func wakeListeners() {
    let notice = file.base + JournalLayout.notice
    // 0 says that no notice is waiting.
    let now = max(stead_clock(), 1)
    // An addition, not a load, because it is ordered with the listener's clearing: a writer that still finds
    // the notice has written before the listener looks.
    let last = stead_fetch_add(notice, 0)
    // A notice does not count forever: a writer killed right here would silence all others.
    if last != 0, now &- last < Self.noticeLifetime { return }
    _ = stead_exchange(notice, now)
    _ = stead_file_touch(file.descriptor)
  }
}
