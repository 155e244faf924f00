import CSteadFiles
import Foundation

extension Journal {
  /// Writes while no other process does.
  ///
  /// The owner first hears what others have written, by `visit`, as in ``read(_:)``, so that `body`
  /// decides on the newest state. Apart from `visit` and `body` it costs a lock and an unlock, 0.6 us, or
  /// nothing while the lock is kept between writes.
  /// In `body` the same file must not be written by another object of this process: it would wait for
  /// itself.
  ///
  /// - Throws: ``FileError``: `.readOnly` for a journal that was opened for reading, `.busy` when another
  ///   process had the file locked for ``lockWait``; and what `visit` and `body` throw. What `body` had
  ///   appended by then stays.
  @inlinable
  package func write<Result>(
    catchingUp visit: (Event) throws -> Void, _ body: (inout Writer) throws -> Result
  ) throws -> Result {
    if !lockIfCurrent() { try lockAndCatchUp(visit) }
    defer { unlockAfterWriting() }
    var writer = Writer(self)
    return try body(&writer)
  }

  /// Takes the file's lock; false, and no lock, when there is more to do before writing.
  @inlinable @inline(__always)
  func lockIfCurrent() -> Bool {
    guard file.isWritable, !file.isInherited, writesUntilLook > 0,
      file.keepsLock || stead_file_try_lock(file.descriptor) == 0
    else { return false }
    writesUntilLook &-= 1
    // Behind the last record there are zeros, unless a writer was killed at work.
    if file.word(at: JournalLayout.tail) == position,
      Int(position) + JournalLayout.endByteCount <= file.byteCount,
      file.word(at: Int(position)) == 0, file.word(at: JournalLayout.salt) == salt
    {
      return true
    }
    unlockFile()
    return false
  }

  @inlinable @inline(__always)
  func unlockAfterWriting() {
    if !file.keepsLock {
      _ = stead_file_unlock(file.descriptor)
    } else if file.word(at: JournalLayout.keptLock) != UInt64(STEAD_LOCK_KEPT) {
      freeKeptLock()
    }
    if hasAppended {
      hasAppended = false
      if file.word(at: JournalLayout.listeners) != 0 { wakeListeners() }
    }
  }

  @usableFromInline
  func unlockFile() {
    if file.keepsLock { file.setKeepsLock(false) }
    _ = stead_file_unlock(file.descriptor)
  }

  @usableFromInline
  func lockAndCatchUp(_ visit: (Event) throws -> Void) throws {
    guard access == .readWrite else {
      throw FileError(
        code: .readOnly, message: "The journal was opened for reading only.", path: path)
    }
    try lockNewestFile()
    do {
      if try deliver(visit) { return }
      // The same file is locked and opened again below, which must not wait for this lock.
      unlockFile()
      try reopenLocked()
      if try !deliver(visit) { throw damagedAgain }
    } catch {
      unlockFile()
      throw error
    }
  }

  /// Locks the file that has the name, with all records in it that were completed.
  private func lockNewestFile() throws {
    if file.isInherited { try reattach() }
    if isOverwritten { return try reopenOverwritten() }
    try lockFile()
    do {
      if isOverwritten {
        unlockFile()
        return try reopenOverwritten()
      }
      if file.word(at: JournalLayout.tail) & JournalLayout.flags != 0 {
        guard try pathLeadsHere() else {
          unlockFile()
          return try reopenLocked()
        }
        clearFlags()
      }
      if file.word(at: JournalLayout.tail) != position { keeping.meetOthers() }
      let isDue = writesUntilLook == 0
      if writesUntilLook <= 0 { try returnToPlace() }
      if isDue { decideOnKeeping() }
      try file.extendMapping(on: disk, path: path)
      adoptCompletedRecords()
    } catch {
      unlockFile()
      throw error
    }
  }

  /// Locks the open file, and waits no longer than ``lockWait``.
  func lockFile() throws {
    if file.keepsLock { return }
    var error = stead_file_try_lock(file.descriptor)
    if error == EWOULDBLOCK {
      keeping.meetOthers()
      error = stead_file_lock_within(
        file.descriptor, lockWait.wholeMicroseconds, file.base + JournalLayout.keptLock)
    }
    if error == EWOULDBLOCK { throw busy }
    guard error == 0 else { throw FileError(errno: error, doing: "lock it", path: path) }
  }

