/// The changes of one key, of several or of all, as an asynchronous sequence.
///
/// It begins when it is created, so changes before the first `await` are not missed. A consumer that is
/// slower than the changes gets one change a key, from the value that it last saw to the newest one; so the
/// last state always arrives, and no more than one change a key is pending. `isOwn` is then true if all of
/// the changes were this process's own. Ends when the task is cancelled.
///
/// Each iterator gets all changes: the first since the sequence was created, others since their own creation.
public struct PreferenceChanges: AsyncSequence, Sendable {
  /// A change with the key's value before it.
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

  /// Returns changes as they occur.
  public struct Iterator: AsyncIteratorProtocol {
    let subscription: ChangeSubscription<PendingPreferenceChanges>

    /// The next change; nil once the task was cancelled.
    public mutating func next() async -> Element? { await next(isolation: #isolation) }

    /// The next change; nil once the task was cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      await subscription.next(isolation: actor)
    }
  }
}
