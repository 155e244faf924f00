import Foundation
import SteadFiles

extension DomainFile {
  /// Whether a write has kept the journal's lock, and no thread sees to it yet.
  @inline(__always)
  var hasNewlyKeptLock: Bool {
    journal.keepsLock && lockFreeingGeneration != forkGeneration
  }
}

extension DomainStore {
  /// Begins to free the lock that a write has kept once nothing is written any more.
  ///
  /// A thread for some hundred writes or more, which costs 30 us. While it is under way it looks every
  /// ``Journal/idleLockLimit``, and it ends with the writes.
  @inline(never)
  func freeLockLater() {
    do {
      // Not for the thread's sake should a domain stay open.
      try DetachedThread.start { [weak self] in
        while let wait = self?.freeIdleLock() { wait.wait() }
      }
    } catch {
      state.withLock { state in
        state.file?.journal.freeKeptLock()
        state.file?.lockFreeingGeneration = nil
      }
    }
  }

  private func freeIdleLock() -> Journal.IdleLockWait? {
    state.withLock { state in
      guard let file = state.file else { return nil }
      let wait = file.journal.freeIdleLock()
      if wait == nil { file.lockFreeingGeneration = nil }
      return wait
    }
  }
}
