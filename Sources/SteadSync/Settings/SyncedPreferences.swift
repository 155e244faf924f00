public import SteadPreferences

/// Keys of preferences whose values are the same on all devices.
///
/// ```swift
/// let settings = SyncedPreferences(.standard, in: .default, \.theme, \.fontSize)
/// let engine = try SyncEngine(keyValueStores: ["fedcba9876543210fedcba9876543210": .default], transport: transport)
/// await engine.start()
/// ```
///
/// As long as this object lives, what any program of this device sets or removes under one of the keys goes into the
/// store, and what the store gets from other devices goes into the preferences. Other keys stay on this device. The
/// limits are the store's: a value that it does not take stays on this device, too.
///
/// What was changed while there was no such object is found when the next one is made. Where both sides have changed,
/// and where both have a value when a key is synced for the first time, the store's value stays.
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
    // What has changed before.
    link.settle(keys)
  }
}
