import CSteadFiles

/// A mutex for work of some nanoseconds, and the state that it protects, in separately allocated memory.
///
/// No user code runs while it is held, except keys' `Hashable`. Unlike `Mutex` it isn't handed from thread to thread
/// under contention, which would cost each of them a context switch.
// Sendable: the state is only touched between acquire and release, so never by two threads at once.
@usableFromInline struct ShortLock<State: ~Copyable>: ~Copyable, @unchecked Sendable {
  /// The most that a line of a processor's cache has on the systems that count; locks in one line would make
  /// their threads wait for each other.
  private static var lineSize: Int { 128 }
  /// Where the state begins, behind the lock.
  @inlinable static var stateOffset: Int { 16 }

  @usableFromInline let memory: UnsafeMutableRawPointer

  @usableFromInline init(_ state: consuming State) {
    precondition(MemoryLayout<State>.alignment <= Self.stateOffset, "no state is aligned so widely")
    memory = .allocate(
      byteCount: Self.stateOffset + MemoryLayout<State>.size, alignment: Self.lineSize)
    memory.initializeMemory(as: stead_short_lock.self, to: stead_short_lock())
    (memory + Self.stateOffset).bindMemory(to: State.self, capacity: 1).initialize(to: state)
  }

  deinit {
    (memory + Self.stateOffset).assumingMemoryBound(to: State.self).deinitialize(count: 1)
    memory.deallocate()
  }

  /// Calls `body` with the state while no other thread does.
  @inlinable @inline(__always) func withLock<Result>(_ body: (inout State) -> Result) -> Result {
    let lock = memory.assumingMemoryBound(to: stead_short_lock.self)
    stead_short_lock_acquire(lock)
    defer { stead_short_lock_release(lock) }
    return body(&(memory + Self.stateOffset).assumingMemoryBound(to: State.self).pointee)
  }
}
