import CSteadFiles
import Foundation

// The lock may be kept from one write to the next. Documentation/JournalFile.md says why nobody waits longer
// for it than a moment.
extension Journal {
  /// How long the lock is kept when nothing is written any more, and twice as long at most.
  package static let idleLockLimit = Duration.milliseconds(2)
  /// How often in a row ``freeIdleLock()`` finds nothing kept before it needs no further call.
  private static let callsWithoutLock = 2

  // Sendable: the pointer is never followed here. The system alone looks at it, and says so if the place is gone.
  /// What there is to wait for before ``Journal/freeIdleLock()`` is called again.
  package struct IdleLockWait: @unchecked Sendable {
    fileprivate let word: UnsafeRawPointer?

    /// Returns when another process wants the lock, or after ``Journal/idleLockLimit``.
    package func wait() {
      let limit = Journal.idleLockLimit.wholeMicroseconds
      // Without a word nobody can announce anything, so only the time can pass.
      if let word { stead_kept_wait(word, limit) } else { usleep(useconds_t(limit)) }
    }
  }

  /// Whether the lock is kept from the last write to the next one.
  @inlinable @inline(__always)
  package var keepsLock: Bool { file.keepsLock }

  /// Frees a lock that is kept, if another process wants it or nothing was written since the last call.
  ///
  /// - Returns: nil when it need not be called again, unless a later write keeps the lock.
  package func freeIdleLock() -> IdleLockWait? {
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

  /// Frees a lock that is kept, since another process wants it or nobody can call ``freeIdleLock()``. It is
  /// not kept again soon.
  @usableFromInline
  package func freeKeptLock() {
    guard file.keepsLock else { return }
    keeping.meetOthers()
    unlockFile()
  }

  /// Begins or ends to keep the lock. Only with the lock, which it does not free.
  func decideOnKeeping() {
    guard mayKeepLock else { return }
    let isKept = file.keepsLock
    let keeps = keeping.keeps(at: stead_clock(), isKept: isKept)
    guard keeps != isKept else { return }
    (idlePosition, callsLeft) = (0, Self.callsWithoutLock)
    file.setKeepsLock(keeps)
  }
}
