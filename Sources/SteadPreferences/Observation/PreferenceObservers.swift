import SteadFiles

/// Who observes which keys of one search list, and what they have still to be told.
///
/// Domains say what changes in each of them. From that the change of the value that counts is found,
/// once for all observers of the key, so the cost of a write grows with the observers of its keys
/// only. While nobody observes, the domains are not followed.
final class PreferenceObservers: Sendable {
  typealias Handler = @Sendable (PreferenceChange<PropertyList?>) -> Void

  /// One call of `observe`.
  struct Observer {
    /// nil for every key.
    let keys: [ExactKey]?
    let includesOwn: Bool
    let handler: Handler
  }

  /// A domain of the search list.
  struct Layer {
    let store: DomainStore
    /// A number that no other layer has had.
    let id: UInt64
    /// What `addHandler` gave.
    let token: UInt64
    /// The number of the last event that was taken in: a look at several layers counts when none was
    /// meanwhile.
    var received: UInt64
  }

  /// A change and those who are to be told.
  struct Letter {
    let change: PreferenceChange<PropertyList?>
    let recipients: [UInt64]
    let tracked: TrackedKey?
  }

  /// What the lock protects. What a program's own code may hang on is let go outside of it.
  struct State {
    /// The layers, when somebody observes; each domain once.
    var layers: [Layer] = []
    /// What new layers have said that are not among `layers` yet.
    var early: [UInt64: [DomainEvent]] = [:]
    /// Grows with each change of `layers`.
    var generation: UInt64 = 0
    var keys: [ExactKey: ObservedKey] = [:]
    var observers: [UInt64: Observer] = [:]
    /// Those who observe every key.
    var everyKey: [UInt64] = []
    var lastID: UInt64 = 0
    var mail: [Letter] = []
    var turn = DeliveryTurn()
  }

  /// The domains of the search list, in its order.
  let search: @Sendable () -> [DomainStore]
  let state = ForkSafeLock(State())

  init(search: @escaping @Sendable () -> [DomainStore]) { self.search = search }

  deinit {
    for layer in state.withLock({ state in state.layers }) {
      layer.store.removeHandler(layer.token)
    }
  }

  // MARK: Coming and going

  /// Observes keys, or with nil every key.
  func observe(
    _ keys: [String]?, includingOwn: Bool, _ handler: @escaping Handler
  ) -> PreferenceObservation {
    let keys = keys.map { keys in Array(Set(keys.map(ExactKey.init))) }
    let observer = Observer(keys: keys, includesOwn: includingOwn, handler: handler)
    return PreferenceObservation(self, id: add(observer))
  }

  private func add(_ observer: Observer) -> UInt64 {
    let id = state.withLock { state in
      state.lastID += 1
      state.observers[state.lastID] = observer
      guard let keys = observer.keys else {
        state.everyKey.append(state.lastID)
        return state.lastID
      }
      for key in keys { state.keys[key, default: ObservedKey()].observers.append(state.lastID) }
      return state.lastID
    }
    follow()
    for key in observer.keys ?? [] { learn(key) }
    deliver()
    return id
  }

  /// Ends an observation.
  func remove(_ id: UInt64) {
    let (observer, layers) = state.withLock { state in
      let observer = state.observers.removeValue(forKey: id)
      return (observer, observer.map { state.forget(id, $0) } ?? [])
    }
    for layer in layers { layer.store.removeHandler(layer.token) }
    // The handler, and all that it holds, may end here: outside the lock.
    withExtendedLifetime(observer) {}
  }

  /// Tells Observation that a key is read.
  func track(_ key: ExactKey) {
    let (tracked, isKnown) = state.withLock { state -> (TrackedKey, Bool) in
      if let known = state.keys[key], let tracked = known.tracked {
        return (tracked, known.generation == state.generation)
      }
      let tracked = TrackedKey()
      state.keys[key, default: ObservedKey()].tracked = tracked
      return (tracked, false)
    }
    // Before the value is read, so that no change falls between.
    tracked.willRead()
    guard !isKnown else { return }
    follow()
    learn(key)
    deliver()
  }

  // MARK: Telling

  /// Tells observers what has happened. Never called with a lock held.
  ///
  /// One thread at a time does this, and a handler that sets a preference leaves the rest to it: so
  /// changes are told in their order, and calls do not nest.
  func deliver() {
    while let letters = state.withLock({ state in state.takeMail() }) {
      for letter in letters {
        for id in letter.recipients {
          let observer = state.withLock { state in state.observers[id] }
          guard let observer, observer.includesOwn || !letter.change.isOwn else { continue }
          observer.handler(letter.change)
        }
        letter.tracked?.didChange()
      }
      state.withLock { state in state.turn.end() }
    }
  }
}

extension PreferenceObservers.State {
  /// Takes out all traces of an observer, and returns the layers that need not be followed any more.
  fileprivate mutating func forget(
    _ id: UInt64, _ observer: PreferenceObservers.Observer
  ) -> [PreferenceObservers.Layer] {
    if let observed = observer.keys {
      for key in observed {
        guard let index = keys.index(forKey: key) else { continue }
        keys.values[index].observers.removeAll { $0 == id }
        if keys.values[index].isUnused, everyKey.isEmpty { keys.remove(at: index) }
      }
    } else {
      everyKey.removeAll { $0 == id }
      if everyKey.isEmpty { keys = keys.filter { !$0.value.isUnused } }
    }
    guard everyKey.isEmpty, keys.isEmpty else { return [] }
    defer {
      layers = []
      generation += 1
    }
    return layers
  }

  /// Notes that a key's value has become another.
  mutating func post(_ key: ExactKey, _ observed: ObservedKey, old: PropertyList?, isOwn: Bool) {
    let recipients = observed.observers + everyKey
    guard !recipients.isEmpty || observed.tracked != nil else { return }
    let change = PreferenceChange(
      key: key.text, old: old, new: observed.effective, isOwn: isOwn)
    mail.append(.init(change: change, recipients: recipients, tracked: observed.tracked))
  }

  fileprivate mutating func takeMail() -> [PreferenceObservers.Letter]? {
    guard !mail.isEmpty, turn.begin() else { return nil }
    defer { mail = [] }
    return mail
  }
}
