import CSteadFiles
import Foundation

extension Journal {
  /// Writes while no other process does.
  ///
  /// `visit` first receives what other processes have written, as in ``read(_:)``, so that `body` decides on
  /// the newest state. Apart from `visit` and `body` it costs a lock, an unlock and the unblocking of a signal, 1 us, or nothing while
  /// the lock is kept between writes. In `body` the same file must not be written through another object of
  /// this process: it would wait for itself.
  ///
  /// - Throws: ``FileError``: `.readOnly` for a journal that was opened read-only, `.busy` when another
  ///   process had the file locked for ``lockWait``; and what `visit` and `body` throw. Records that `body`
  ///   had appended by then stay.
  @inlinable
  package func write<Result>(
    catchingUp visit: (Event) throws -> Void, _ body: (inout Writer) throws -> Result
  ) throws -> Result {
    // A write that finds the lock kept follows another one by milliseconds, and makes no system call.
    if file.keepsLock { stead_admit_first_bus_errors() } else { stead_admit_bus_errors() }
    if !lockIfCurrent() { try lockAndCatchUp(visit) }
    // Also if `body` throws: the records that it has appended stay, and listeners have to be woken for them.
    defer { unlockAfterWriting() }
    var writer = Writer(self)
    return try body(&writer)
  }

  /// The fast path of a write: takes the lock, and returns true if the owner has received everything and nothing seems wrong.
  /// Otherwise it returns false, without the lock, and ``lockAndCatchUp(_:)`` finds out what there is to do.
  @inlinable @inline(__always)
  func lockIfCurrent() -> Bool {
    guard file.isWritable, !file.isInherited, writesUntilRevalidation > 0, !isLockYielded,
      file.keepsLock || stead_file_try_lock(file.descriptor) == 0
    else { return false }
    writesUntilRevalidation &-= 1
    // The last record is followed by a word of zero, unless a writer was killed before it could publish the next one. While the
    // lock is kept, no system call is made: nobody else may replace the file, and the next revalidation, or the
    // thread that frees the lock, finds out whether it was truncated.
    if file.word(at: JournalLayout.tail) == position,
      Int(position) + JournalLayout.endByteCount <= file.byteCount,
      file.word(at: Int(position)) == 0, hasLastRecord, file.keepsLock || file.isLinkedAndComplete
    {
      return true
    }
    unlockFile()
    return false
  }

  /// Frees the lock unless it is kept and nobody waits for it, and wakes listeners.
  @inlinable @inline(__always)
  func unlockAfterWriting() {
    let word = file.word(at: JournalLayout.keptLock)
    if !file.keepsLock {
      _ = stead_file_unlock(file.descriptor)
      if word != 0 { yieldLock() }
    } else if word != UInt64(STEAD_LOCK_KEPT) {
      freeKeptLock()
    }
    if hasAppended {
      hasAppended = false
      if file.word(at: JournalLayout.listeners) != 0 { wakeListeners() }
    }
  }

