#if STEAD_THREAD_SANITIZER
  import Foundation

  // As in the module under test, of which most files here see only what is public.
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
  }
#endif
