#if !canImport(Darwin)
  import Testing
  import os

  @Suite struct UnfairLockTests {
    @Test func `one thread at a time holds the lock of the C library's name`() async {
      let lock = os_unfair_lock_t.allocate(capacity: 1)
      lock.initialize(to: os_unfair_lock())
      defer { lock.deallocate() }
      // Safe: the count is touched with the lock alone, and both live until all tasks have ended.
      nonisolated(unsafe) let (shared, count) = (
        lock, UnsafeMutablePointer<Int>.allocate(capacity: 1)
      )
      count.initialize(to: 0)
      defer { count.deallocate() }
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<8 {
          group.addTask {
            for _ in 0..<1000 {
              os_unfair_lock_lock(shared)
              count.pointee += 1
              os_unfair_lock_unlock(shared)
            }
          }
        }
      }
      #expect(count.pointee == 8000)
      #expect(os_unfair_lock_trylock(lock))
      #expect(!os_unfair_lock_trylock(lock))
      os_unfair_lock_unlock(lock)
    }
  }
#endif
