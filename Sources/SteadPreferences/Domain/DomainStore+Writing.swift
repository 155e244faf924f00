import Foundation
import SteadFiles

extension DomainStore {
  /// Sets a value; nil removes the key.
  ///
  /// When it returns, the value survives the end of the process, however that ends. When it throws
  /// `.unavailable` or `.locked`, the value is kept, in memory or in the waiting file, and written when that is possible.
  @inline(__always)
  func set(_ value: PropertyList?, forKey key: String) throws {
    try changing(deferring: { _ in [DomainEdit(key: key, value: value)] }) { replay, file in
      if let file {
        try file.set(value, forKey: key, &replay)
      } else {
        try replay.checkQuota(options.quota, key, value)
        replay.edit(key, value, isOwn: true)
      }
    }
  }

  /// Makes several changes as one: other processes see all of them or none.
  func apply(_ edits: [DomainEdit]) throws {
    guard !edits.isEmpty else { return }
    try changing(deferring: { _ in edits }) { replay, file in
      if let file {
        try file.apply(edits, &replay)
        return
      }
      try replay.checkQuota(options.quota, edits)
      for edit in edits { replay.edit(edit.key, edit.value, isOwn: true) }
    }
  }

  /// Makes several changes as one if the keys of `expected` have its values, and returns whether they did.
  ///
  /// Nobody, in this process or another, writes between the check and the changes. When it throws, nothing has changed.
  func apply(_ edits: [DomainEdit], ifStill expected: [DomainEdit]) throws -> Bool {
    var isDone = false
    try changing(isConditional: true) { replay, file in
      if let file {
        isDone = try file.apply(edits, ifStill: expected, &replay)
        return
      }
      guard replay.matches(expected) else { return }
      try replay.checkQuota(options.quota, edits)
      for edit in edits { replay.edit(edit.key, edit.value, isOwn: true) }
      isDone = true
    }
    return isDone
  }

  /// Replaces all contents with `fields`.
  ///
  /// A domain in memory may represent other programs' values; its changes are then not this process's.
  func replaceContents(with fields: PropertyList.Fields, isOwn: Bool = true) throws {
    try changing(deferring: { replay in replay.table.edits(to: fields) }) { replay, file in
      if let file { return try file.replaceContents(with: fields, &replay) }
      let edits = replay.table.edits(to: fields)
      try replay.checkQuota(options.quota, edits)
      for edit in edits { replay.edit(edit.key, edit.value, isOwn: isOwn) }
    }
  }

  // MARK: Safety

  /// Returns once everything that was set survives a power loss.
  ///
  /// - Throws: ``PreferencesError`` while some values could not be written, and when the disk fails.
  func flush() throws {
    try changing { replay, file in
      guard let file, !options.isReadOnly else { return }
      // Each change of a plain file is durable.
      if file.isPlain { return try file.writeDeferred(&replay) }
      if file.isReadOnly { try file.becomeWritable() }
      // A caller that only wants certainty need not wait for a stopped process.
      if file.hasOwnDeferredWrites || !file.journal.isInPlace { try file.revalidate(&replay) }
      if file.hasOwnDeferredWrites { try file.writeDeferred(&replay) }
    }
    let flusher = state.withLock { state in state.file?.journal.flusher }
    do {
      try flusher?.flush()
    } catch let error as FileError where error.code == .damaged {
      // Values that the disk has not stored are in memory, and are written to another place.
      try changing { replay, file in try file?.rewrite(&replay) }
      try state.withLock { state in state.file?.journal.flusher }?.flush()
    }
  }

  /// Flushes as ``flush()`` does, and updates the property list file.
  func checkpoint() throws {
    var isBeingWritten = false
    try changing { replay, file in
      try file?.checkpoint(&replay)
      isBeingWritten = file?.isBeingWritten ?? false
    }
    if isBeingWritten { refreshLater() }
    try flush()
  }

