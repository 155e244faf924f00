import CSteadFiles
import Foundation

extension Journal {
  /// How long a call waits for another process that has the file locked, unless ``lockWait`` is less.
  package static let lockWaitLimit = Duration.seconds(1)

  /// Locks the open file, waiting no longer than ``lockWait``. Does nothing if the lock is kept from the last write.
  ///
  /// The lock is an exclusive `flock`, which belongs to the open file description: it ends with the process, however that
  /// ends, and also excludes other journals of this process for the same file.
  func lockFile() throws {
    if file.keepsLock { return }
    var error = stead_file_try_lock(file.descriptor)
    if error == EWOULDBLOCK {
      lockRetention.recordContention()
      error = stead_file_lock_within(
        file.descriptor, lockWait.wholeMicroseconds, file.base + JournalLayout.keptLock)
    }
    if error == EWOULDBLOCK { throw busy }
    guard error == 0 else { throw FileError(errno: error, doing: "lock the file", path: path) }
  }

  /// Locks a file that was just opened; returns the number of an error, or 0.
  func lock(_ descriptor: Int32) -> Int32 {
    let error = stead_file_try_lock(descriptor)
    guard error == EWOULDBLOCK else { return error }
    // A holder that keeps the lock between two writes is asked for it, through a word that only a journal has. Any other file must
    // not be written.
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

  /// Frees the lock, kept or not, without yielding it: this process may take it again at any time.
  @usableFromInline
  func unlockFile() {
    // While the lock is still held: afterwards the word may be another process's, which keeps the lock.
    if file.keepsLock { file.setKeepsLock(false) }
    _ = stead_file_unlock(file.descriptor)
    guard file.byteCount > JournalLayout.keptLock, file.word(at: JournalLayout.keptLock) != 0
    else { return }
    // A process that has yielded the lock waits until another one has had it.
    stead_kept_pass(file.base + JournalLayout.keptLock)
  }

  /// Yields the lock, which this process has just freed, to those that wait; or ends the wait of the process that has
  /// yielded it to this one.
  ///
  /// `flock` is not fair: a process that writes without a pause would take the lock again before a waiting one has
  /// woken. So the next write waits until the word has changed, for ``yieldLimit`` at most (``endLockYield()``).
  @usableFromInline
  func yieldLock() {
    // Withdrawn first, so that this process doesn't yield to itself.
    withdrawRequest()
    lockRetention.recordContention()
    guard stead_kept_settle(file.base + JournalLayout.keptLock) != 0 else { return }
    isLockYielded = true
    lockYieldedUntil = stead_clock() &+ Self.yieldLimit
  }

  var busy: FileError {
    FileError(
      code: .busy,
      message:
        "Another process has locked the journal. Resume that process if it was stopped, or end it.",
      path: path)
  }
}

// MARK: - A lock that is kept between writes

// The lock may be kept from one write to the next. Documentation/JournalFile.md explains why nobody waits
// longer than a moment for it.
extension Journal {
  /// How long the lock is kept after the last write; twice as long at most.
  package static let idleLockLimit = Duration.milliseconds(2)
  /// After this many consecutive calls in which ``freeIdleLock()`` finds nothing kept, it needs no further call.
  private static let callsWithoutLock = 2

  // Sendable: the pointer is never dereferenced here. Only the system looks at it, and reports an unmapped address.
  /// Waits until ``Journal/freeIdleLock()`` has to be called again.
  package struct IdleLockWait: @unchecked Sendable {
    fileprivate let word: UnsafeRawPointer?

    /// Returns when another process wants the lock, or after ``Journal/idleLockLimit``.
    package func wait() {
      let limit = Journal.idleLockLimit.wholeMicroseconds
      // Without a word nobody can announce anything, so it waits for the time to pass.
      if let word { stead_kept_wait(word, limit) } else { usleep(useconds_t(limit)) }
    }
  }

  // Sendable: the pointer is never dereferenced here. Only the system looks at it, and reports an unmapped address.
  /// Waits until another process yields the lock.
  package struct LockWait: @unchecked Sendable {
    fileprivate let word: UnsafeRawPointer?

    /// Returns when the lock is yielded, or after some microseconds.
    package func wait(atMost microseconds: Int64) {
      // Without a word that processes share, nothing tells when the lock is free.
      if let word { stead_kept_await(word, microseconds) } else { usleep(useconds_t(microseconds)) }
    }
  }

  /// Asks the process that has the lock to yield it after its next write, for an owner that has waited in vain and
  /// will try again after the wait that is returned.
  package func insistOnLock() -> LockWait {
    stead_admit_bus_errors()
    guard file.isWritable, !file.isInherited, !file.keepsLock,
      file.byteCount > JournalLayout.keptLock
    else { return LockWait(word: nil) }
    let word = file.base + JournalLayout.keptLock
    stead_kept_insist(word)
    hasRequestedLock = true
    return LockWait(word: word)
  }

  /// Takes back a request, once the owner has got the lock or waits no longer.
  package func withdrawRequest() {
    guard hasRequestedLock else { return }
    stead_admit_bus_errors()
    hasRequestedLock = false
    guard file.isWritable, !file.isInherited, file.byteCount > JournalLayout.keptLock else {
      return
    }
    stead_kept_withdraw(file.base + JournalLayout.keptLock)
  }

  /// The longest time, in milliseconds, for which the lock is yielded: the process that asked for it may have been stopped.
  static let yieldLimit: UInt64 = 5

  // Sendable: the pointer is never dereferenced here. Only the system looks at it, and reports an unmapped address.
  /// Waits until another process has had the lock that was left to it.
  package struct LeftLockWait: @unchecked Sendable {
    fileprivate let word: UnsafeRawPointer

    /// Returns after some milliseconds at most.
    package func wait() { stead_kept_leave(word) }
  }

