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

  private let subscriptions: ChangeSubscriptions<PendingPreferenceChanges>

  init(
    _ observe: @escaping @Sendable (@escaping PreferenceObservers.Handler) -> PreferenceObservation
  ) {
    subscriptions = ChangeSubscriptions { buffer in
      let observation = observe { change in buffer.add(change) }
      return { observation.cancel() }
    }
  }

  /// An iterator.
  public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscriptions.next()) }

  /// Gives changes as they come.
  public struct Iterator: AsyncIteratorProtocol {
    let subscription: ChangeSubscription<PendingPreferenceChanges>

    /// The next change, nil once the task was cancelled.
    public mutating func next() async -> Element? { await next(isolation: #isolation) }

    /// The next change, nil once the task was cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      await subscription.next(isolation: actor)
    }
  }
}