  /// Checks immediately whether others have changed the files, and returns whether they could be read.
  ///
  /// Problem handlers are called with what could not be read.
  @discardableResult
  func refresh() -> Bool {
    let fileState = state.withLock { state in state.file.map { ($0.plist, $0.lastSeen) } }
    // A failure recurs in the reading that others wait for, which reports it.
    let reading = fileState.flatMap { plist, lastSeen in
      try? DomainFile.Reading(plist, lastSeen: lastSeen)
    }
    let (hasPendingEvents, isBeingWritten, hasProblem) = state.withLock {
      state -> (Bool, Bool, Bool) in
      guard let file = state.file else { return (false, false, false) }
      file.reading = reading
      defer { file.reading = nil }
      let hasPendingEvents = state.reporting(file) { replay in
        if !file.isReadOnly, !file.journal.isInPlace { try file.revalidate(&replay) }
        try file.mergeExternalEdits(&replay)
      }
      return (hasPendingEvents, file.isBeingWritten, !file.problems.isEmpty)
    }
    if hasPendingEvents { deliver() }
    if isBeingWritten { refreshLater() }
    return !hasProblem
  }

  /// Throws if the domain has no files, and none can be made.
  ///
  /// - Throws: ``FileError`` that says why.
  func checkFiles() throws {
    var obstacle: FileError?
    try change { _, file in
      guard let file, file.isReadOnly, !options.isReadOnly, !file.isPlain, !file.hasFiles else {
        return
      }
      do {
        try file.becomeWritable()
      } catch let error as FileError {
        if !file.isPlain { obstacle = error }
      }
    }
    if let obstacle { throw obstacle }
  }

  /// Makes a change, which is kept until it can be written.
  ///
  /// - Parameters:
  ///   - edits: What is kept.
  ///   - isConditional: Whether the change depends on what the files have, so that nothing of it is kept.
  @inline(__always)
  func changing(
    deferring edits: (Replay) -> [DomainEdit] = { _ in [] }, isConditional: Bool = false,
    _ body: (inout Replay, DomainFile?) throws -> Void
  ) throws {
    do {
      try change(body)
    } catch let error as FileError where error.isObstacle || error.code == .changed {
      try changeLater(error, edits, isConditional, body)
    }
  }

  /// Retries a failed change without keeping others waiting, then keeps it in memory.
  @inline(never)
  private func changeLater(
    _ first: FileError, _ edits: (Replay) -> [DomainEdit], _ isConditional: Bool,
    _ body: (inout Replay, DomainFile?) throws -> Void
  ) throws {
    var error = first
    // Others that read or write here needn't wait for a process to which the lock is left.
    while error.code == .busy,
      let wait = state.withLock({ state in state.file?.journal.leftLockWait })
    {
      wait.wait()
      do {
        return try change(body)
      } catch let next as FileError where next.isObstacle || next.code == .changed {
        error = next
      }
    }
    defer { state.withLock { state in state.file?.journal.withdrawRequest() } }
    // A process that is stopped is waited for once, not by every call.
    let isStuck = state.withLock { state in state.file?.isLockHolderStuck ?? false }
    var lockDeadline = LockDeadline(
      limit: isStuck ? .zero : options.lockWait, contended: options.contendedLockWait,
      tail: journalTail)
    var pause: Int64 = 20
    while error.code == .busy || error.code == .changed, lockDeadline.allowsRetry(tail: journalTail)
    {
      let wait = state.withLock { state in state.file?.journal.insistOnLock() }
      wait?.wait(atMost: pause)
      pause = min(pause * 2, 1_000)
      do {
        return try change(body)
      } catch let next as FileError where next.isObstacle || next.code == .changed {
        error = next
      }
    }
    if error.code == .busy { state.withLock { state in state.file?.recordStuckHolder() } }
    try deferChange(edits, isConditional, error)
  }

  private var journalTail: UInt64? {
    state.withLock { state in state.file?.journal.tailWord }
  }

  private func deferChange(
    _ edits: (Replay) -> [DomainEdit], _ isConditional: Bool, _ error: FileError
  ) throws {
    var isFirst = true
    var values = PreferencesError.ValuesLocation.memory
    try change { replay, file in
      let edits = edits(replay)
      defer { values = isConditional ? .notMade : file?.valuesLocation ?? .memory }
      guard let file, !edits.isEmpty else { return }
      try replay.checkQuota(options.quota, edits)
      // What no record can hold could never be written.
      for edit in edits { _ = try DomainRecord.byteCount(edit.key, edit.value) }
      isFirst = file.deferWrites(edits)
      for edit in edits { replay.edit(edit.key, edit.value, isOwn: true) }
    }
    if values == .memory { keepUntilExit() }
    let directory = state.withLock { state in state.file?.directory }
    throw PreferencesError(
      notWritten: error, domain: name, directory, values: values, isRepetition: !isFirst)
  }

