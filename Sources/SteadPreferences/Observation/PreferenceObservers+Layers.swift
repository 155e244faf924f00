// How layers are watched, and how the values of observed keys are learnt from them.
//
// Locks do not nest, so layers are read one after the other without this object's lock. The result
// counts if no event came and no layer changed meanwhile; otherwise they are read again.

extension PreferenceObservers {
  /// Makes `layers` the domains of the search list, each once.
  ///
  /// A new layer's events are buffered from the moment its handler is added until it is among
  /// `layers`, so that none is missed or applied twice. The change of `layers` itself is
  /// optimistic: if another thread has changed them meanwhile, this one starts again.
  func updateLayers() {
    while true {
      let stores = search().unique
      let (layers, generation) = state.withLock { state in (state.layers, state.generation) }
      // The usual case: nothing has changed since the last call.
      if layers.map(\.store).isIdentical(to: stores) { return }
      let next = stores.map { store in
        layers.first { $0.store === store } ?? makeLayer(store)
      }
      // After the new layers report events: a key that appeared before that would go unreported.
      if !layers.isEmpty { loadKeys(changedBetween: layers.map(\.store), stores) }
      let isDone = state.withLock { state in
        // Another thread has changed the layers, or the last observer has gone.
        guard state.generation == generation, !state.isUnused else { return false }
        // The number of events may have grown since it was copied.
        state.layers = next.map { layer in
          state.layers.first { $0.id == layer.id } ?? layer
        }
        state.generation += 1
        return true
      }
      // On success the layers that left lose their handlers; otherwise those that were made in
      // vain.
      let (left, right) = isDone ? (layers, next) : (next, layers)
      for layer in left where !right.contains(where: { $0.id == layer.id }) {
        layer.store.removeHandler(layer.token)
        state.withLock { state in state.buffered[layer.id] = nil }
      }
      if isDone { for layer in next { applyBuffered(from: layer.id) } }
      if isDone || state.withLock({ state in state.isUnused }) { return }
    }
  }

  /// Adds a handler to a domain. The buffer must exist before: an event may come while the handler
  /// is being added.
  private func makeLayer(_ store: DomainStore) -> Layer {
    let id = state.withLock { state in
      state.lastID += 1
      state.buffered[state.lastID] = []
      return state.lastID
    }
    let (token, received) = store.subscribe { [weak self] event in self?.receive(event, from: id) }
    return Layer(store: store, id: id, token: token, received: received)
  }

  /// Follows a change of the search list: another domain's value may be effective now, without any
  /// event.
  func searchListDidChange(isOwn: Bool) {
    guard !state.withLock({ state in state.isUnused }) else { return }
    updateLayers()
    for key in state.withLock({ state in Array(state.keys.keys) }) { loadValues(key, isOwn: isOwn) }
    deliver()
  }

  /// Loads the keys of added and removed layers, for observers of every key: their effective values
  /// may change.
  private func loadKeys(changedBetween old: [DomainStore], _ new: [DomainStore]) {
    guard state.withLock({ state in !state.everyKey.isEmpty }) else { return }
    let stores =
      old.filter { store in !new.contains { $0 === store } }
      + new.filter { store in !old.contains { $0 === store } }
    for field in stores.flatMap({ $0.contents() }) {
      let key = ExactKey(field.key)
      state.withLock { state in state.insert(key) }
      loadValues(key)
    }
  }

  // MARK: - Values

  /// Reads an observed key in all layers, unless that was done for the current ones.
  ///
  /// Reads without this object's lock, and repeats if a layer or an event came in between (like a
  /// seqlock's reader). Each layer's value is taken as of the last applied event, since events that
  /// have not been applied yet will still change it.
  func loadValues(_ key: ExactKey, isOwn: Bool = true) {
    while true {
      let view = state.withLock { state in
        state.isLoaded(key)
          ? nil : (layers: state.layers, buffered: state.buffered, generation: state.generation)
      }
      guard let (layers, buffered, generation) = view else { return }
      let values = layers.enumerated().compactMap { index, layer in
        value(of: key, in: layer, buffered[layer.id] ?? []).map { (index, $0) }
      }
      let isDone = state.withLock { state in
        // Valid only if nothing has moved since the copy was made: no layer, no applied event, no
        // buffered event.
        guard state.generation == generation, !state.isLoaded(key),
          zip(state.layers, layers).allSatisfy({ $0.received == $1.received }),
          layers.allSatisfy({ state.buffered[$0.id]?.count == buffered[$0.id]?.count }),
          let before = state.keys[key]
        else { return false }
        state.keys[key]?.setValues(values, generation: generation)
        // The first time there is no earlier value from which anything could have changed.
        if before.generation != 0, let after = state.keys[key], before.effective != after.effective
        {
          state.post(key, after, old: before.effective, isOwn: isOwn)
        }
        return true
      }
      if isDone { return }
    }
  }

