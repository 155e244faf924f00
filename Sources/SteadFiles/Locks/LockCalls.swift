import Foundation

/// The system's calls that a lock's file was closed, for one task that waits.
struct LockCalls: Sendable {
  private let calls: AsyncStream<Bool>
  private let continuation: AsyncStream<Bool>.Continuation
  // Nil when the file cannot be watched: then there are no calls, and every wait is as long as may be.
  private let watcher: FileWatcher?

  init(_ url: URL) {
    let (calls, continuation) = AsyncStream.makeStream(
      of: Bool.self, bufferingPolicy: .bufferingNewest(1))
    (self.calls, self.continuation) = (calls, continuation)
    watcher = try? FileWatcher(file: url) { continuation.yield(true) }
  }

  /// Returns whether it was called before the time was over.
  func wait(until deadline: ContinuousClock.Instant?, atMost pause: Duration) async -> Bool {
    let end = ContinuousClock.now + pause
    let timer = Task { [continuation] in
      // The pause's end, for deaths and for programs that announce nothing; a call ends it earlier.
      try await Task.sleep(until: min(end, deadline ?? end), clock: .continuous)
      continuation.yield(false)
    }
    defer { timer.cancel() }
    for await isCall in calls { return isCall }
    return false
  }
}
