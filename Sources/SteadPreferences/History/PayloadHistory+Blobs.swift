import Foundation
import SteadFiles

extension PayloadHistory {
  /// Makes a change together with the files of its large payloads: they exist before the change, and those
  /// that nothing refers to any more are removed after it. The caller notifies observers.
  func withBlobs(
    of operations: [HistoryOperation], _ core: HistoryCore, _ body: () throws -> HistoryOutcome
  ) throws -> HistoryOutcome {
    let drafts = operations.flatMap(\.drafts).filter { $0.blob != nil }
    guard let blobs = coder.blobs, !drafts.isEmpty else {
      let outcome = try body()
      if let blobs = coder.blobs, !outcome.released.isEmpty {
        noting { try blobs.withLock { remove(outcome.released, from: blobs, core) } }
      }
      return outcome
    }
    return try blobs.withLock {
      do {
        for draft in drafts {
          if let blob = draft.blob { try blobs.write(blob) }
        }
        let outcome = try body()
        remove(outcome.released, from: blobs, core)
        return outcome
      } catch {
        remove(drafts.compactMap(\.stored.reference), from: blobs, core)
        throw error
      }
    }
  }

  /// Removes blobs that no entry refers to now. Requires the blobs' lock.
  ///
  /// The change itself is done: a failure here is reported, and left for the next opening.
  private func remove(_ references: [String], from blobs: HistoryBlobs, _ core: HistoryCore) {
    noting {
      _ = absorb(core)
      let unused = core.withLock { state in
        Set(references).filter { !state.table.refers(to: $0) }
      }
      for reference in unused { try blobs.remove(reference) }
    }
  }

  /// Removes the leftovers of processes that were killed between writing a blob and its entry.
  func sweepBlobs() {
    guard let blobs = coder.blobs, !preferences.plan.options.isReadOnly else { return }
    let core = cores.current
    guard blobs.hasLeftovers(keeping: core.withLock { $0.table.allReferences }) else { return }
    noting {
      try blobs.withLock {
        _ = absorb(core)
        try blobs.sweep(keeping: core.withLock { $0.table.allReferences })
      }
    }
    deliver(core)
  }

  /// Keeps an error for the next report, which is made without a lock.
  private func noting(_ body: () throws -> Void) {
    do {
      try body()
    } catch {
      problems.add(PreferencesError(error, domain: preferences.domain, key: key))
    }
  }
}
