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
    if needsAttention { try attend() }
    if try deliver(visit) { return }
    if access == .readOnly { return skipDamage() }
    try reopenLocked()
    unlockFile()
    if try !deliver(visit) { throw damagedAgain }
  }

  /// Whether something has to be done before the records can be read.
  private var needsAttention: Bool {
    file.word(at: JournalLayout.tail) & JournalLayout.flags != 0 || file.isBlank
      || file.isInherited || isOverwritten
  }

  /// Handles forks, and files that have replaced this one, or may have.
  private func attend() throws {
    if file.isInherited {
      try reattach()
    } else if isOverwritten {
      if access == .readOnly { return try open() }
      try reopenOverwritten()
      unlockFile()
    } else if file.isBlank {
      if try !pathLeadsHere() { try open() }
    }
    if file.word(at: JournalLayout.tail) & JournalLayout.flags == 0 { return }
    if try !pathLeadsHere() { return try open() }
    // A writer that was about to replace the file, and has died; or is still at it.
    guard access == .readWrite, stead_file_try_lock(file.descriptor) == 0 else { return }
    defer { unlockFile() }
    if try pathLeadsHere() { clearFlags() }
  }

  func pathLeadsHere() throws -> Bool {
    try disk.status(at: path)?.identity == file.identity
  }

  func clearFlags() {
    let word = file.word(at: JournalLayout.tail)
    file.setWord(word & ~JournalLayout.flags, at: JournalLayout.tail)
  }

  /// Visits the records between the owner's position and the tail; false when a record is damaged.
  func deliver(_ visit: (Event) throws -> Void) throws -> Bool {
    let tail = Int(file.word(at: JournalLayout.tail) & ~JournalLayout.flags)
    if tail > file.byteCount { try file.extendMapping(on: disk, path: path) }
    if position == 0 {
      try visitCheckpoint(visit)
      position = UInt64(header.logStart)
    }
    guard tail <= file.byteCount, tail >= position else { return false }
    let log = JournalLog(bytes: file.bytes, seed: seed)
    while position < tail {
      let offset = Int(position)
      let isVerified = offset < verifiedEnd
      guard let payload = log.payload(at: offset, limit: tail, isVerified: isVerified) else {
        return false
      }
      try visit(.record(payload))
      if file.isLost { throw cutOff }
      position = UInt64(JournalLog.end(ofPayloadAt: offset, payload))
    }
    return true
  }

  /// How many bytes of records the owner has received.
  package var logByteCount: Int { max(Int(position) - header.logStart, 0) }
  /// The size of the file's checkpoint in bytes.
  package var checkpointByteCount: Int { header.checkpointByteCount }

  /// The checkpoint's bytes, in the file itself; valid until the next call. Empty where it is damaged.
  package var checkpoint: UnsafeRawBufferPointer {
    substitute == nil ? file.checkpoint(header) : UnsafeRawBufferPointer(start: nil, count: 0)
  }

  private func visitCheckpoint(_ visit: (Event) throws -> Void) throws {
    let checkpoint = substitute
    try (checkpoint?.metadata ?? header.metadata).withUnsafeBytes { metadata in
      if let checkpoint {
        try checkpoint.bytes.withUnsafeBytes { try visit(.checkpoint($0, metadata: metadata)) }
      } else {
        try visit(.checkpoint(file.checkpoint(header), metadata: metadata))
      }
    }
  }

  /// Damage that cannot be repaired is reported once and skipped.
  private func skipDamage() {
    let tail = file.word(at: JournalLayout.tail) & ~JournalLayout.flags
    report(.log, at: Int(position), lost: Int(tail) - Int(position), keptAside: nil)
    position = tail
  }

  @discardableResult
  func report(
    _ kind: JournalDamage.Kind, at offset: Int, lost: Int, keptAside: URL?
  ) -> JournalDamage {
    let damage = JournalDamage(
      kind: kind, offset: offset, lostByteCount: max(lost, 0), url: url, keptAside: keptAside)
    onDamage(damage)
    return damage
  }

  var damagedAgain: FileError {
    FileError(
      code: .damaged,
      message: "The journal was damaged again right after its repair; check the disk.", path: path)
  }
}

extension MappedFile {
  func checkpoint(_ header: JournalHeader) -> UnsafeRawBufferPointer {
    let start = JournalLayout.headerByteCount
    return UnsafeRawBufferPointer(rebasing: bytes[start..<(start + header.checkpointByteCount)])
  }
}
