import CSteadFiles

/// A mutex that is free in the child of a fork, with its protected state intact.
///
/// The child of a fork has only the thread that called `fork`. A lock that another thread held would stay locked forever, and the
/// state that it guards could be half changed.
///
/// A `Mutex` is owned by a thread, which the child does not have. All locks of this kind are taken before a
/// fork, so one must never be held while another is taken.
// Usable from inline, or the package's other modules would call `withLock` instead of inlining it.
// Sendable: `state` is accessed only between acquire and release, so never by two threads at once.
@usableFromInline
package final class ForkSafeLock<State>: @unchecked Sendable {
  // The lock serialises accesses, so they need no exclusivity check.
  @usableFromInline let lock: OpaquePointer
  @usableFromInline @exclusivity(unchecked) var state: State

  package init(_ state: State) {
    // Enters the list of locks that a fork takes, and installs the handlers of forks if this is the first one.
    lock = stead_lock_create()
    self.state = state
  }

  deinit {
    #if STEAD_THREAD_SANITIZER
      // The sanitizer does not see that counting references orders this after every other use.
      stead_lock_acquire(lock)
      stead_lock_release(lock)
    #endif
    stead_lock_destroy(lock)
  }

  /// Calls `body` with exclusive access to the state.
  @inlinable @inline(__always)
  package func withLock<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    stead_lock_acquire(lock)
    defer { stead_lock_release(lock) }
    return try body(&state)
  }
}

/// A number that differs between a process and the child that it forked.
package var forkGeneration: UInt64 { stead_fork_generation() }

// MARK: - Builds for the thread sanitizer

#if STEAD_THREAD_SANITIZER
  import Foundation

  // Sendable: the value is accessed only under the lock.
  /// Replaces Synchronization's `Mutex` in a build for the thread sanitizer.
  ///
  /// The sanitizer knows pthread's locks, but not the futex calls by which `Mutex` waits on Linux, and
  /// reports false races. A module that declares `Mutex` as this type uses it in all of its files.
  package struct SanitizedMutex<Value>: ~Copyable, @unchecked Sendable {
    private final class Box {
      var value: Value
      init(_ value: Value) { self.value = value }
    }

    private let lock = NSLock()
    private let box: Box

    package init(_ value: Value) { box = Box(value) }

    package borrowing func withLock<Result>(
      _ body: (inout Value) throws -> Result
    ) rethrows -> Result {
      lock.lock()
      defer { lock.unlock() }
      return try body(&box.value)
    }

    package borrowing func withLockIfAvailable<Result>(
      _ body: (inout Value) throws -> Result
    ) rethrows -> Result? {
      guard lock.try() else { return nil }
      defer { lock.unlock() }
      return try body(&box.value)
    }
  }
#endif
