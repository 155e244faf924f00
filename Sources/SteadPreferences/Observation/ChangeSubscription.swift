import SteadFiles

/// Keeps an iterator of changes subscribed until it is released or cancelled.
final class ChangeSubscription<Pending: PendingChanges>: Sendable {
  /// Starts putting changes into a buffer, and returns a function that ends this; a second call of that does nothing.
  typealias Beginning = @Sendable (ChangeBuffer<Pending>) -> @Sendable () -> Void

  private let buffer = ChangeBuffer<Pending>()
  private let end: @Sendable () -> Void

  init(_ begin: Beginning) { end = begin(buffer) }

  deinit { end() }

  /// The next change; nil once the task was cancelled.
  func next(isolation actor: isolated (any Actor)?) async -> Pending.Change? {
    await withTaskCancellationHandler {
      await buffer.next()
    } onCancel: {
      end()
      buffer.finish()
    }
  }
}
