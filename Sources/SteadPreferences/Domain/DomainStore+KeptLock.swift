import Foundation
import SteadFiles

extension DomainFile {
  /// Whether a write has kept the journal's lock, and no thread takes care of it yet.
  @inline(__always)
  var hasNewlyKeptLock: Bool {
    journal.keepsLock && lockFreeingGeneration != forkGeneration
  }
}

extension DomainStore {
  /// Starts a thread that frees a kept lock once writing has stopped.
  ///
  /// One thread serves some hundred writes or more, and costs 30 us. While it runs it checks every
  /// ``Journal/idleLockLimit``, and it ends with the writes.
  @inline(never)
  func freeLockLater() {
    do {
      // The thread alone must not keep a domain open.
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
    let (wait, hasMail) = state.withLock { state -> (Journal.IdleLockWait?, Bool) in
      guard let file = state.file else { return (nil, false) }
      let wait = file.journal.freeIdleLock()
      if wait == nil { file.lockFreeingGeneration = nil }
      // Restored at once, since the program may set nothing more, and end.
      guard !file.isReadOnly, !file.journal.isInPlace else { return (wait, false) }
      let hasMail = state.reporting(file) { replay in
        try file.look(&replay)
        try file.payDebts(&replay)
      }
      return (wait, hasMail)
    }
    if hasMail { deliverLater() }
    return wait
  }
}
