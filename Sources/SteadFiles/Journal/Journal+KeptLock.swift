import CSteadFiles
import Foundation

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
    hasInsisted = true
    return LockWait(word: word)
  }

  /// Takes back a request, once the owner has got the lock or waits no longer.
  package func withdrawRequest() {
    guard hasInsisted else { return }
    stead_admit_bus_errors()
    hasInsisted = false
    guard file.isWritable, !file.isInherited, file.byteCount > JournalLayout.keptLock else {
      return
    }
    stead_kept_withdraw(file.base + JournalLayout.keptLock)
  }

  /// The longest time, in milliseconds, for which the lock is left to others.
  static let leaveLimit: UInt64 = 5

  // Sendable: the pointer is never dereferenced here. Only the system looks at it, and reports an unmapped address.
  /// Waits until another process has had the lock that was left to it.
  package struct LeftLockWait: @unchecked Sendable {
    fileprivate let word: UnsafeRawPointer

    /// Returns after some milliseconds at most.
    package func wait() { stead_kept_leave(word) }
  }

  /// nil unless the lock was last refused because it is left to other processes.
  ///
  /// That it is not left any more by now makes no difference: nobody has tried since whether it is free.
  package var leftLockWait: LeftLockWait? {
    guard isLockLeft, !file.isBlank, !file.isInherited else { return nil }
    return LeftLockWait(word: file.base + JournalLayout.keptLock)
  }

  private var isLeavingLock: Bool {
    !file.isBlank && !file.isInherited && stead_clock() < lockLeftUntil
      && file.word(at: JournalLayout.keptLock) == UInt64(STEAD_LOCK_YIELDED)
  }

  /// Ends the time for which the lock is left to others, waiting for its end.
  ///
  /// - Throws: ``FileError`` `.busy` instead of a wait if the owner waits elsewhere.
  func retakeLock() throws {
    if isLeavingLock {
      if leavesLock { throw busy }
      stead_kept_leave(file.base + JournalLayout.keptLock)
    }
    isLockLeft = false
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
      callsLeft -= 1
      return isIdle || callsLeft <= 0 ? nil : IdleLockWait(word: nil)
    }
    callsLeft = Self.callsWithoutLock
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
    keeping.meetOthers()
    let isWanted = file.word(at: JournalLayout.keptLock) == UInt64(STEAD_LOCK_WANTED)
    unlockFile()
    guard isWanted else { return }
    file.setWord(UInt64(STEAD_LOCK_WANTED), at: JournalLayout.keptLock)
    yieldLock()
  }

  /// Starts or stops keeping the lock. Requires the lock, which it does not free.
  func decideOnKeeping() {
    guard mayKeepLock else { return }
    let isKept = file.keepsLock
    let keeps = keeping.keeps(at: stead_clock(), isKept: isKept)
    guard keeps != isKept else { return }
    (idlePosition, callsLeft) = (0, Self.callsWithoutLock)
    file.setKeepsLock(keeps)
  }
}
