import Foundation
import SteadFiles

/// One and the same core in a process, and a new one in the child of a fork.
///
/// The lock of the parent's may have been held by a thread that the child does not have.
final class HistoryCores: Sendable {
  private struct Current: Sendable {
    var generation: UInt64
    var core: HistoryCore
  }

  private let state = ForkSafeLock(Current(generation: forkGeneration, core: HistoryCore()))

  var current: HistoryCore {
    let generation = forkGeneration
    // The old one holds payloads, which are let go of when the lock is free again.
    let (core, old) = state.withLock { state -> (HistoryCore, HistoryCore?) in
      if state.generation == generation { return (state.core, nil) }
      let old = state.core
      state = Current(generation: generation, core: HistoryCore())
      return (state.core, old)
    }
    withExtendedLifetime(old) {}
    return core
  }
}
