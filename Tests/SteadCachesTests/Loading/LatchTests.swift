import SteadTestSupport
import Testing

@testable import SteadCaches

/// An event that tasks wait for.
@Suite(.hangLimit) struct LatchTests {
  @Test func `resumes those who wait and those who come later`() async {
    let latch = Latch()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 { group.addTask { await latch.wait() } }
      await Task.yield()
      latch.open()
    }
    await latch.wait()
    latch.open()
    await latch.wait()
  }

  /// The latch is never opened: only the cancellation can end these waits.
  @Test(arguments: [true, false])
  func `a cancelled task stops waiting`(isCancelledBefore: Bool) async {
    let latch = Latch()
    let (begun, cancelled) = (Gate(), Gate())
    let task = Task {
      begun.open()
      if isCancelledBefore { await cancelled.wait() }
      await latch.wait()
      return Task.isCancelled
    }
    await begun.wait()
    task.cancel()
    cancelled.open()
    #expect(await task.value)
  }
}
