#if !canImport(Darwin)
  import Testing
  import os

  @Suite struct OSAllocatedUnfairLockTests {
    @Test func `loses no update`() async {
      let count = OSAllocatedUnfairLock(initialState: 0)
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<8 {
          group.addTask { for _ in 0..<1000 { count.withLock { $0 += 1 } } }
        }
      }
      #expect(count.withLock { $0 } == 8000)
    }

    @Test func `says that it is held`() {
      let lock = OSAllocatedUnfairLock()
      #expect(lock.lockIfAvailable())
      #expect(!lock.lockIfAvailable())
      lock.unlock()
      #expect(lock.withLock { 1 } == 1)
      let state = OSAllocatedUnfairLock(initialState: "a")
      #expect(state.withLockIfAvailable { $0 } == "a")
      #expect(state.withLock { _ in state.withLockIfAvailable { $0 } } == nil)
    }

    @Test func `lets go when its body throws`() {
      struct Failure: Error {}
      let lock = OSAllocatedUnfairLock(initialState: 0)
      #expect(throws: Failure.self) { try lock.withLock { _ in throw Failure() } }
      #expect(lock.withLockIfAvailable { $0 } == 0)
    }

    @Test func `stops the program rather than wait for itself`() async {
      await #expect(processExitsWith: .failure) {
        let lock = OSAllocatedUnfairLock()
        lock.withLock { lock.withLock {} }
      }
    }
  }
#endif
