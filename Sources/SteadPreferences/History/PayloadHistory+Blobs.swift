import Foundation
import SteadFiles

extension PayloadHistory {
  /// Makes a change together with the files of its large payloads: they exist before the change, and those
  /// that nothing refers to any more are removed after it.
  func withBlobs(
    of operations: [HistoryOperation], _ body: () throws -> HistoryOutcome
  ) throws -> HistoryOutcome {
    let drafts = operations.flatMap(\.drafts).filter { $0.blob != nil }
    guard let blobs = coder.blobs, !drafts.isEmpty else {
      let outcome = try body()
      if let blobs = coder.blobs, !outcome.released.isEmpty {
        reporting { try blobs.withLock { remove(outcome.released, from: blobs) } }
      }
      return outcome
    }
    return try blobs.withLock {
      do {
        for draft in drafts {
          if let blob = draft.blob { try blobs.write(blob) }
        }
        let outcome = try body()
        remove(outcome.released, from: blobs)
        return outcome
      } catch {
        remove(drafts.compactMap(\.stored.reference), from: blobs)
        throw error
      }
    }
  }

  /// Removes blobs that no entry refers to now. Requires the blobs' lock.
  ///
  /// The change itself is done: a failure here is reported, and left for the next opening.
  private func remove(_ references: [String], from blobs: HistoryBlobs) {
    reporting {
      let core = cores.current
      catchUp(core)
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
    reporting {
      try blobs.withLock {
        catchUp(core)
        try blobs.sweep(keeping: core.withLock { $0.table.allReferences })
      }
    }
  }

  private func reporting(_ body: () throws -> Void) {
    do {
      try body()
    } catch {
      problems.add(PreferencesError(error, domain: preferences.domain, key: key))
      problems.report()
    }
  }
}
