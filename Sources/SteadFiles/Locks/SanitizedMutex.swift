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
