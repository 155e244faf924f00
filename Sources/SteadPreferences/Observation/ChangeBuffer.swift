import SteadFiles

/// Changes that a consumer has not yet taken, one a key.
///
/// A key that changes again keeps its place: the consumer then gets one change from the value that it
/// last saw to the newest, or none when these are the same. So what waits is never more than the keys
/// that are observed, and the last state is never lost.
final class ChangeBuffer: Sendable {
  typealias Change = PreferenceChange<PropertyList?>

  struct State {
    /// The keys with a change, the first that changed first; those before `first` are done.
    private var keys: [ExactKey] = []
    private var first = 0
    /// What waits; nil for a key that is back at what the consumer saw.
    private var changes: [ExactKey: Change?] = [:]
    var waiting: [CheckedContinuation<Change?, Never>] = []
    var isFinished = false

    mutating func add(_ change: Change) {
      let key = ExactKey(change.key)
      guard let place = changes.index(forKey: key) else {
        keys.append(key)
        changes.updateValue(change, forKey: key)
        return
      }
      guard let earlier = changes.values[place] else {
        changes.values[place] = change
        return
      }
      let merged = Change(
        key: change.key, old: earlier.old, new: change.new, isOwn: earlier.isOwn && change.isOwn)
      changes.values[place] = merged.old == merged.new ? nil : merged
    }

    mutating func take() -> Change? {
      while first < keys.count {
        let change = changes.removeValue(forKey: keys[first])
        first += 1
        if first * 2 > keys.count {
          keys.removeFirst(first)
          first = 0
        }
        if case .some(.some(let change)) = change { return change }
      }
      return nil
    }
  }

  private let state = ForkSafeLock(State())

  func add(_ change: Change) {
    let consumer = state.withLock { state -> CheckedContinuation<Change?, Never>? in
      if state.isFinished { return nil }
      // Whoever waits has taken all that there was.
      if !state.waiting.isEmpty { return state.waiting.removeFirst() }
      state.add(change)
      return nil
    }
    consumer?.resume(returning: change)
  }

  /// The next change, nil once ``finish()`` was called.
  func next() async -> Change? {
    await withCheckedContinuation { consumer in
      let (change, isThere) = state.withLock { state -> (Change?, Bool) in
        if state.isFinished { return (nil, true) }
        if let change = state.take() { return (change, true) }
        state.waiting.append(consumer)
        return (nil, false)
      }
      if isThere { consumer.resume(returning: change) }
    }
  }

  /// Lets go of all changes, and gives nil to those who wait.
  func finish() {
    let consumers = state.withLock { state in
      defer {
        state = State()
        state.isFinished = true
      }
      return state.waiting
    }
    for consumer in consumers { consumer.resume(returning: nil) }
  }
}
