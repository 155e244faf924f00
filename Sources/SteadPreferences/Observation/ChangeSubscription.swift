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

/// The subscriptions of a sequence of changes. The first begins with the sequence, so that what happens
/// before it is iterated is not missed.
struct ChangeSubscriptions<Pending: PendingChanges>: Sendable {
  private let begin: ChangeSubscription<Pending>.Beginning
  private let first: ForkSafeLock<ChangeSubscription<Pending>?>

  init(_ begin: @escaping ChangeSubscription<Pending>.Beginning) {
    self.begin = begin
    first = ForkSafeLock(ChangeSubscription(begin))
  }

  func next() -> ChangeSubscription<Pending> {
    let first = first.withLock { first in
      defer { first = nil }
      return first
    }
    return first ?? ChangeSubscription(begin)
  }
}