  /// The wait for a lock that this process has yielded to others; nil when no yield is pending.
  ///
  /// The yield may be over by now. Then the wait returns at once, and the next attempt finds out whether the lock is
  /// free.
  package var leftLockWait: LeftLockWait? {
    guard isLockYielded, !file.isBlank, !file.isInherited else { return nil }
    return LeftLockWait(word: file.base + JournalLayout.keptLock)
  }

  private var isYieldingLock: Bool {
    !file.isBlank && !file.isInherited && stead_clock() < lockYieldedUntil
      && file.word(at: JournalLayout.keptLock) == UInt64(STEAD_LOCK_YIELDED)
  }

  /// Waits until another process has had the yielded lock, or the time is over, and ends the yield.
  ///
  /// - Throws: ``FileError`` `.busy` instead of a wait if the owner waits elsewhere.
  func endLockYield() throws {
    if isYieldingLock {
      if leavesLock { throw busy }
      stead_kept_leave(file.base + JournalLayout.keptLock)
    }
    isLockYielded = false
    guard !file.isBlank, !file.isInherited else { return }
    stead_kept_retake(file.base + JournalLayout.keptLock)
  }

  /// Whether the lock is kept from the last write to the next one.
  @inlinable @inline(__always)
  package var keepsLock: Bool { file.keepsLock }

  /// Frees a kept lock if another process wants it or nothing was written since the last call.
  ///
  /// - Returns: nil when it need not be called again, unless a later write keeps the lock.
  package func freeIdleLock() -> IdleLockWait? {
    stead_admit_bus_errors()
    let isIdle = idlePosition == position
    idlePosition = position
    guard file.keepsLock else {
      // Nothing is kept at this moment, but writes go on and may keep it again. The owner would have to start another
      // thread for that.
      idleCallsLeft -= 1
      return isIdle || idleCallsLeft <= 0 ? nil : IdleLockWait(word: nil)
    }
    idleCallsLeft = Self.callsWithoutLock
    if file.word(at: JournalLayout.keptLock) != UInt64(STEAD_LOCK_KEPT) {
      freeKeptLock()
      return nil
    }
    guard !isIdle else {
      unlockFile()
      return nil
    }
    return IdleLockWait(word: file.base + JournalLayout.keptLock)
  }

  /// Frees a kept lock because another process wants it or nobody can call ``freeIdleLock()``. The lock is
  /// not kept again soon.
  @usableFromInline
  package func freeKeptLock() {
    stead_admit_bus_errors()
    guard file.keepsLock else { return }
    lockRetention.recordContention()
    let isWanted = file.word(at: JournalLayout.keptLock) == UInt64(STEAD_LOCK_WANTED)
    unlockFile()
    guard isWanted else { return }
    // Freeing the lock has cleared the word, and with it the request, which the yield is for.
    file.setWord(UInt64(STEAD_LOCK_WANTED), at: JournalLayout.keptLock)
    yieldLock()
  }

  /// Starts or stops keeping the lock. Requires the lock, which it does not free.
  func decideOnLockRetention() {
    guard mayKeepLock else { return }
    let isKept = file.keepsLock
    let keeps = lockRetention.keeps(at: stead_clock(), isKept: isKept)
    guard keeps != isKept else { return }
    // No record ends at 0, so the next call of `freeIdleLock()` never finds it idle at once.
    (idlePosition, idleCallsLeft) = (0, Self.callsWithoutLock)
    file.setKeepsLock(keeps)
  }
}

// MARK: - Policy

/// Decides when a journal's lock is kept from one write to the next.
///
/// A free lock costs a write two system calls, three quarters of its time. Keeping it pays only while one process writes in close
/// succession: another one needs 0.05 ms to get a kept lock.
///
/// A decision is made at each revalidation, which is once in ``Journal/writesPerLook`` writes. Times are milliseconds of
/// `stead_clock()`. The value does no I/O, so tests need no clock.
struct LockRetention {
  /// Writes follow one another closely if two revalidations are at most this far apart.
  static let burstInterval: UInt64 = 8
  /// The longest time for which the lock is kept if writes never pause.
  ///
  /// Programs of a version that does not request the lock must get their turn, too.
  static let retentionLimit: UInt64 = 8
  /// The number of revalidations after that during which the lock is not kept.
  static let pausesAfterLimit = 4
  /// The number of revalidations during which the lock is not kept after another process has written or waited. That
  /// process needs 0.05 ms to request the lock, more than keeping it for some hundred writes saves.
  static let pausesAfterContention = 64

  /// The number of revalidations left before the lock may be kept again.
  private(set) var pausesLeft = 0
  private var lastDecision: UInt64?
  private var keptSince: UInt64 = 0

  /// To be called when another process has written, waits for the lock, or has made this one wait for it.
  mutating func recordContention() { pausesLeft = Self.pausesAfterContention }

  /// Decides whether to start keeping the lock, or to go on keeping it.
  mutating func keeps(at now: UInt64, isKept: Bool) -> Bool {
    defer { lastDecision = now }
    if isKept {
      guard now &- keptSince >= Self.retentionLimit else { return true }
      // Programs of a version that doesn't request the lock get it while the pauses last.
      pausesLeft = Self.pausesAfterLimit
      return false
    }
    guard let lastDecision, now &- lastDecision <= Self.burstInterval else { return false }
    if pausesLeft > 0 { pausesLeft -= 1 }
    guard pausesLeft == 0 else { return false }
    keptSince = now
    return true
  }
}
