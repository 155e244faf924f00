import Foundation

/// The system's notifications that a lock's file was closed, for one waiting task.
struct LockCalls: Sendable {
  private let calls: AsyncStream<Bool>
  private let continuation: AsyncStream<Bool>.Continuation
  // Nil when the file cannot be watched: then no notifications come, and every wait lasts its full time.
  private let watcher: FileWatcher?

  init(_ url: URL) {
    let (calls, continuation) = AsyncStream.makeStream(
      of: Bool.self, bufferingPolicy: .bufferingNewest(1))
    (self.calls, self.continuation) = (calls, continuation)
    watcher = try? FileWatcher(file: url) { continuation.yield(true) }
  }

  /// Returns whether the wait ended before the deadline.
  func wait(until deadline: ContinuousClock.Instant?, atMost pause: Duration) async -> Bool {
    let end = ContinuousClock.now + pause
    let timer = Task { [continuation] in
      // The pause covers deaths and programs that announce nothing; a notification ends it earlier.
      try await Task.sleep(until: min(end, deadline ?? end), clock: .continuous)
      continuation.yield(false)
    }
    defer { timer.cancel() }
    for await isCall in calls { return isCall }
    return false
  }
}
