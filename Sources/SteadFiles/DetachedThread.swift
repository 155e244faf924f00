import Foundation

/// A detached thread that, unlike Dispatch, also works in the child of a fork.
package enum DetachedThread {
  #if canImport(Darwin)
    /// Runs `body` concurrently with the caller.
    package static func start(_ body: @escaping @Sendable () -> Void) throws {
      Thread.detachNewThread(body)
    }
  #else
    private final class Work {
      let body: @Sendable () -> Void
      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` concurrently with the caller, which waits until the thread has been created, some 20 us.
    ///
    /// - Throws: ``FileError`` when the system cannot create another thread.
    package static func start(_ body: @escaping @Sendable () -> Void) throws {
      let work = Unmanaged.passRetained(Work(body))
      // A program's signal handlers must not run on a thread that it does not know. Faults of the thread itself
      // are not blocked: the system would end the program by them without calling a handler, also by the SIGBUS
      // of a file that another program has truncated.
      var all = sigset_t()
      var old = sigset_t()
      sigfillset(&all)
      for fault in [SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGSYS] { sigdelset(&all, fault) }
      pthread_sigmask(SIG_SETMASK, &all, &old)
      defer { pthread_sigmask(SIG_SETMASK, &old, nil) }
      var thread = pthread_t()
      let number = pthread_create(
        &thread, nil,
        { argument in
          guard let argument else { return nil }
          Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
          return nil
        }, work.toOpaque())
      guard number == 0 else {
        work.release()
        throw FileError(errno: number, doing: "start a thread", path: "")
      }
      pthread_detach(thread)
    }
  #endif
}
