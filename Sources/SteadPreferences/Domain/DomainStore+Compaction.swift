import Foundation
import SteadFiles

extension DomainStore {
  /// Begins the compaction that a write found due, and keeps nobody waiting except for its last step.
  @inline(never)
  func compactLater() {
    do {
      try DetachedThread.start { self.compact() }
    } catch {
      compact()
    }
  }

  /// How long a background compaction waits for another process that has the files locked.
  private static let compactionWaitLimit = Duration.seconds(10)

  private func compact() {
    var isDue = true
    while isDue { isDue = compactOnce() }
    // Not before its last file is gone: whoever sees that none runs finds no file of one either.
    state.withLock { $0.file?.compaction = .none }
  }

  /// Compacts, and returns whether the log has become too long again through writes meanwhile.
  private func compactOnce() -> Bool {
    let place = state.withLock { state in
      state.file.map { file in (directory: file.directory, isToldOfFormat: file.isToldOfFormat) }
    }
    guard let place else { return false }
    // Any obstacle recurs in the compaction that others wait for, which reports it.
    let prepared = try? PreparedDomainCompaction(
      name, in: place.directory, options, isToldOfFormat: place.isToldOfFormat)
    let deadline = ContinuousClock.now + Self.compactionWaitLimit
    var pause: useconds_t = 20
    var result = finish(prepared, isLast: false)
    while result == .waits {
      usleep(pause)
      pause = min(pause * 2, 10_000)
      result = finish(prepared, isLast: ContinuousClock.now >= deadline)
    }
    // The old files are released with it, which takes the system longer than putting the new ones in place.
    withExtendedLifetime(prepared) {}
    return result == .isDueAgain
  }

  /// The result of an attempt to finish a compaction.
  enum FinishedCompaction { case ended, isDueAgain, waits }

  /// Never waits for other processes.
  ///
  /// - Parameter isLast: Whether to give up if it is impossible now. A later write finds it due again.
  @discardableResult
  func finish(_ prepared: PreparedDomainCompaction?, isLast: Bool) -> FinishedCompaction {
    let (result, hasMail) = state.withLock { state -> (FinishedCompaction, Bool) in
      guard let file = state.file else { return (.ended, false) }
      var result = FinishedCompaction.ended
      let hasMail = state.reporting(file) { replay in
        do {
          try file.finish(prepared, &replay)
          // An attempt that made no difference must not be repeated forever.
          if prepared?.isInJournal == true, file.isCompactionDue { result = .isDueAgain }
        } catch let error as FileError where error.code == .busy || error.code == .changed {
          guard isLast else {
            result = .waits
            return
          }
          // The journal is intact, but the property list file remains the old one.
          if prepared?.isInJournal == true { throw PreferencesError(error, domain: name) }
        }
      }
      return (result, hasMail)
    }
    if hasMail { deliver() }
    return result
  }
}
