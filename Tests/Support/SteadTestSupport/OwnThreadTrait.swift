import Dispatch
import Testing

/// Runs tests on a thread of their own, one after another, instead of on Swift's cooperative pool.
///
/// The pool has a thread for each core. Two synchronous tests that compute or wait for seconds hold all of
/// it on two cores, and asynchronous tests then see timeouts that have nothing to do with what they test. Mark
/// with it each synchronous test that takes more than a second:
///
/// ```swift
/// @Suite(.ownThread) struct RobustnessTests {
/// ```
package struct OwnThread: TestTrait, SuiteTrait, TestScoping {
  package var isRecursive: Bool { true }

  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    guard testCase != nil else { return try await function() }
    try await withTaskExecutorPreference(SerialThreadExecutor.shared) { try await function() }
  }
}

extension Trait where Self == OwnThread {
  package static var ownThread: Self { OwnThread() }
}

/// A serial dispatch queue brings threads of its own: it targets an overcommitting queue, whose threads don't
/// count as those of the cooperative pool.
private final class SerialThreadExecutor: TaskExecutor {
  static let shared = SerialThreadExecutor()

  private let queue = DispatchQueue(label: "tests with a thread of their own")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
