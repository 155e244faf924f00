#if STEAD_THREAD_SANITIZER
  import Foundation

  // The thread sanitizer knows pthread's locks, but not the futex calls by which Synchronization's Mutex
  // waits on Linux, and reports races that are none. `Scripts/sanitize` builds with this one instead,
  // which takes the other's place in every file of the module.
  struct Mutex<Value>: ~Copyable, @unchecked Sendable {
    // Sendable: the value is reached under the lock alone.
    private final class Box {
      var value: Value
      init(_ value: Value) { self.value = value }
    }

    private let lock = NSLock()
    private let box: Box

    init(_ value: Value) { box = Box(value) }

    borrowing func withLock<Result>(
      _ body: (inout Value) throws -> Result
    ) rethrows -> Result {
      lock.lock()
      defer { lock.unlock() }
      return try body(&box.value)
    }

    borrowing func withLockIfAvailable<Result>(
      _ body: (inout Value) throws -> Result
    ) rethrows -> Result? {
      guard lock.try() else { return nil }
      defer { lock.unlock() }
      return try body(&box.value)
    }
  }
#endif
