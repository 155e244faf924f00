import SteadFiles

/// The change of one key: its effective value before and now.
///
/// Values are those that a look-up over the whole search list returns. So the new value of a key
/// that was removed is the one beneath it, such as its registered default.
public struct PreferenceChange<Value: Sendable>: Sendable {
  /// The key.
  public let key: String
  /// The effective value before.
  public let old: Value
  /// The effective value from now on.
  public let new: Value
  /// Whether this process made the change; false if another one did, or if the file was edited by
  /// hand.
  public let isOwn: Bool

  /// Makes a change.
  public init(key: String, old: Value, new: Value, isOwn: Bool) {
    self.key = key
    self.old = old
    self.new = new
    self.isOwn = isOwn
  }

  /// The same change with other values, such as decoded ones.
  public func map<Other: Sendable, Failure: Error>(
    _ transform: (Value) throws(Failure) -> Other
  ) throws(Failure) -> PreferenceChange<Other> {
    PreferenceChange<Other>(
      key: key, old: try transform(old), new: try transform(new), isOwn: isOwn)
  }
}

extension PreferenceChange: Equatable where Value: Equatable {}
extension PreferenceChange: Hashable where Value: Hashable {}

// MARK: - As a sequence

/// The changes of one key, of several or of all, as an asynchronous sequence.
///
/// It begins when it is created, so changes before the first `await` are not missed. A consumer
/// that is slower than the changes gets one change a key, from the value that it last saw to the
/// newest one; so the last state always arrives, and no more than one change a key is pending.
/// `isOwn` is then true if all of the changes were this process's own. Ends when the task is
/// cancelled.
///
/// Each iterator gets all changes: the first since the sequence was created, others since their own
/// creation.
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

/// The changes that a consumer has not taken yet, coalesced to one per key.
///
/// A key that changes again keeps its position; its change then leads from the value that the
/// consumer last saw to the newest, and disappears if the two are equal. So the buffer has at most
/// one element per observed key, and the last state is never lost.
struct PendingPreferenceChanges: PendingChanges {
  typealias Change = PreferenceChange<PropertyList?>

  /// The changed keys, in the order of their first change; those before `first` are done.
  private var keys: [ExactKey] = []
  private var first = 0
  /// The waiting changes; nil for a key that is back at the value that the consumer saw, which
  /// keeps its position.
  private var changes: [ExactKey: Change?] = [:]

  mutating func add(_ change: Change) {
    let key = ExactKey(change.key)
    guard let index = changes.index(forKey: key) else {
      keys.append(key)
      changes.updateValue(change, forKey: key)
      return
    }
    guard let earlier = changes.values[index] else {
      changes.values[index] = change
      return
    }
    let merged = Change(
      key: change.key, old: earlier.old, new: change.new, isOwn: earlier.isOwn && change.isOwn)
    changes.values[index] = merged.old == merged.new ? nil : merged
  }

  mutating func take() -> Change? {
    while first < keys.count {
      let change = changes.removeValue(forKey: keys[first])
      first += 1
      // Removing from the front is linear, so it is done for half of the array at once.
      if first * 2 > keys.count {
        keys.removeFirst(first)
        first = 0
      }
      if case .some(.some(let change)) = change { return change }
    }
    return nil
  }
}

// MARK: - Buffers between producer and consumer

/// A buffer of changes between a producer and a slow consumer, coalesced where that loses nothing.
///
/// For preferences it has one change per key, for a history one delta. So its size is limited
/// without dropping anything.
protocol PendingChanges: Sendable {
  /// What a consumer takes at once.
  associatedtype Change: Sendable

  /// Begins with none.
  init()

  /// Adds a change after those that wait.
  mutating func add(_ change: Change)

  /// The change that has waited longest; nil if none.
  mutating func take() -> Change?
}

/// Connects a producer of changes, which never waits, with a consumer that awaits them.
final class ChangeBuffer<Pending: PendingChanges>: Sendable {
  typealias Change = Pending.Change

  struct State: Sendable {
    var pending = Pending()
    var waiting: [CheckedContinuation<Change?, Never>] = []
    var isFinished = false
  }

  private let state = ForkSafeLock(State())

  /// Hands a change to a waiting consumer, or buffers it.
  func add(_ change: Change) {
    let consumer = state.withLock { state -> CheckedContinuation<Change?, Never>? in
      if state.isFinished { return nil }
      // A waiting consumer has taken all earlier changes, so this one need not be merged.
      if !state.waiting.isEmpty { return state.waiting.removeFirst() }
      state.pending.add(change)
      return nil
    }
    // Without the lock: a resumed task may run at once, and call back.
    consumer?.resume(returning: change)
  }

  /// The next change, or nil once ``finish()`` was called. Several consumers get different changes.
  func next() async -> Change? {
    await withCheckedContinuation { consumer in
      let (change, isReady) = state.withLock { state -> (Change?, Bool) in
        if state.isFinished { return (nil, true) }
        if let change = state.pending.take() { return (change, true) }
        // Resumed by the next change, or by `finish()`: exactly one of them takes it from the list.
        state.waiting.append(consumer)
        return (nil, false)
      }
      if isReady { consumer.resume(returning: change) }
    }
  }

  /// Drops what is buffered, and ends all current and later calls of ``next()``.
  func finish() {
    // What is buffered is released without the lock: it may be the program's, whose `deinit` may call back.
    let last = state.withLock { state in
      let last = state
      state = State()
      state.isFinished = true
      return last
    }
    for consumer in last.waiting { consumer.resume(returning: nil) }
  }
}

/// One consumer of a sequence of changes, from its creation until it is released or its task is
/// cancelled.
final class ChangeSubscription<Pending: PendingChanges>: Sendable {
  /// Starts adding changes to a buffer, and returns a function that ends this. A second call of
  /// that does nothing.
  typealias Start = @Sendable (ChangeBuffer<Pending>) -> @Sendable () -> Void

  private let buffer = ChangeBuffer<Pending>()
  private let end: @Sendable () -> Void

  init(_ start: Start) { end = start(buffer) }

  deinit { end() }

  /// The next change; nil once the task was cancelled.
  func next(isolation actor: isolated (any Actor)?) async -> Pending.Change? {
    await withTaskCancellationHandler {
      await buffer.next()
    } onCancel: {
      end()
      // Ends the call of `next()` that is waiting; a cancelled task must not hang.
      buffer.finish()
    }
  }
}

/// The subscriptions of a sequence's iterators.
///
/// The first one begins with the sequence, and not with its iteration: between `let changes = …`
/// and the first `await` nothing is missed.
struct ChangeSubscriptions<Pending: PendingChanges>: Sendable {
  private let start: ChangeSubscription<Pending>.Start
  private let first: ForkSafeLock<ChangeSubscription<Pending>?>

  init(_ start: @escaping ChangeSubscription<Pending>.Start) {
    self.start = start
    first = ForkSafeLock(ChangeSubscription(start))
  }

  /// The subscription for a new iterator.
  func next() -> ChangeSubscription<Pending> {
    let first = first.withLock { first in
      defer { first = nil }
      return first
    }
    return first ?? ChangeSubscription(start)
  }
}
