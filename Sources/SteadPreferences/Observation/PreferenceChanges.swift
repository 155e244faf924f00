import SteadFiles

/// The changes of one key, of several or of all, to be awaited one after the other.
///
/// It begins when it is made, so what is set between that and the first `await` is not missed. A
/// consumer that is slower than the changes gets one change a key, from the value that it last saw to
/// the newest one; so the last state always comes, and no more waits than one change a key. `isOwn` is
/// then true when all of the changes were this process's own. Ends when the task is cancelled.
///
/// Each iterator gets all changes: the first since the sequence was made, others since they were.
public struct PreferenceChanges: AsyncSequence, Sendable {
  /// A change and what the key's value was before.
  public typealias Element = PreferenceChange<PropertyList?>
  /// It cannot fail.
  public typealias Failure = Never

  private let start: @Sendable () -> Subscription
  private let first: ForkSafeLock<Subscription?>

  init(
    _ observe: @escaping @Sendable (@escaping PreferenceObservers.Handler) -> PreferenceObservation
  ) {
    start = {
      let buffer = ChangeBuffer<PendingPreferenceChanges>()
      return Subscription(buffer: buffer, observation: observe { change in buffer.add(change) })
    }
    first = ForkSafeLock(start())
  }

  /// An iterator.
  public func makeAsyncIterator() -> Iterator {
    let first = first.withLock { first in
      defer { first = nil }
      return first
    }
    return Iterator(subscription: first ?? start())
  }

  /// What an iterator keeps going.
  final class Subscription: Sendable {
    let buffer: ChangeBuffer<PendingPreferenceChanges>
    let observation: PreferenceObservation

    init(buffer: ChangeBuffer<PendingPreferenceChanges>, observation: PreferenceObservation) {
      self.buffer = buffer
      self.observation = observation
    }

    func cancel() {
      observation.cancel()
      buffer.finish()
    }
  }

  /// Gives changes as they come.
  public struct Iterator: AsyncIteratorProtocol {
    let subscription: Subscription

    /// The next change, nil once the task was cancelled.
    public mutating func next() async -> Element? { await next(isolation: #isolation) }

    /// The next change, nil once the task was cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      let subscription = subscription
      return await withTaskCancellationHandler {
        await subscription.buffer.next()
      } onCancel: {
        subscription.cancel()
      }
    }
  }
}
