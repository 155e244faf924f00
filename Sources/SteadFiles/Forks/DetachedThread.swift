import Foundation

/// A thread that nobody waits for, and that works in the child of a fork, too, as Dispatch does not.
package enum DetachedThread {
  #if canImport(Darwin)
    /// Runs `body` beside the caller.
    package static func start(_ body: @escaping @Sendable () -> Void) throws {
      Thread.detachNewThread(body)
    }
  #else
    private final class Work {
      let body: @Sendable () -> Void
      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` beside the caller, which waits until the thread is made, some 20 us.
    ///
    /// - Throws: ``FileError`` when the system has no thread left.
    package static func start(_ body: @escaping @Sendable () -> Void) throws {
      let work = Unmanaged.passRetained(Work(body))
      // A program's signal handlers are not to run on a thread that it knows nothing of.
      var all = sigset_t()
      var old = sigset_t()
      sigfillset(&all)
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
        throw FileError(errno: number, doing: "start a thread for it", path: "")
      }
      pthread_detach(thread)
    }
  #endif
}
