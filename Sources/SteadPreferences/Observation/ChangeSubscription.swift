import SteadFiles

/// What an iterator of changes keeps going, until it is let go of or cancelled.
final class ChangeSubscription<Pending: PendingChanges>: Sendable {
  /// Has changes put into a buffer, and returns what ends that; a second call of it does nothing.
  typealias Beginning = @Sendable (ChangeBuffer<Pending>) -> @Sendable () -> Void

  private let buffer = ChangeBuffer<Pending>()
  private let end: @Sendable () -> Void

  init(_ begin: Beginning) { end = begin(buffer) }

  deinit { end() }

  /// The next change, nil once the task was cancelled.
  func next(isolation actor: isolated (any Actor)?) async -> Pending.Change? {
    await withTaskCancellationHandler {
      await buffer.next()
    } onCancel: {
      end()
      buffer.finish()
    }
  }
}
