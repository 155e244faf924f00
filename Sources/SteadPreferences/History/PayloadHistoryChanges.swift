/// The changes of a history, to be awaited one after the other.
///
/// It begins when it is made, so what changes between that and the first `await` is not missed. A
/// consumer that is slower than the changes gets one for all that has happened since it last looked; so
/// what waits is never more than the entries that were there then and those that are there now. Ends
/// when the task is cancelled, or when the history is no longer there.
///
/// Each iterator gets all changes: the first since the sequence was made, others since they were.
public struct PayloadHistoryChanges<Payload: Codable & Identifiable & Sendable>: AsyncSequence,
  Sendable
{
  /// What has come, gone or become another.
  public typealias Element = PayloadHistoryChange<Payload>
  /// It cannot fail.
  public typealias Failure = Never

  fileprivate let subscriptions: ChangeSubscriptions<PendingHistoryChange>

  /// An iterator.
  public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscriptions.next()) }

  /// Gives changes as they come.
  public struct Iterator: AsyncIteratorProtocol {
    let subscription: ChangeSubscription<PendingHistoryChange>

    /// The next change, nil once the task was cancelled.
    public mutating func next() async -> Element? { await next(isolation: #isolation) }

    /// The next change, nil once the task was cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      await subscription.next(isolation: actor)?.change(of: Payload.self)
    }
  }
}

extension PayloadHistory {
  /// The changes of the history, those of other processes included, as they come.
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
    // What was there before is not news for this receiver.
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