  var busy: FileError {
    FileError(
      code: .busy,
      message:
        "Another process has locked the journal. Let it go on, if it was stopped, or end it.",
      path: path)
  }

  /// Takes in what a writer completed that was killed before it could say so.
  ///
  /// Only with the lock, so that nobody is writing there.
  func adoptCompletedRecords() {
    let tail = Int(file.word(at: JournalLayout.tail))
    guard tail >= header.logStart, tail + JournalLayout.endByteCount <= file.byteCount else {
      return
    }
    let end = JournalLog(bytes: file.bytes, seed: seed).end(from: tail)
    if end > tail { file.setWord(UInt64(end), at: JournalLayout.tail) }
    if end + JournalLayout.endByteCount <= file.byteCount { file.setWord(0, at: end) }
  }

  /// Makes sure that a record of so many bytes fits behind the last one.
  @usableFromInline
  func makeRoom(byteCount: Int) throws {
    precondition(byteCount > 0, "a record has at least one byte")
    guard byteCount <= Self.recordLimit else {
      throw FileError(
        code: .tooLarge, message: "A record has at most \(Self.recordLimit) bytes.", path: path)
    }
    let end =
      Int(position) + JournalLayout.recordHeaderByteCount + JournalLayout.roundedUp(byteCount)
      + JournalLayout.endByteCount
    if end > file.byteCount { try extendFile(to: end) }
    // Records that are written at one go come into the file another way, and need no pages here.
    if byteCount < Self.longRecordByteCount {
      roomEnd = min(max(end, Int(position) + Self.populatedByteCount), file.byteCount)
      stead_populate(file.base + Int(position), roomEnd - Int(position))
    }
  }

  private func extendFile(to end: Int) throws {
    // Another process may have made the file longer.
    try file.extendMapping(on: disk, path: path)
    guard end > file.byteCount else { return }
    let size = try disk.status(file.descriptor, path: path).size
    let newSize = JournalLayout.fileByteCount(now: Int(size), needed: end)
    let error = stead_file_extend(file.descriptor, size, Int64(newSize))
    guard error == 0 else { throw FileError(errno: error, doing: "make it longer", path: path) }
    try file.extendMapping(on: disk, path: path)
  }

  /// From here on records are written by a system call: the pages of a mapping are made one by one, which
  /// takes ten times as long as copying them.
  @usableFromInline static let longRecordByteCount = 128 << 10
  /// How many bytes behind the log's end get their pages at once.
  private static let populatedByteCount = 64 << 10

  /// Appends a record that is made elsewhere first.
  @usableFromInline
  func appendLong(
    byteCount: Int, _ fill: (UnsafeMutableRawBufferPointer) throws -> Void
  ) throws {
    try makeRoom(byteCount: byteCount)
    let payload = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 16)
    defer { payload.deallocate() }
    try fill(payload)
    try appendLong(UnsafeRawBufferPointer(payload), UnsafeRawBufferPointer(start: nil, count: 0))
  }

  /// Appends a record of two parts by a system call each.
  @usableFromInline
  func appendLong(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) throws {
    let byteCount = first.count + second.count
    try makeRoom(byteCount: byteCount)
    var offset = Int64(position) + Int64(JournalLayout.recordHeaderByteCount)
    var count = UInt32(byteCount).littleEndian
    var checksum = stead_crc32c(seed, &count, MemoryLayout.size(ofValue: count))
    for part in [first, second] {
      guard let start = part.baseAddress else { continue }
      let error = stead_file_write(file.descriptor, start, part.count, offset)
      guard error == 0 else { throw FileError(errno: error, doing: "write it", path: path) }
      checksum = stead_crc32c(checksum, start, part.count)
      offset += Int64(part.count)
    }
    publish(byteCount: byteCount, checksum: checksum)
    if file.isLost { throw cutOff }
  }

  /// Makes a record part of the log whose payload is behind the log's end already.
  @inlinable @inline(__always)
  func publish(byteCount: Int, checksum: UInt32) {
    position = stead_journal_publish(
      file.base, position, UInt32(truncatingIfNeeded: byteCount), checksum)
    hasAppended = true
  }

  @usableFromInline
  var cutOff: FileError {
    FileError(
      code: .changed, message: "Another program cut the journal off while it was written.",
      path: path)
  }
}

