import Foundation
import SteadFiles

/// Holds one core for a process, and creates a new one in the child of a fork.
///
/// The parent's lock may have been held by a thread that the child lacks.
final class HistoryCores: Sendable {
  private struct Current: Sendable {
    var generation: UInt64
    var core: HistoryCore
  }

  private let state = ForkSafeLock(Current(generation: forkGeneration, core: HistoryCore()))

  var current: HistoryCore {
    let generation = forkGeneration
    // The old one holds payloads, which are released once the lock is free.
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
