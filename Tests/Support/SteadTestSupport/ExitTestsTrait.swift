import Foundation
import Testing

/// Runs a test that has exit tests outside Swift's cooperative pool.
///
/// One thread of Swift Testing (6.3) waits for the ends of all child processes. It is told of a child after that was
/// started, by a job of the pool. While a child has ended and the thread has not been told of it, the thread asks the
/// system in a loop. Behind hundreds of synchronous tests, which the pool runs first, it took a core for minutes.
///
/// ```swift
/// @Test(.exitTests) func `the lock ends with its process`() async throws {
///   await #expect(processExitsWith: .success) { … }
/// ```
package struct ExitTests: TestTrait, TestScoping {
  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(ThreadExecutor.shared) { try await function() }
  }
}

extension Trait where Self == ExitTests {
  package static var exitTests: Self { ExitTests() }
}

/// Runs each job in a thread of its own, so that a test may block in one until a child that another one starts has
/// done something.
private final class ThreadExecutor: TaskExecutor {
  static let shared = ThreadExecutor()

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    Thread.detachNewThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
