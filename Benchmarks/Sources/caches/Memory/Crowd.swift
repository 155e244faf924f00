import BenchmarkHarness
import Foundation
import Synchronization

/// Threads that do the same work at the same time.
///
/// They work for a set time rather than for a set number of calls: a few calls would be done before the next thread
/// has begun, and locks that collapse when many want them would need minutes for more.
enum Crowd {
  private static let seconds = 0.2

  /// The nanoseconds of one call, of all threads together.
  ///
  /// - Parameter body: A few calls; returns how many.
  static func timeOfCall(threads count: Int, _ body: @escaping @Sendable (Int) -> Int) -> Double {
    let (ready, end) = (DispatchGroup(), DispatchGroup())
    let start = DispatchSemaphore(value: 0)
    let work = CrowdWork()
    for thread in 0..<count {
      ready.enter()
      end.enter()
      Thread.detachNewThread {
        ready.leave()
        start.wait()
        var calls = 0
        while !work.isOver.load(ordering: .relaxed) { calls += body(thread) }
        work.calls.add(calls, ordering: .relaxed)
        end.leave()
      }
    }
    ready.wait()
    let time = timed {
      for _ in 0..<count { start.signal() }
      // How long the threads work: what they have done by then is the figure.
      Thread.sleep(forTimeInterval: seconds)
      work.isOver.store(true, ordering: .relaxed)
      end.wait()
    }
    return time / Double(max(work.calls.load(ordering: .relaxed), 1))
  }
}

/// What the threads share.
private final class CrowdWork: Sendable {
  let isOver = Atomic(false)
  let calls = Atomic(0)
}
