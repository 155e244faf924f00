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

// MARK: - Reconciling

/// Makes preferences and the values of a store equal, key by key.
///
/// The store's file records the last value that both sides had in common, which shows which side has changed.
final class PreferenceLink: Sendable {
  private struct Pending {
    var keys: Set<String> = []
    /// Whether a thread is working on them. It may be this one, further up the stack: a change that is made here
    /// calls back here.
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
  func settle(_ keys: some Sequence<String>) {
    let isFirst = pending.withLock { pending in
      pending.keys.formUnion(keys)
      defer { pending.isUnderWay = true }
      return !pending.isUnderWay
    }
    guard isFirst else { return }
    while let key = next() {
      do {
        try settle(key)
      } catch {
        SyncReport.problem("A preference was not synced: \(error)")
      }
    }
  }

  private func next() -> String? {
    pending.withLock { pending in
      let key = pending.keys.popFirst()
      if key == nil { pending.isUnderWay = false }
      return key
    }
  }

  private func settle(_ key: String) throws {
    guard let zone = store.zone else { return }
    let mine = try preferences.ownValue(forKey: key)?.wireValue
    let shared = try zone.all()[key]
    let place = "preference \(preferences.domain) \(key)"
    let known = try zone.note(place)
    if mine == shared {
      if known != Self.digest(mine) { try zone.setNote(Self.digest(mine), place) }
    } else if known == Self.digest(shared) || (known == nil && shared == nil) {
      guard store.put(mine, key) else { return }
      try zone.setNote(Self.digest(mine), place)
    } else {
      let list = shared.flatMap { PropertyList(wire: $0) }
      // Values of a later version of this package stay in the store only.
      guard list != nil || shared == nil else { return }
      try preferences.setPropertyList(list, forKey: key)
      try zone.setNote(Self.digest(shared), place)
    }
  }

  private static func digest(_ value: SyncValue?) -> String {
    value.map { SHA256.hexadecimal($0.encoded()) } ?? "none"
  }
}
