import Foundation
import SteadFiles

extension DomainStore {
  /// Sets a value; nil removes the key.
  ///
  /// When it returns, the value is in the journal and survives the end of the process, however that
  /// ends. When it throws `.unavailable` or `.locked`, the value is deferred: it is in effect, is
  /// kept in the waiting file or else in memory, and is written as soon as possible.
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

  /// Makes several changes as one record: other processes see all of them or none.
  ///
  /// - Throws: As ``set(_:forKey:)``.
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

  /// Makes several changes as one if the keys of `expected` have its values (compare and swap), and
  /// returns whether they did.
  ///
  /// No other writer, in this process or another, comes between the check and the changes.
  ///
  /// - Throws: ``PreferencesError``. Nothing has changed then, and nothing is deferred: whether the
  ///   condition holds is unknown until the files can be read with their lock.
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

  /// Replaces all contents with `fields`, as one change.
  ///
  /// - Parameter isOwn: false for a domain in memory that mirrors a file of another program.
  func replaceContents(with fields: PropertyList.Fields, isOwn: Bool = true) throws {
    try apply(isOwn: isOwn) { replay in replay.table.edits(to: fields) }
  }

  /// Sets the keys of `edits` that have no value, as one change, and returns how many those were.
  ///
  /// No other writer, in this process or another, comes between the check and the change.
  ///
  /// - Throws: As ``set(_:forKey:)``.
  func add(_ edits: [DomainEdit]) throws -> Int {
    var count = 0
    try apply { replay in
      let missing = edits.filter { replay.table[$0.key] == nil }
      count = missing.count
      return missing
    }
    return count
  }

  /// Makes the changes that a body computes from the table as of the change.
  private func apply(isOwn: Bool = true, making edits: (Replay) -> [DomainEdit]) throws {
    try changing(deferring: edits) { replay, file in
      if let file { return try file.apply(making: edits, &replay) }
      let edits = edits(replay)
      try replay.checkQuota(options.quota, edits)
      for edit in edits { replay.edit(edit.key, edit.value, isOwn: isOwn) }
    }
  }

  // MARK: - Safety

  /// Returns once everything that was set survives a power loss.
  ///
  /// Writes deferred values first. Costs one sync, and reading the records up to the tail that was
  /// synced.
  ///
  /// - Throws: ``PreferencesError`` while some values could not be written, and when the disk
  ///   fails.
  func flush() throws {
    try changing { replay, file in
      guard let file, !options.isReadOnly else { return }
      // Each change of a plain file is durable.
      if file.isPlain { return try file.writeDeferred(&replay) }
      // What was set while the files were read-only must be in a journal before it can be synced.
      if file.isReadOnly { try file.becomeWritable() }
      // A caller that only wants certainty need not wait for a stopped process.
      if file.hasOwnDeferredWrites || !file.journal.isInPlace { try file.revalidate(&replay) }
      if file.hasOwnDeferredWrites { try file.writeDeferred(&replay) }
    }
    // Not under the lock: a sync takes milliseconds, and reads go on meanwhile.
    let flusher = state.withLock { state in state.file?.journal.flusher }
    do {
      try flusher?.flush()
    } catch let error as FileError where error.code == .damaged {
      // The log on the disk is damaged or was not stored. Memory has everything, and is written to
      // new blocks.
      try changing { replay, file in try file?.rewrite(&replay) }
      try state.withLock { state in state.file?.journal.flusher }?.flush()
    }
  }

  /// Flushes, and publishes a new checkpoint as the property list.
  func checkpoint() throws {
    var isBeingWritten = false
    try changing { replay, file in
      try file?.checkpoint(&replay)
      isBeingWritten = file?.plistState.isBeingWritten ?? false
    }
    if isBeingWritten { refreshLater() }
    try flush()
  }

  /// Looks for changes of the files by others, and returns whether everything could be read.
  ///
  /// Reads the property list if its status has changed. Problem handlers get what could not be
  /// read.
  @discardableResult
  func refresh() -> Bool {
    let fileState = state.withLock { state in state.file.map { ($0.plist, $0.plistState.lastSeen) }
    }
    // Without the lock, since reading and hashing a large file would block writers. A failure
    // recurs in the reading under the lock, which reports it.
    let reading = fileState.flatMap { plist, lastSeen in
      try? DomainFile.Reading(plist, lastSeen: lastSeen)
    }
    let (hasPendingEvents, isBeingWritten, hasProblem) = state.withLock {
      state -> (Bool, Bool, Bool) in
      guard let file = state.file else { return (false, false, false) }
      let hasPendingEvents = state.reporting(file) { replay in
        if !file.isReadOnly, !file.journal.isInPlace { try file.revalidate(&replay) }
        try file.mergeExternalEdits(&replay, reading: reading)
      }
      return (hasPendingEvents, file.plistState.isBeingWritten, !file.problems.isEmpty)
    }
    if hasPendingEvents { deliver() }
    if isBeingWritten { refreshLater() }
    return !hasProblem
  }

  /// Throws if the domain has no files, and none can be made.
  ///
  /// - Throws: ``FileError`` with the obstacle.
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

  /// Makes a change, and defers it if the files cannot be written.
  ///
  /// - Parameters:
  ///   - edits: What to defer, computed from the table as of then.
  ///   - isConditional: Whether the change depends on what the files have. Then nothing is
  ///     deferred.
  ///   - body: Makes the change. It is called again for each attempt, always with the store's lock
  ///     held.
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