  /// A layer's value as of the last event that was applied from it.
  private func value(
    of key: ExactKey, in layer: Layer, _ buffered: [DomainEvent]
  ) -> PropertyList? {
    // A buffered event is later than what is wanted: its old value is the one.
    for change in buffered.lazy.flatMap(\.changes) where change.key.isSameText(as: key.text) {
      return change.old
    }
    return layer.store.value(forKey: key.text, afterEvent: buffered.last?.number ?? layer.received)
  }

  // MARK: - Events

  /// Handles an event of a layer: applies it, or buffers it until the layer is one of the current
  /// ones.
  private func receive(_ event: DomainEvent, from id: UInt64) {
    let isBuffered = state.withLock { state -> Bool in
      guard state.buffered[id] != nil else { return false }
      state.buffered[id]?.append(event)
      return true
    }
    if !isBuffered { apply(event, from: id) }
  }

  /// Applies buffered events in order. More may arrive meanwhile; the buffer is removed once it is
  /// empty.
  private func applyBuffered(from id: UInt64) {
    while true {
      let event = state.withLock { state -> DomainEvent? in
        if let event = state.buffered[id]?.first { return event }
        state.buffered[id] = nil
        return nil
      }
      guard let event else { return }
      apply(event, from: id)
    }
  }

  /// Applies an event. Keys whose values are not known yet are read first, as of before the event.
  private func apply(_ event: DomainEvent, from id: UInt64) {
    while true {
      let unloaded = state.withLock { state -> [DomainEvent.Change]? in
        guard let index = state.layers.firstIndex(where: { $0.id == id }) else {
          state.buffered[id] = nil
          return nil
        }
        let unloaded = state.unloadedKeys(in: event)
        // Their values before the event have to be known first, so the event is applied in a later
        // round.
        guard unloaded.isEmpty else { return unloaded }
        state.layers[index].received = event.number
        if state.buffered[id] != nil { state.buffered[id]?.removeFirst() }
        for change in event.changes { state.apply(change, layer: index, isOwn: event.isOwn) }
        return nil
      }
      guard let unloaded else { break }
      for change in unloaded { loadValues(ExactKey(change.key)) }
    }
    deliver()
  }
}

// MARK: - State

extension PreferenceObservers.State {
  fileprivate var isUnused: Bool { keys.isEmpty && everyKey.isEmpty }

  /// Whether a key's values are those of the current layers; true for a key without observers.
  fileprivate func isLoaded(_ key: ExactKey) -> Bool {
    guard let observed = keys[key] else { return true }
    return observed.generation == generation
  }

  /// The changes of observed keys whose values have to be read first, one per key.
  fileprivate mutating func unloadedKeys(in event: DomainEvent) -> [DomainEvent.Change] {
    var unloaded: [DomainEvent.Change] = []
    var seen: Set<ExactKey> = []
    for change in event.changes {
      let key = ExactKey(change.key)
      // Observers of every key observe this one from now on.
      if !everyKey.isEmpty { insert(key) }
      if !isLoaded(key), seen.insert(key).inserted { unloaded.append(change) }
    }
    return unloaded
  }

  fileprivate mutating func insert(_ key: ExactKey) {
    if keys[key] == nil { keys[key] = ObservedKey() }
  }

  /// Updates a key's value in a layer, and enqueues a notification if the effective value is
  /// another now.
  fileprivate mutating func apply(_ change: DomainEvent.Change, layer: Int, isOwn: Bool) {
    let key = ExactKey(change.key)
    guard let index = keys.index(forKey: key) else { return }
    let old = keys.values[index].effective
    keys.values[index].set(change.new, layer: layer)
    guard keys.values[index].effective != old else { return }
    post(key, keys.values[index], old: old, isOwn: isOwn)
  }
}

extension [DomainStore] {
  /// Each once, at its first position.
  fileprivate var unique: [DomainStore] {
    var stores: [DomainStore] = []
    for store in self where !stores.contains(where: { $0 === store }) { stores.append(store) }
    return stores
  }

  fileprivate func isIdentical(to other: [DomainStore]) -> Bool {
    count == other.count && zip(self, other).allSatisfy { $0 === $1 }
  }
}
