public import SteadPreferences

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
public final class SyncedPreferences: Sendable {
  private let link: PreferenceLink
  private let observation: PreferenceObservation
  private let listener: SignalList.Listener

  /// Syncs typed keys.
  public convenience init<each Value>(
    _ preferences: Preferences, in store: SyncedKeyValueStore,
    _ keys: repeat KeyPath<Preferences.Keys, Preferences.Key<each Value>>
  ) {
    var names: [String] = []
    for path in repeat each keys { names.append(Preferences.Keys()[keyPath: path].name) }
    self.init(preferences, in: store, keys: names)
  }

  /// Syncs keys by their names.
  public init(_ preferences: Preferences, in store: SyncedKeyValueStore, keys: [String]) {
    let link = PreferenceLink(preferences, store)
    self.link = link
    observation = preferences.observe(keys) { link.settle([$0.key]) }
    listener = store.arrivals.add { link.settle(keys) }
    // Earlier changes.
    link.settle(keys)
  }
}
