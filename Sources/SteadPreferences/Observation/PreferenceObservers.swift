import Observation
import SteadFiles

/// The observers of one search list's keys, and the changes that they have yet to receive.
///
/// Domains report their own changes. From these the change of the effective value is computed, once for all
/// observers of the key, so the cost of a write grows only with the observers of its keys. While nobody
/// observes, the domains are not watched.
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
    /// The result of `addHandler`.
    let token: UInt64
    /// The number of the last applied event: a look at several layers counts if none was applied meanwhile.
    var received: UInt64
  }

  /// A change and the observers that have to receive it.
  struct PendingNotification {
    let change: PreferenceChange<PropertyList?>
    let observerIDs: [UInt64]
    let tracked: TrackedKey?
  }

  /// What the lock protects. Objects that may retain a program's own code are released outside of it.
  struct State {
    /// The layers, while somebody observes; each domain once.
    var layers: [Layer] = []
    /// Events of new layers that are not among `layers` yet.
    var buffered: [UInt64: [DomainEvent]] = [:]
    /// Grows with each change of `layers`.
    var generation: UInt64 = 0
    var keys: [ExactKey: ObservedKey] = [:]
    var observers: [UInt64: Observer] = [:]
    /// Observers of every key.
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

  // MARK: Registration

  /// Observes keys; nil means every key.
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
    updateLayers()
    for key in observer.keys ?? [] { loadValues(key) }
    deliver()
    return id
  }

  /// Ends an observation.
  func remove(_ id: UInt64) {
    let (observer, layers) = state.withLock { state in
      let observer = state.observers.removeValue(forKey: id)
      return (observer, observer.map { state.remove(id, $0) } ?? [])
    }
    for layer in layers { layer.store.removeHandler(layer.token) }
    // The handler, and everything that it retains, may be released here: outside the lock.
    withExtendedLifetime(observer) {}
  }

  /// Reports to Observation that a key is read.
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

  // MARK: Delivery

  /// Notifies observers of waiting changes. Never called with a lock held.
  ///
  /// One thread at a time does this, and a handler that sets a preference leaves the rest to it: so changes
  /// are delivered in order, and calls do not nest.
  func deliver() {
    while let notifications = state.withLock({ state in state.takePendingNotifications() }) {
      for notification in notifications {
        for id in notification.observerIDs {
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
  /// Removes all traces of an observer, and returns the layers that need not be watched any more.
  fileprivate mutating func remove(
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

  /// Notes that a key's value has changed.
  mutating func post(_ key: ExactKey, _ observed: ObservedKey, old: PropertyList?, isOwn: Bool) {
    let observerIDs = observed.observers + everyKey
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

/// The state of a key that somebody observes.
struct ObservedKey {
  /// The observers of this key, in the order of registration.
  var observers: [UInt64] = []
  /// The object reported to Observation as read, from the first tracked read on.
  var tracked: TrackedKey?
  /// The generation of layers that `values` belong to; 0 before the first look.
  var generation: UInt64 = 0
  /// The values by layer, the first of which is effective, as far as events have reported.
  ///
  /// A copy of the layers' own, since two layers can be written at once: only events come in an order on
  /// which all observers agree.
  private var values: [(layer: Int, value: PropertyList)] = []

  var effective: PropertyList? { values.first?.value }

  var isUnused: Bool { observers.isEmpty && tracked == nil }

  /// Replaces what was known with values of all layers, in their order.
  mutating func setValues(_ values: [(layer: Int, value: PropertyList)], generation: UInt64) {
    self.values = values
    self.generation = generation
  }

  /// Applies a layer's new value.
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

/// An observable stand-in for one preference key: reading the preference reads it, changing the preference writes it.
///
/// It has no value of its own: each read looks up the value in the domains.
final class TrackedKey: Observable, Sendable {
  // One for each key, so that a reader of one isn't notified of others.
  private let registrar = ObservationRegistrar()
  private let path: KeyPath<TrackedKey, Void> & Sendable = \TrackedKey.value

  private var value: Void { () }

  func willRead() { registrar.access(self, keyPath: path) }

  func didChange() { registrar.withMutation(of: self, keyPath: path) {} }
}

/// A dictionary key compared by its UTF-8, as domains compare keys.
///
/// Two strings that Swift treats as equal, since they differ only in normalisation, can be two keys.
struct ExactKey: Hashable, Sendable {
  /// The key.
  let text: String

  init(_ text: String) { self.text = text }

  static func == (left: ExactKey, right: ExactKey) -> Bool { left.text.isSameText(as: right.text) }

  func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { bytes in hasher.combine(bytes: UnsafeRawBufferPointer(bytes)) }
  }
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
  /// A call of the handler that is running on another thread, or about to begin there, still finishes; no
  /// others follow. A handler may cancel its own observation.
  public func cancel() { observers.remove(id) }
}
