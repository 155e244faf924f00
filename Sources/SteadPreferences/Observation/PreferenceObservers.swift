import Observation
import SteadFiles

/// Computes changes of effective values from the events of domains, and delivers them to observers.
///
/// A key's effective value is that of the first layer that has one. The values of an observed key
/// in all layers are kept here, and updated by events alone, so that all observers agree on one
/// order of changes. The work for a change is done once per key, and not per observer: a write
/// costs in proportion to the observers of its keys. Without observers, the domains have no
/// handler.
///
/// Locks do not nest, so layers are read without this object's lock, and the result is discarded if
/// anything changed in the meantime (optimistic concurrency). PreferenceObservers+Layers.swift has
/// that part.
final class PreferenceObservers: Sendable {
  typealias Handler = @Sendable (PreferenceChange<PropertyList?>) -> Void

  /// One call of `observe`.
  struct Observer {
    /// nil for every key.
    let keys: [ExactKey]?
    let includesOwn: Bool
    let handler: Handler
  }

  /// A domain of the search list that reports its events here.
  struct Layer {
    let store: DomainStore
    /// Unique over time: a store that leaves the search list and comes back is another layer.
    let id: UInt64
    /// The token of the handler in the store.
    let token: UInt64
    /// The number of the last event that was applied. A read across layers is valid only if none of
    /// these has changed since.
    var received: UInt64
  }

  /// A change, and the observers that get it.
  struct PendingNotification {
    let change: PreferenceChange<PropertyList?>
    let observerIDs: [UInt64]
    let tracked: TrackedKey?
  }

  /// What the lock protects. Objects that may retain the program's code are released after it.
  struct State {
    /// The layers, while there are observers; each domain once.
    var layers: [Layer] = []
    /// By layer, the events that arrived before the layer was among `layers`; they are applied in
    /// order once it is.
    var buffered: [UInt64: [DomainEvent]] = [:]
    /// The version of `layers`.
    var generation: UInt64 = 0
    var keys: [ExactKey: ObservedKey] = [:]
    var observers: [UInt64: Observer] = [:]
    /// The observers of every key.
    var everyKey: [UInt64] = []
    var lastID: UInt64 = 0
    var pendingNotifications: [PendingNotification] = []
    var deliveryToken = DeliveryToken()
  }

  /// The domains of the search list, in order.
  let search: @Sendable () -> [DomainStore]
  let state = ForkSafeLock(State())

  init(search: @escaping @Sendable () -> [DomainStore]) { self.search = search }

  deinit {
    for layer in state.withLock({ state in state.layers }) {
      layer.store.removeHandler(layer.token)
    }
  }

  // MARK: - Registration

  /// Observes keys; nil means every key.
  func observe(
    _ keys: [String]?, includingOwn: Bool, _ handler: @escaping Handler
  ) -> PreferenceObservation {
    // Each once, or a change would be delivered twice for a key that was passed twice.
    let keys = keys.map { keys in Array(Set(keys.map(ExactKey.init))) }
    let observer = Observer(keys: keys, includesOwn: includingOwn, handler: handler)
    return PreferenceObservation(self, id: add(observer))
  }

  /// Registers an observer, and reads the current values of its keys, from which changes are
  /// counted.
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
    // Before the values are read, so that no change after the read is missed.
    updateLayers()
    for key in observer.keys ?? [] { loadValues(key) }
    deliver()
    return id
  }

  /// Ends an observation. Domains without observers lose their handlers.
  func remove(_ id: UInt64) {
    let (observer, layers) = state.withLock { state in
      let observer = state.observers.removeValue(forKey: id)
      return (observer, observer.map { state.remove(id, $0) } ?? [])
    }
    for layer in layers { layer.store.removeHandler(layer.token) }
    // The handler, and everything that it retains, may be released here: outside the lock.
    withExtendedLifetime(observer) {}
  }

  /// Registers a read with Observation, and makes sure that a change of the key will be noticed.
  func track(_ key: ExactKey) {
    let (tracked, isKnown) = state.withLock { state -> (TrackedKey, Bool) in
      if let known = state.keys[key], let tracked = known.tracked {
        return (tracked, known.generation == state.generation)
      }
      let tracked = TrackedKey()
      state.keys[key, default: ObservedKey()].tracked = tracked
      return (tracked, false)
    }
    // Before the value is read, so that no change is missed in between.
    tracked.willRead()
    guard !isKnown else { return }
    updateLayers()
    loadValues(key)
    deliver()
  }

  // MARK: - Delivery

  /// Calls observers with waiting changes. Never called with a lock held.
  ///
  /// One thread at a time does this, and a handler that sets a preference leaves the result to it:
  /// so changes arrive in order, and calls do not nest.
  func deliver() {
    while let notifications = state.withLock({ state in state.takePendingNotifications() }) {
      for notification in notifications {
        for id in notification.observerIDs {
          // Looked up again for each call: an earlier handler may have cancelled this observation.
          let observer = state.withLock { state in state.observers[id] }
          guard let observer, observer.includesOwn || !notification.change.isOwn else { continue }
          observer.handler(notification.change)
        }
        notification.tracked?.didChange()
      }
      state.withLock { state in state.deliveryToken.release() }
    }
  }
}

