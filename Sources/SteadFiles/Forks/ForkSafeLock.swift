import CSteadFiles

/// A mutex that the child of a fork finds free, and what it protects whole.
///
/// `Mutex` belongs to a thread, which the child does not have. Before a fork all locks of this kind are
/// taken, so one must never be held while another is taken.
// Usable from inline, or the package's other modules would call `withLock` instead of inlining it.
// Sendable: `state` is touched between acquire and release alone, so never by two threads at once.
@usableFromInline
package final class ForkSafeLock<State>: @unchecked Sendable {
  // The lock makes accesses follow one another, so they need no check of their own.
  @usableFromInline let lock: OpaquePointer
  @usableFromInline @exclusivity(unchecked) var state: State

  package init(_ state: State) {
    lock = stead_lock_create()
    self.state = state
  }

  deinit { stead_lock_destroy(lock) }

  /// Calls `body` with the state while no other thread does.
  @inlinable @inline(__always)
  package func withLock<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    stead_lock_acquire(lock)
    defer { stead_lock_release(lock) }
    return try body(&state)
  }
}

/// A number that is another one in the child of a fork than in its parent.
package var forkGeneration: UInt64 { stead_fork_generation() }
