import Foundation

/// Runs `body` in a thread of its own, and suspends the task until it returns.
///
/// Swift's cooperative pool has a thread for each processor. A test that computes or blocks for seconds in one of them
/// stops all other tests that are asynchronous.
package func inOwnThread<Result: Sendable>(
  _ body: @escaping @Sendable () throws -> Result
) async throws -> Result {
  try await withCheckedThrowingContinuation { continuation in
    let thread = Thread { continuation.resume(with: Swift.Result { try body() }) }
    // As much as the main thread has.
    thread.stackSize = 8 << 20
    thread.start()
  }
}