  /// The slow path of a write: leaves the file locked, with everything received, or throws without the lock.
  @usableFromInline
  func lockAndCatchUp(_ visit: (Event) throws -> Void) throws {
    guard access == .readWrite else {
      throw FileError(
        code: .readOnly, message: "The journal was opened read-only; open it for writing.",
        path: path)
    }
    stead_admit_bus_errors()
    if isLockYielded { try endLockYield() }
    try lockNewestFile(visit)
    do {
      // False: the checkpoint or a record is damaged. An opening under the lock replaces the file by a good one.
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

  /// Locks the file at the path, and publishes its completed records.
  ///
  /// The lock of the open file comes first, the checks second: each of them may find that another file has the path, and switches to
  /// that one, locked. A lock is never requested while one is held, as both may be of the same file, on which a
  /// second open file of this process would wait for the first.
  ///
  /// Invariant: on return ``file`` is locked and was current when it was checked, its tail has no flag, and no whole record is behind
  /// the tail. If it throws, nothing is locked.
  private func lockNewestFile(_ visit: (Event) throws -> Void) throws {
    // First: the mapping of a forked child has zeros, and would look overwritten.
    if file.isInherited { try reattach() }
    if isOverwritten { return try reopenOverwritten() }
    try lockFile()
    do {
      if isOverwritten || isTruncated {
        unlockFile()
        return try reopenOverwritten()
      }
      if file.word(at: JournalLayout.tail) & JournalLayout.flags != 0 {
        guard try isPathCurrent() else {
          unlockFile()
          return try reopenLocked()
        }
        // A process was killed while it rewrote the file in place. The opening completes that.
        if hasImage {
          unlockFile()
          return try reopenOverwritten()
        }
        clearFlags()
      }
      // Another process may have written since, and would then have to ask for a kept lock.
      if file.word(at: JournalLayout.tail) != position { lockRetention.recordContention() }
      // Only a revalidation that is due after so many writes tells how fast they follow one another.
      let isDue = writesUntilRevalidation == 0
      if writesUntilRevalidation <= 0 || !file.isLinked { try restorePath(visit) }
      if isDue { decideOnLockRetention() }
      try file.extendMapping(on: disk, path: path)
      publishCompletedRecords()
    } catch {
      unlockFile()
      throw error
    }
  }

  /// Moves the tail behind records that are complete, whose writer was killed before it moved the tail.
  ///
  /// Requires the lock, so that nobody is writing there. The word behind the last record is cleared: a payload that was torn
  /// may look like the beginning of a record.
  func publishCompletedRecords() {
    let tail = Int(file.word(at: JournalLayout.tail))
    guard tail >= header.logStart, tail + JournalLayout.endByteCount <= file.byteCount else {
      return
    }
    let end = JournalLog(bytes: file.bytes, seed: seed).end(from: tail)
    if end > tail { file.setWord(UInt64(end), at: JournalLayout.tail) }
    if end + JournalLayout.endByteCount <= file.byteCount { file.setWord(0, at: end) }
  }

  /// Makes sure that a record of a size fits behind the last one, and that storing it raises no page fault. Requires the lock.
  ///
  /// A full disk is found out here, before anything has changed. A store into a hole of a file on a full disk would raise SIGBUS,
  /// so the blocks are allocated first.
  @usableFromInline
  func reserveSpace(byteCount: Int) throws {
    // A length of 0 is what the word behind the last record says: the log would end here.
    precondition(byteCount > 0, "a record has at least one byte")
    guard byteCount <= Self.recordLimit else {
      throw FileError(
        code: .tooLarge,
        message: "A record of a journal has at most \(Self.recordLimit) bytes, and this one would "
          + "have \(byteCount); keep large values in files.", path: path)
    }
    let end =
      Int(position) + JournalLayout.recordHeaderByteCount + JournalLayout.roundedUp(byteCount)
      + JournalLayout.endByteCount
    if end > file.byteCount { try extendFile(to: end) }
    // Records that are written by a system call need no mapped pages here.
    if byteCount < Self.longRecordByteCount {
      populatedEnd = min(max(end, Int(position) + Self.populatedByteCount), file.byteCount)
      stead_populate(file.base + Int(position), populatedEnd - Int(position))
    }
  }

  /// Extends the file by allocated blocks, and the mapping. Requires the lock.
  private func extendFile(to end: Int) throws {
    // Another process may have extended the file.
    try file.extendMapping(on: disk, path: path)
    guard end > file.byteCount else { return }
    let size = try disk.status(file.descriptor, path: path).size
    // Zeros in the place of what was truncated would hide that it is gone.
    guard size >= file.byteCount else { throw recordOverwriting() }
    // From the file's length, not the mapping's: a file whose length is no multiple of 8 has a few bytes more.
    let newSize = JournalLayout.fileByteCount(now: Int(size), needed: end)
    let error = stead_file_extend(file.descriptor, size, Int64(newSize))
    guard error == 0 else { throw FileError(errno: error, doing: "extend the file", path: path) }
    try file.extendMapping(on: disk, path: path)
    // Another program may have truncated it again at once.
    guard end <= file.byteCount else { throw recordOverwriting() }
  }

  /// Records of at least this size are written by a system call: the pages of a mapping are created one by
  /// one, which takes ten times as long as copying them.
  @usableFromInline static let longRecordByteCount = 128 << 10
  /// How many bytes behind the log's end get their pages at once.
  private static let populatedByteCount = 64 << 10

  /// Appends a record that is first built elsewhere.
  @usableFromInline
  func appendLong(
    byteCount: Int, _ fill: (UnsafeMutableRawBufferPointer) throws -> Void
  ) throws {
    try reserveSpace(byteCount: byteCount)
    let payload = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 16)
    defer { payload.deallocate() }
    try fill(payload)
    try appendLong(UnsafeRawBufferPointer(payload), UnsafeRawBufferPointer(start: nil, count: 0))
  }

  /// Appends a record of two parts, by one system call each.
  @usableFromInline
  func appendLong(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) throws {
    let byteCount = first.count + second.count
    try reserveSpace(byteCount: byteCount)
    var offset = Int64(position) + Int64(JournalLayout.recordHeaderByteCount)
    // The checksum covers the length first, as `stead_crc32c_record` computes it for a record in one piece.
    var count = UInt32(byteCount).littleEndian
    var checksum = stead_crc32c(seed, &count, MemoryLayout.size(ofValue: count))
    for part in [first, second] {
      guard let start = part.baseAddress else { continue }
      // Behind the tail, and behind a word of zero, so a failure leaves nothing that anybody would read.
      let error = stead_file_write(file.descriptor, start, part.count, offset)
      guard error == 0 else {
        throw FileError(errno: error, doing: "write to the file", path: path)
      }
      checksum = stead_crc32c(checksum, start, part.count)
      offset += Int64(part.count)
    }
    try publish(byteCount: byteCount, checksum: checksum)
  }

  /// Publishes a record whose payload is already behind the log's end. Requires the lock.
  ///
  /// The stores are in this order, each with release order: zeros behind the record, its length and checksum, the tail. A process that
  /// is killed in between leaves nothing, or a whole record that the next writer publishes. Readers without the lock never see a part.
  ///
  /// Another program may have truncated or overwritten the file at any moment since the lock was taken. So once
  /// the record is there, the one before it has to be there, too: otherwise the log would have a gap, and
  /// nobody would find the record. Truncating comes before overwriting, if both are done.
  @inlinable @inline(__always)
  func publish(byteCount: Int, checksum: UInt32) throws {
    let (start, count) = (position, UInt32(truncatingIfNeeded: byteCount))
    position = stead_journal_publish(file.base, start, count, checksum)
    hasAppended = true
    guard file.word(at: JournalLayout.tail) == position, hasLastRecord, !file.isLost else {
      throw recordOverwriting()
    }
    lastRecord = Int(start)
    lastWord = UInt64(checksum) << 32 | UInt64(count)
  }

  /// The error for a file that was truncated or overwritten during a write; the next call opens the file again.
  @usableFromInline
  func recordOverwriting() -> FileError {
    isKnownOverwritten = true
    writesUntilRevalidation = -1
    return FileError.overwritten(path)
  }
}

// MARK: - Writer

extension Journal {
  /// The operations on a locked journal. It must not outlive the call that it was passed to.
  @usableFromInline
  package struct Writer {
    // Valid during the call of `write` that made this value, whose caller has exclusive use of the journal.
    @usableFromInline unowned(unsafe) let journal: Journal

    @inlinable
    init(_ journal: Journal) { self.journal = journal }

    /// Appends one record of 1 to ``Journal/recordLimit`` bytes, which `fill` writes.
    ///
    /// Once it returns, the record survives the end of the process, including `kill -9`, and other processes
    /// see it. `fill` gets bytes that are not zeroed, and must write all of them. The owner does not
    /// receive its own records.
    ///
    /// - Throws: ``FileError``: `.noSpace` when the disk is full; nothing has changed then. `.changed` when
    ///   another program truncated the file meanwhile; whether the rest contains the record isn't known.
    @inlinable
    package func append(
      byteCount: Int, _ fill: (UnsafeMutableRawBufferPointer) throws -> Void
    ) throws {
      if byteCount >= Journal.longRecordByteCount {
        return try journal.appendLong(byteCount: byteCount, fill)
      }
      let start = Int(journal.position) + JournalLayout.recordHeaderByteCount
      let end = start + JournalLayout.roundedUp(byteCount) + JournalLayout.endByteCount
      // Also for an empty record, which `reserveSpace` refuses.
      if end > journal.populatedEnd || byteCount <= 0 {
        try journal.reserveSpace(byteCount: byteCount)
      }
      // Built in memory of this process, so that the checksum is that of what was to be written: another program
      // can overwrite the file before the checksum is computed.
      if byteCount > journal.buffer.bytes.count { journal.buffer.resize(for: byteCount) }
      let payload = UnsafeMutableRawBufferPointer(rebasing: journal.buffer.bytes[..<byteCount])
      try fill(payload)
      let count = UInt32(truncatingIfNeeded: byteCount)
      let checksum = stead_crc32c_record(journal.seed, payload.baseAddress!, count)
      (journal.file.base + start).copyMemory(from: payload.baseAddress!, byteCount: byteCount)
      try journal.publish(byteCount: byteCount, checksum: checksum)
    }

    /// Appends one record that consists of two parts, such as a key and a value.
    ///
    /// The record is the same as if it were one piece. From 128 KiB on it saves a copy that
    /// ``append(byteCount:_:)`` makes, since a long record that is filled in is first built elsewhere.
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

    /// Replaces the file with a new one that has a checkpoint and no records.
    ///
    /// It costs the writing of the checkpoint and one sync, 0.3 to 8 ms. After a crash at any moment the old
    /// file with all its records exists, or the new one. If it throws, nothing has changed.
    /// ``Journal/compaction(to:)`` keeps nobody waiting for the sync.
    ///
    /// - Throws: ``FileError``: `.noSpace` when the disk is full, `.tooLarge` above
    ///   ``Journal/metadataLimit`` or ``Journal/checkpointLimit``.
    package func compact(to checkpoint: Checkpoint) throws { try journal.compact(to: checkpoint) }

    /// Puts a prepared file in place, with the records that were appended meanwhile.
    ///
    /// It costs the copying of those records and, only if they were flushed meanwhile, one sync. If it
    /// throws, nothing has changed; the compaction can be prepared again.
    ///
    /// - Returns: false when that is no longer possible, since another process has compacted the journal
    ///   meanwhile, or the value was used before. Nothing has changed then.
    /// - Throws: ``FileError``: `.noSpace` when the disk is full.
    package func finish(_ prepared: PreparedJournalCompaction) throws -> Bool {
      try journal.finish(prepared)
    }

    /// The size of all records since the checkpoint, in bytes.
    package var logByteCount: Int { journal.logByteCount }
    /// The size of the checkpoint in bytes.
    package var checkpointByteCount: Int { journal.checkpointByteCount }
    /// Restores a lost file, as far as ``Journal/endRecovery()`` returned, by the one record that `body` appends.
    package func restore(_ lost: Place, _ body: () throws -> Void) throws {
      try journal.restore(lost, body)
    }
    /// Where the next record begins.
    package var place: Place { Place(salt: journal.header.salt, offset: journal.position) }
    /// The checkpoint's metadata.
    package var metadata: Data { journal.header.metadata }
    /// A copy of the checkpoint.
    ///
    /// - Throws: ``FileError`` `.changed` when another program has overwritten it.
    package func checkpointBytes() throws -> Data { try journal.checkpointBytes() }
  }
}
