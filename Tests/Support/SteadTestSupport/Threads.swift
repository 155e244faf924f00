import Foundation
import Synchronization

/// Runs `body` in threads of its own, as many as are asked for, and waits for all of them.
///
/// All start together. What one throws, the first of them, is thrown here.
package func inThreads(
  _ count: Int, _ body: @escaping @Sendable (_ thread: Int) throws -> Void
) throws {
  let start = DispatchSemaphore(value: 0)
  let end = DispatchGroup()
  let failure = FirstFailure()
  for thread in 0..<count {
    end.enter()
    let worker = Thread {
      start.wait()
      do { try body(thread) } catch { failure.note(error) }
      end.leave()
    }
    // As much as the main thread has.
    worker.stackSize = 8 << 20
    worker.start()
  }
  for _ in 0..<count { start.signal() }
  end.wait()
  try failure.check()
}

private final class FirstFailure: Sendable {
  private let error = Mutex<(any Error)?>(nil)

  func note(_ new: any Error) { error.withLock { $0 = $0 ?? new } }
  func check() throws { if let error = error.withLock({ $0 }) { throw error } }
}