extension Duration {
  /// The microseconds of a wait.
  var wholeMicroseconds: Int64 {
    components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
  }
}

extension Journal {
  /// What may be done while a journal is locked. It must not outlive the call that it was passed to.
  @usableFromInline
  package struct Writer {
    // Valid in the call of `write` that made this value, whose caller holds the journal.
    @usableFromInline unowned(unsafe) let journal: Journal

    @inlinable
    init(_ journal: Journal) { self.journal = journal }

    /// Appends one record of 1 to ``Journal/recordLimit`` bytes, which `fill` writes.
    ///
    /// Once it returns, the record survives the end of the process, `kill -9` included, and other
    /// processes see it. `fill` gets the bytes in the file itself, not zeroed, and must write all of
    /// them. The owner is not told of its own records.
    ///
    /// - Throws: ``FileError``: `.noSpace` when the disk is full; nothing has changed then. `.changed` when
    ///   another program cut the file off meanwhile; whether the record is in what is left isn't known.
    @inlinable
    package func append(
      byteCount: Int, _ fill: (UnsafeMutableRawBufferPointer) throws -> Void
    ) throws {
      if byteCount >= Journal.longRecordByteCount {
        return try journal.appendLong(byteCount: byteCount, fill)
      }
      let start = Int(journal.position) + JournalLayout.recordHeaderByteCount
      let end = start + JournalLayout.roundedUp(byteCount) + JournalLayout.endByteCount
      if end > journal.roomEnd || byteCount <= 0 { try journal.makeRoom(byteCount: byteCount) }
      let payload = journal.file.base + start
      try fill(UnsafeMutableRawBufferPointer(start: payload, count: byteCount))
      let count = UInt32(truncatingIfNeeded: byteCount)
      journal.publish(
        byteCount: byteCount, checksum: stead_crc32c_record(journal.seed, payload, count))
      if journal.file.isLost { throw journal.cutOff }
    }

    /// Appends one record that consists of two parts, such as a key and a value.
    ///
    /// It is the same record as if it were one piece. From 128 KiB on it saves a copy that
    /// ``append(byteCount:_:)`` makes, since a long record that is filled in takes shape elsewhere first.
    ///
    /// - Throws: ``FileError``: `.noSpace` when the disk is full; nothing has changed then.
    @inlinable
    package func append(
      _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer
    ) throws {
      let byteCount = first.count + second.count
      if byteCount >= Journal.longRecordByteCount { return try journal.appendLong(first, second) }
      try append(byteCount: byteCount) { payload in
        payload.copyMemory(from: first)
        UnsafeMutableRawBufferPointer(rebasing: payload[first.count...]).copyMemory(from: second)
      }
    }

    /// Puts a new file in place that has a checkpoint and no records.
    ///
    /// It costs the writing of the checkpoint and one sync, 0.3 to 8 ms. After a crash at any moment
    /// the old file is there with all its records, or the new one. When it throws, nothing has changed.
    /// ``Journal/compaction(to:)`` keeps nobody waiting for the sync.
    ///
    /// - Throws: ``FileError``: `.noSpace` when the disk is full, `.tooLarge` above
    ///   ``Journal/metadataLimit`` or ``Journal/checkpointLimit``.
    package func compact(to checkpoint: Checkpoint) throws { try journal.compact(to: checkpoint) }

    /// Puts a prepared file in place, with the records that were appended meanwhile.
    ///
    /// It costs the copying of those records and, only if they were flushed meanwhile, one sync. When it
    /// throws, nothing has changed; the compaction can be prepared again.
    ///
    /// - Returns: false when that is no longer possible, since another process has compacted the journal
    ///   meanwhile, or the value was used before. Nothing has changed then.
    /// - Throws: ``FileError``: `.noSpace` when the disk is full.
    package func finish(_ prepared: PreparedJournalCompaction) throws -> Bool {
      try journal.finish(prepared)
    }

    /// How many bytes all records since the checkpoint take up.
    package var logByteCount: Int { journal.logByteCount }
    /// How many bytes the checkpoint has.
    package var checkpointByteCount: Int { journal.checkpointByteCount }
    /// The checkpoint's metadata.
    package var metadata: Data { journal.header.metadata }
    /// The checkpoint's bytes, in the file itself; valid until the next compaction.
    package var checkpoint: UnsafeRawBufferPointer { journal.checkpoint }
  }
}