  @inline(__always)
  private func change(_ body: (inout Replay, DomainFile?) throws -> Void) throws {
    var hasPendingEvents = false
    var isCompactionDue = false
    var hasKeptLock = false
    defer {
      if hasKeptLock { releaseLockLater() }
      if hasPendingEvents { deliver() }
      if isCompactionDue { compactLater() }
    }
    try state.withLock { state in
      let file = state.file
      file?.journal.leavesLock = true
      defer {
        if let file {
          file.journal.leavesLock = false
          if file.hasNewJournal { state.useJournal(of: file) }
          if file.compaction == .due {
            file.compaction = .running(generation: forkGeneration)
            isCompactionDue = true
          }
          if file.hasNewlyKeptLock {
            file.lockReleaseGeneration = forkGeneration
            hasKeptLock = true
          }
        }
        hasPendingEvents = state.hasPendingEvents
      }
      try state.changing { replay in try body(&replay, file) }
    }
  }
}

// MARK: - Waiting for the lock

/// Decides how long a call goes on trying to get the journal's lock.
///
/// A process that has the lock and writes nothing for ``limit`` counts as stopped. While others write, nobody is
/// stopped: they only get the lock before the caller, as may happen on a busy machine, since waiters get it in no
/// particular order.
struct LockDeadline {
  /// How long a call waits for its turn at most.
  static let contendedLimit = Duration.seconds(10)

  private let limit: Duration
  private let end: ContinuousClock.Instant
  /// The journal's tail when its holder last was seen to write.
  private var tail: UInt64?
  private var deadline: ContinuousClock.Instant

  init(limit: Duration, contended: Duration, tail: UInt64?) {
    let now = ContinuousClock.now
    (self.limit, self.tail) = (limit, tail)
    (deadline, end) = (now + limit, now + contended)
  }

  /// Whether to try once more, now that the journal has this tail.
  mutating func allowsRetry(tail: UInt64?) -> Bool {
    let now = ContinuousClock.now
    if now < deadline { return true }
    guard tail != self.tail, now < end else { return false }
    (self.tail, deadline) = (tail, now + limit)
    return true
  }
}

// MARK: - Releasing a kept lock

extension DomainFile {
  /// Whether a write has kept the journal's lock, and no thread takes care of it yet.
  @inline(__always)
  var hasNewlyKeptLock: Bool {
    journal.keepsLock && lockReleaseGeneration != forkGeneration
  }
}

extension DomainStore {
  /// Starts a thread that frees a kept lock once writing has stopped.
  ///
  /// One thread serves some hundred writes or more, and costs 30 us. While it runs it checks every
  /// ``Journal/idleLockLimit``, and it ends with the writes.
  @inline(never)
  func releaseLockLater() {
    do {
      // The thread alone must not keep a domain open.
      try DetachedThread.start { [weak self] in
        while let wait = self?.releaseIdleLock() { wait.wait() }
      }
    } catch {
      state.withLock { state in
        state.file?.journal.freeKeptLock()
        state.file?.lockReleaseGeneration = nil
      }
    }
  }

  private func releaseIdleLock() -> Journal.IdleLockWait? {
    let (wait, hasPendingEvents) = state.withLock { state -> (Journal.IdleLockWait?, Bool) in
      guard let file = state.file else { return (nil, false) }
      let wait = file.journal.freeIdleLock()
      if wait == nil { file.lockReleaseGeneration = nil }
      // Restored at once, since the program may set nothing more, and end.
      guard !file.isReadOnly, !file.journal.isInPlace else { return (wait, false) }
      let hasPendingEvents = state.reporting(file) { replay in
        try file.revalidate(&replay)
        try file.writeDeferred(&replay)
      }
      return (wait, hasPendingEvents)
    }
    if hasPendingEvents { deliverLater() }
    return wait
  }
}
