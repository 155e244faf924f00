/// The changes of a history as an asynchronous sequence.
///
/// It begins when it is created, so changes before the first `await` are not missed. A consumer that is
/// slower than the changes gets one for everything since its last; so no more is pending than the entries at
/// that time and the current ones. Ends when the task is cancelled, or when the history is released.
///
/// Each iterator gets all changes: the first since the sequence was created, others since their own creation.
public struct PayloadHistoryChanges<Payload: Codable & Identifiable & Sendable>: AsyncSequence,
  Sendable
{
  /// Insertions, removals and updates.
  public typealias Element = PayloadHistoryChange<Payload>
  /// It cannot fail.
  public typealias Failure = Never

  fileprivate let subscriptions: ChangeSubscriptions<PendingHistoryChange>

  /// An iterator.
  public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscriptions.next()) }

  /// Returns changes as they occur.
  public struct Iterator: AsyncIteratorProtocol {
    let subscription: ChangeSubscription<PendingHistoryChange>

    /// The next change; nil once the task was cancelled.
    public mutating func next() async -> Element? { await next(isolation: #isolation) }

    /// The next change; nil once the task was cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      await subscription.next(isolation: actor)?.change(of: Payload.self)
    }
  }
}

extension PayloadHistory {
  /// The changes of the history as they occur, including those of other processes.
  ///
  /// See ``PayloadHistoryChanges`` for what a slow consumer gets.
  public var changes: PayloadHistoryChanges<Payload> {
    PayloadHistoryChanges(
      subscriptions: ChangeSubscriptions { [weak self] receiver in
        guard let self else {
          receiver.finish()
          return {}
        }
        let id = receive(receiver)
        return { [weak self] in self?.stopReceiving(id) }
      })
  }

  private func receive(_ receiver: HistoryReceiver) -> UInt64 {
    // Deliver only changes made after registration.
    following.begin(self)
    let core = cores.current
    catchUp(core)
    return core.withLock { state in
      state.lastReceiver += 1
      state.receivers[state.lastReceiver] = receiver
      return state.lastReceiver
    }
  }

  private func stopReceiving(_ id: UInt64) {
    let core = cores.current
    let removed = core.withLock { state in state.receivers.removeValue(forKey: id) }
    withExtendedLifetime(removed) {}
  }
}
