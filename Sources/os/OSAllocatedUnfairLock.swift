#if !canImport(Darwin)
  public import Foundation
  @_exported public import OSLog

  /// A lock with the value that it guards, in separately allocated memory.
  ///
  /// ```swift
  /// let count = OSAllocatedUnfairLock(initialState: 0)
  /// count.withLock { $0 += 1 }
  /// ```
  ///
  /// Copies are the same lock. Taking a free one costs some 50 ns. Taking it again on the thread that holds
  /// it, or releasing it on another thread, is a programmer error and stops the program, as on Apple's
  /// systems. If the lock need not be copied, prefer `Mutex` from the standard library's Synchronization
  /// module.
  ///
  /// Unchecked, since the state need not be Sendable: it is accessed only while the lock is held, and the
  /// names of the initializers that accept such a state say so.
  public struct OSAllocatedUnfairLock<State>: @unchecked Sendable {
    /// Shared by all copies: it has the lock and the state.
    private let storage: Storage

    /// A lock around a non-Sendable state; the caller makes sure that nobody else has access to it.
    public init(uncheckedState initialState: State) { storage = Storage(initialState) }

    /// A lock around a state.
    public init(initialState: State) where State: Sendable { storage = Storage(initialState) }

    /// A lock around nothing.
    public init() where State == Void { storage = Storage(()) }

    /// Runs `body` with the state while no other thread has access to it.
    /// The lock is released in any case, also if `body` throws.
    public func withLock<Result: Sendable>(
      _ body: @Sendable (inout State) throws -> Result
    ) rethrows -> Result {
      try withLockUnchecked(body)
    }

    /// Runs `body` with the state while no other thread has access to it; the result isn't checked.
    public func withLockUnchecked<Result>(
      _ body: (inout State) throws -> Result
    ) rethrows -> Result {
      storage.lock()
      defer { storage.unlock() }
      return try body(&storage.state)
    }

    /// Runs `body` with the state, or returns nil immediately when another thread holds the lock.
    public func withLockIfAvailable<Result: Sendable>(
      _ body: @Sendable (inout State) throws -> Result
    ) rethrows -> Result? {
      try withLockIfAvailableUnchecked(body)
    }

    /// Runs `body` with the state, or returns nil immediately; the result isn't checked.
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

    /// Takes the lock, waiting for it; not across an `await`, which may resume on another thread.
    @available(*, noasync, message: "Use withLock(_:), since a task may resume on another thread.")
    public func lock() where State == Void { storage.lock() }

    /// Releases the lock.
    @available(*, noasync, message: "Use withLock(_:), since a task may resume on another thread.")
    public func unlock() where State == Void { storage.unlock() }

    /// Takes the lock if it is free, and returns whether it did.
    @available(
      *, noasync, message: "Use withLockIfAvailable(_:), since a task may resume on another thread."
    )
    public func lockIfAvailable() -> Bool where State == Void { storage.tryLock() }
  }

  extension OSAllocatedUnfairLock {
    /// The memory of a lock and its state.
    ///
    /// Invariant: the state is accessed only while the mutex is held.
    private final class Storage {
      var state: State
      /// Allocated separately because its address must not change, as a stored property's can.
      private let mutex: UnsafeMutablePointer<pthread_mutex_t>

      init(_ state: State) {
        self.state = state
        mutex = .allocate(capacity: 1)
        var attributes = pthread_mutexattr_t()
        pthread_mutexattr_init(&attributes)
        // An error-checking mutex detects its own thread, where a plain one would wait forever.
        pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ERRORCHECK))
        pthread_mutex_init(mutex, &attributes)
        pthread_mutexattr_destroy(&attributes)
      }

      // The last copy is gone, so no thread can hold the lock or wait for it.
      deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
      }

      /// Takes the mutex. A trap is better than the endless wait that a second lock on one thread
      /// would be.
      func lock() {
        let result = pthread_mutex_lock(mutex)
        // EDEADLK, the only error that a mutex of this kind returns here.
        precondition(result == 0, "This thread already holds the lock.")
      }

      /// Releases the mutex. Another thread's would stay held, so this traps.
      func unlock() {
        let result = pthread_mutex_unlock(mutex)
        precondition(result == 0, "This thread does not hold the lock.")
      }

      // Also on the thread that holds it this returns false, since POSIX has EBUSY for that and not
      // EDEADLK.
      func tryLock() -> Bool { pthread_mutex_trylock(mutex) == 0 }
    }
  }

  // Packages lock with these wherever they can import a module `os`, among them swift-argument-parser, and the package
  // manager shows this module to every package of a build. None of them is linked with it. So the types are those of
  // the C library, and the functions are compiled into their callers.

  /// The lock of Apple's C library, as a mutex of POSIX. All zeros is a free lock.
  ///
  /// It must not be copied or moved once it has been used, so it belongs into memory of its own. A thread that takes it twice
  /// waits forever, where Apple's systems stop the program; ``OSAllocatedUnfairLock`` stops it everywhere.
  public typealias os_unfair_lock = pthread_mutex_t
  /// The same as ``os_unfair_lock``.
  public typealias os_unfair_lock_s = pthread_mutex_t
  /// The address of a lock.
  public typealias os_unfair_lock_t = UnsafeMutablePointer<os_unfair_lock>

  /// Takes a lock, waiting for it.
  @_alwaysEmitIntoClient public func os_unfair_lock_lock(_ lock: os_unfair_lock_t) {
    pthread_mutex_lock(lock)
  }

  /// Takes a lock if it is free, and returns whether it did.
  @_alwaysEmitIntoClient public func os_unfair_lock_trylock(_ lock: os_unfair_lock_t) -> Bool {
    pthread_mutex_trylock(lock) == 0
  }

  /// Releases a lock that this thread holds.
  @_alwaysEmitIntoClient public func os_unfair_lock_unlock(_ lock: os_unfair_lock_t) {
    pthread_mutex_unlock(lock)
  }
#endif
