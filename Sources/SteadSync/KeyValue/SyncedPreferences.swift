import Foundation
import SteadEncoding
import SteadFormats
public import SteadPreferences
internal import SteadSyncProtocol
import Synchronization

/// Preference keys whose values are synced between devices.
///
/// ```swift
/// let settings = SyncedPreferences(.standard, in: .default, \.theme, \.fontSize)
/// let engine = try SyncEngine(keyValueStores: ["fedcba9876543210fedcba9876543210": .default], transport: transport)
/// await engine.start()
/// ```
///
/// While this object exists, changes that any program of this device makes to the keys are copied to the store, and
/// changes from other devices are copied to the preferences. Other keys stay on this device. The store's limits
/// apply: a value that it does not accept stays on this device.
///
/// Changes that were made without such an object are found when the next one is created. If both sides have changed,
/// or if both have a value when a key is first synced, the store's value wins.
///
/// A change costs one transaction of the store's file.
///
/// Changes are copied on the thread that reports them: that of a preference's observer, or that on which an engine
/// applies a page. What can't be copied is reported to `Stead.onProblem`, and tried again with the next change of the
/// key.
public final class SyncedPreferences: Sendable {
  /// Copies values in both directions.
  private let link: PreferenceLink
  /// Ends the observation of the preferences when it is released.
  private let observation: PreferenceObservation
  /// Ends the observation of the store when it is released.
  private let listener: ListenerList.Listener

  /// Syncs typed keys, from now until this object is released.
  ///
  /// - Parameters:
  ///   - preferences: The domain in which the keys are set. Registered defaults and other domains aren't synced.
  ///   - store: A store that an engine syncs. Several objects may share it, each with keys of its own.
  public convenience init<each Value>(
    _ preferences: Preferences, in store: SyncedKeyValueStore,
    _ keys: repeat KeyPath<Preferences.Keys, Preferences.Key<each Value>>
  ) {
    var names: [String] = []
    for path in repeat each keys { names.append(Preferences.Keys()[keyPath: path].name) }
    self.init(preferences, in: store, keys: names)
  }

  /// Syncs keys by their names, from now until this object is released. Compares each key once before it returns.
  ///
  /// - Parameters:
  ///   - preferences: The domain in which the keys are set.
  ///   - store: A store that an engine syncs.
  ///   - keys: The names of keys; a key without a value on either side is left alone until it gets one.
  public init(_ preferences: Preferences, in store: SyncedKeyValueStore, keys: [String]) {
    let link = PreferenceLink(preferences, store)
    self.link = link
    // Before the first comparison, so that a change in between is seen.
    observation = preferences.observe(keys) { link.reconcile([$0.key]) }
    listener = store.arrivals.add { link.reconcile(keys) }
    // Earlier changes.
    link.reconcile(keys)
  }
}

// MARK: - Reconciling

/// Makes preferences and the values of a store equal, key by key.
///
/// It is a three-way merge: the store's file has a digest of the value that both sides had in common last, which shows
/// which side has changed since. If both have, the store's value wins.
final class PreferenceLink: Sendable {
  private struct Pending {
    var keys: Set<String> = []
    /// Whether a thread is working on them. It may be this one, further up the stack: setting a preference calls its
    /// observers, and so ``reconcile(_:)``.
    var isUnderWay = false
  }

  private let preferences: Preferences
  private let store: SyncedKeyValueStore
  private let pending = Mutex(Pending())

  init(_ preferences: Preferences, _ store: SyncedKeyValueStore) {
    self.preferences = preferences
    self.store = store
  }

  /// Makes both sides of some keys equal. The first caller also does the work of calls that arrive in the meantime,
  /// from any thread.
  func reconcile(_ keys: some Sequence<String>) {
    let isFirst = pending.withLock { pending in
      pending.keys.formUnion(keys)
      defer { pending.isUnderWay = true }
      return !pending.isUnderWay
    }
    // The worker takes these keys, too. Waiting for it would deadlock if it is this thread.
    guard isFirst else { return }
    while let key = next() {
      do {
        try reconcile(key)
      } catch {
        SyncReport.problem("A preference was not synced: \(error)")
      }
    }
  }

  /// Takes the next key; nil at the end. After that the next caller of ``reconcile(_:)`` does the
  /// work.
  private func next() -> String? {
    // Within one lock: a call that comes now either has added its keys, or becomes the one that
    // works.
    pending.withLock { pending in
      let key = pending.keys.popFirst()
      if key == nil { pending.isUnderWay = false }
      return key
    }
  }

  /// Makes both sides of one key equal, and then records the digest of what both have.
  ///
  /// Invariant: the digest is stored after the value. If the process ends between the two, both sides are equal and
  /// the next comparison only stores the digest; the other way round, an old value would look like a new one and win.
  private func reconcile(_ key: String) throws {
    guard let zone = store.zone else { return }
    let local = try preferences.ownValue(forKey: key)?.wireValue
    let remote = try zone.all()[key]
    let name = "preference \(preferences.domain) \(key)"
    let common = try zone.metadata(name)
    if local == remote {
      if common != Self.digest(local) { try zone.setMetadata(Self.digest(local), name) }
      // Only the preference has changed, or both are synced for the first time and the store has no value.
    } else if common == Self.digest(remote) || (common == nil && remote == nil) {
      // A value beyond the limits stays on this device, and is tried again with the key's next
      // change.
      guard store.put(local, key) else { return }
      try zone.setMetadata(Self.digest(local), name)
    } else {
      let list = remote.flatMap { PropertyList(wire: $0) }
      // Values of a later version of this package stay in the store only.
      guard list != nil || remote == nil else { return }
      try preferences.setPropertyList(list, forKey: key)
      try zone.setMetadata(Self.digest(remote), name)
    }
  }

  /// The digest of a value; `none` for no value, which is no SHA-256.
  private static func digest(_ value: SyncValue?) -> String {
    value.map { SHA256.hexadecimal($0.encoded()) } ?? "none"
  }
}