  /// Repeats a change that met another process's lock, and defers it in the end.
  ///
  /// The store's lock is free while this waits, so that reads and other writes of this process go
  /// on. In order:
  ///
  /// 1. If this process has yielded the lock after keeping it, it waits for the process that asked
  ///    for it.
  /// 2. It polls with growing pauses as long as the lock's holder makes progress, see
  ///    ``LockDeadline``.
  /// 3. It defers the edits and throws.
  @inline(never)
  private func changeLater(
    _ first: FileError, _ edits: (Replay) -> [DomainEdit], _ isConditional: Bool,
    _ body: (inout Replay, DomainFile?) throws -> Void
  ) throws {
    var error = first
    // The lock is left to a process that asked for it, which must get a chance before this one
    // tries again. Those that read or write here need not wait for that.
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
    // A request that is left behind would make the next writer yield to a process that no longer
    // waits.
    defer { state.withLock { state in state.file?.journal.withdrawRequest() } }
    // A process that is stopped is waited for once, not by every call.
    let isStuck = state.withLock { state in state.file?.isLockHolderStuck ?? false }
    var lockDeadline = LockDeadline(
      limit: isStuck ? .zero : options.lockWait, contended: options.contendedLockWait,
      tail: journalTail)
    // Microseconds. `flock` has no timeout, so the lock is tried again and again. In between, a
    // shared word wakes this call when the lock is released.
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
    // From now on, until the journal's tail moves, calls do not wait for this holder.
    if error.code == .busy { state.withLock { state in state.file?.recordStuckHolder() } }
    try deferChange(edits, isConditional, error)
  }

  /// The journal's tail word, which changes with each record that any process writes.
  private var journalTail: UInt64? {
    state.withLock { state in state.file?.journal.tailWord }
  }

  /// Defers edits that could not be written, and throws the error that says where they are.
  private func deferChange(
    _ edits: (Replay) -> [DomainEdit], _ isConditional: Bool, _ error: FileError
  ) throws {
    // Only the first of several failures in a row is reported to handlers.
    var isFirst = true
    var values = PreferencesError.ValuesLocation.memory
    try change { replay, file in
      let edits = edits(replay)
      defer { values = isConditional ? .notMade : file?.valuesLocation ?? .memory }
      // A domain in memory never fails, and a conditional change defers nothing.
      guard let file, !edits.isEmpty else { return }
      try replay.checkQuota(options.quota, edits)
      // The quota and the encoding are checked here: what no record can hold must be refused now,
      // not at each later write.
      _ = try DomainRecord.byteCount(edits)
      isFirst = file.deferWrites(edits)
      for edit in edits { replay.edit(edit.key, edit.value, isOwn: true) }
    }
    // The last reference to the store may go before the files can be written.
    if values == .memory { keepUntilExit() }
    let directory = state.withLock { state in state.file?.directory }
    // Deferred or not, the call has not done what it promises, and says so.
    throw PreferencesError(
      notWritten: error, domain: name, directory, values: values, isRepetition: !isFirst)
  }

  /// Runs one attempt of a change under the store's lock.
  ///
  /// Whatever it makes due runs after the lock is released, from the `defer`: handlers, a
  /// compaction, and the thread that releases a kept lock.
  @inline(__always)
  private func change(_ body: (inout Replay, DomainFile?) throws -> Void) throws {
    // Decided under the lock, done without it.
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
      // While another process is to get the lock, the journal throws `.busy` instead of sleeping
      // under the store's lock.
      file?.journal.leavesLock = true
      defer {
        if let file {
          file.journal.leavesLock = false
          if file.hasNewJournal { state.useJournal(of: file) }
          // Taken under the lock, so that one caller alone starts the thread.
          if file.compaction.phase == .due {
            file.compaction.phase = .running(generation: forkGeneration)
            isCompactionDue = true
          }
          if file.hasNewlyKeptLock {
            // Later writes find that the thread is on its way, and start no second one.
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

/// Decides how long a call goes on asking for the journal's lock.
///
/// A holder that writes nothing for ``limit`` counts as stopped. While the journal's tail moves,
/// none is stopped: on a busy machine other processes may get the lock first many times, since
/// `flock` has no queue. So each movement of the tail restarts the limit, up to ``contendedLimit``
/// in total.
struct LockDeadline {
  /// How long a call waits at most while other processes write.
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

  /// Whether to try again, given the journal's tail as of now.
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
  /// Whether a write has kept the journal's lock, and no thread of this process is going to release
  /// it.
  @inline(__always)
  var hasNewlyKeptLock: Bool {
    journal.keepsLock && lockReleaseGeneration != forkGeneration
  }
}

extension DomainStore {
  /// Starts the thread that releases a kept lock when writing stops.
  ///
  /// Keeping the lock saves two system calls a write. One thread serves some hundred writes or
  /// more, and costs 30 us. It checks every ``Journal/idleLockLimit``, and ends with the writes.
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

  /// Releases the lock if nothing was written lately or another process wants it; nil once the
  /// thread can end.
  private func releaseIdleLock() -> Journal.IdleLockWait? {
    let (wait, hasPendingEvents) = state.withLock { state -> (Journal.IdleLockWait?, Bool) in
      guard let file = state.file else { return (nil, false) }
      // nil once nothing was kept for a while.
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