extension PreferenceObservers.State {
  /// Removes an observer, and returns the layers that need not be watched any more.
  fileprivate mutating func remove(
    _ id: UInt64, _ observer: PreferenceObservers.Observer
  ) -> [PreferenceObservers.Layer] {
    if let observed = observer.keys {
      for key in observed {
        guard let index = keys.index(forKey: key) else { continue }
        keys.values[index].observers.removeAll { $0 == id }
        // An observer of every key still needs the values that were known.
        if keys.values[index].isUnused, everyKey.isEmpty { keys.remove(at: index) }
      }
    } else {
      everyKey.removeAll { $0 == id }
      if everyKey.isEmpty { keys = keys.filter { !$0.value.isUnused } }
    }
    guard everyKey.isEmpty, keys.isEmpty else { return [] }
    defer {
      // No observers are left, so the domains need no handler.
      layers = []
      generation += 1
    }
    return layers
  }

  /// Enqueues a change of a key's effective value.
  mutating func post(_ key: ExactKey, _ observed: ObservedKey, old: PropertyList?, isOwn: Bool) {
    let observerIDs = observed.observers + everyKey
    // Known for another reason, such as a former observer of every key.
    guard !observerIDs.isEmpty || observed.tracked != nil else { return }
    let change = PreferenceChange(
      key: key.text, old: old, new: observed.effective, isOwn: isOwn)
    pendingNotifications.append(
      .init(change: change, observerIDs: observerIDs, tracked: observed.tracked))
  }

  fileprivate mutating func takePendingNotifications() -> [PreferenceObservers.PendingNotification]?
  {
    guard !pendingNotifications.isEmpty, deliveryToken.acquire() else { return nil }
    defer { pendingNotifications = [] }
    return pendingNotifications
  }
}

// MARK: - Observed keys

/// The values of a key in all layers, while it is observed.
struct ObservedKey {
  /// The observers of this key alone, in the order of registration.
  var observers: [UInt64] = []
  /// Stands for the key in Observation, from the first tracked read on.
  var tracked: TrackedKey?
  /// The version of the layers for which `values` were read; 0 before that.
  var generation: UInt64 = 0
  /// The values by layer, the first of which is effective.
  ///
  /// Not read from the layers when it is needed: two of them can be written at once, and only
  /// events have an order.
  private var values: [(layer: Int, value: PropertyList)] = []

  var effective: PropertyList? { values.first?.value }

  var isUnused: Bool { observers.isEmpty && tracked == nil }

  /// Replaces the values after all layers were read.
  mutating func setValues(_ values: [(layer: Int, value: PropertyList)], generation: UInt64) {
    self.values = values
    self.generation = generation
  }

  /// Applies a layer's event.
  mutating func set(_ value: PropertyList?, layer: Int) {
    let index = values.firstIndex { $0.layer >= layer } ?? values.count
    let isPresent = index < values.count && values[index].layer == layer
    switch (isPresent, value) {
    case (true, let value?): values[index].value = value
    case (true, nil): values.remove(at: index)
    case (false, let value?): values.insert((layer, value), at: index)
    case (false, nil): break
    }
  }
}

/// Stands for one preference key in Observation: a read of the preference reads it, a change writes
/// it.
///
/// It has no value: each read looks up the value in the domains. One object per key, so that a view
/// that reads one key is not invalidated by others.
final class TrackedKey: Observable, Sendable {
  // One for each key, so that a reader of one isn't notified of others.
  private let registrar = ObservationRegistrar()
  private let path: KeyPath<TrackedKey, Void> & Sendable = \TrackedKey.value

  private var value: Void { () }

  func willRead() { registrar.access(self, keyPath: path) }

  func didChange() { registrar.withMutation(of: self, keyPath: path) {} }
}

// MARK: - Tokens

/// Keeps an observation of preferences alive: it ends with ``cancel()`` or with this object.
public final class PreferenceObservation: Sendable {
  private let observers: PreferenceObservers
  private let id: UInt64

  init(_ observers: PreferenceObservers, id: UInt64) {
    self.observers = observers
    self.id = id
  }

  deinit { cancel() }

  /// Ends the observation and releases its handler; a second call does nothing.
  ///
  /// A call of the handler that is running on another thread, or about to begin there, still
  /// finishes; no others follow. A handler may cancel its own observation.
  public func cancel() { observers.remove(id) }
}
