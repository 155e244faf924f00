import Foundation
import SteadEncoding
import SteadFormats
import SteadPreferences
internal import SteadSyncProtocol
import Synchronization

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
