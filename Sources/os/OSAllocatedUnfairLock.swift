#if !canImport(Darwin)
  import Foundation
  @_exported public import OSLog

  /// A lock with the value that it guards, in memory of its own.
  ///
  /// ```swift
  /// let count = OSAllocatedUnfairLock(initialState: 0)
  /// count.withLock { $0 += 1 }
  /// ```
  ///
  /// Copies are the same lock. Taking one that nobody holds costs some 50 ns. To take it again on the
  /// thread that holds it, or to let it go on another, is a programmer's error and stops the program,
  /// as it does on Apple's systems. For a lock that need not be copied, `Mutex` of the standard
  /// library's Synchronization is the better choice.
  ///
  /// Unchecked, since the state need not be Sendable: it is reached only while the lock is held, and
  /// the initializers that take such a state say so in their name.
  public struct OSAllocatedUnfairLock<State>: @unchecked Sendable {
    private let storage: Storage

    /// A lock around a state that is not Sendable; the caller sees to it that nobody else has it.
    public init(uncheckedState initialState: State) { storage = Storage(initialState) }

    /// A lock around a state.
    public init(initialState: State) where State: Sendable { storage = Storage(initialState) }

    /// A lock around nothing.
    public init() where State == Void { storage = Storage(()) }

    /// Runs `body` with the state while no other thread has it.
    public func withLock<Result: Sendable>(
      _ body: @Sendable (inout State) throws -> Result
    ) rethrows -> Result {
      try withLockUnchecked(body)
    }

    /// Runs `body` with the state while no other thread has it; what leaves is not checked.
    public func withLockUnchecked<Result>(
      _ body: (inout State) throws -> Result
    ) rethrows -> Result {
      storage.lock()
      defer { storage.unlock() }
      return try body(&storage.state)
    }

    /// Runs `body` with the state, or returns nil at once when another thread has it.
    public func withLockIfAvailable<Result: Sendable>(
      _ body: @Sendable (inout State) throws -> Result
    ) rethrows -> Result? {
      try withLockIfAvailableUnchecked(body)
    }

    /// Runs `body` with the state, or returns nil at once; what leaves is not checked.
    public func withLockIfAvailableUnchecked<Result>(
      _ body: (inout State) throws -> Result
    ) rethrows -> Result? {
      guard storage.tryLock() else { return nil }
      defer { storage.unlock() }
      return try body(&storage.state)
    }

    /// Runs `body` while no other thread holds the lock.
    public func withLock<Result: Sendable>(
      _ body: @Sendable () throws -> Result
    ) rethrows -> Result where State == Void {
      try withLockUnchecked { _ in try body() }
    }

    /// Takes the lock, waiting for it; not across an `await`, which may end on another thread.
    @available(*, noasync, message: "Use withLock(_:), since a task may change its thread.")
    public func lock() where State == Void { storage.lock() }

    /// Lets the lock go.
    @available(*, noasync, message: "Use withLock(_:), since a task may change its thread.")
    public func unlock() where State == Void { storage.unlock() }

    /// Takes the lock if nobody holds it, and says whether it did.
    @available(
      *, noasync, message: "Use withLockIfAvailable(_:), since a task may change its thread."
    )
    public func lockIfAvailable() -> Bool where State == Void { storage.tryLock() }
  }

  extension OSAllocatedUnfairLock {
    private final class Storage {
      var state: State
      /// In memory that does not move, which a stored property need not be.
      private let mutex: UnsafeMutablePointer<pthread_mutex_t>

      init(_ state: State) {
        self.state = state
        mutex = .allocate(capacity: 1)
        var attributes = pthread_mutexattr_t()
        pthread_mutexattr_init(&attributes)
        // The kind that notices its own thread, where the plain one would wait for ever.
        pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ERRORCHECK))
        pthread_mutex_init(mutex, &attributes)
        pthread_mutexattr_destroy(&attributes)
      }

      deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
      }

      func lock() {
        let result = pthread_mutex_lock(mutex)
        precondition(result == 0, "The lock is held by this thread already.")
      }

      func unlock() {
        let result = pthread_mutex_unlock(mutex)
        precondition(result == 0, "The lock is not held by this thread.")
      }

      func tryLock() -> Bool { pthread_mutex_trylock(mutex) == 0 }
    }
  }
#endif
