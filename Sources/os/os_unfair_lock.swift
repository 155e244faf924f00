#if !canImport(Darwin)
  public import Foundation

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
