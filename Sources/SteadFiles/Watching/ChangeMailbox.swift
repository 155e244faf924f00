/// The changes that one iterator has not taken yet, combined.
final class ChangeMailbox: Sendable {
  /// Holds at most one pending element, however often something is posted.
  let signals: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation
  private let pending = ForkSafeLock<FileWatcher.Changes?>(nil)

  init() {
    (signals, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  func post(_ changes: FileWatcher.Changes) {
    pending.withLock { pending in
      if pending?.formUnion(changes) == nil { pending = changes }
    }
    continuation.yield()
  }

  func take() -> FileWatcher.Changes? {
    pending.withLock { pending in
      defer { pending = nil }
      return pending
    }
  }

  func finish() { continuation.finish() }
}
