import Observation
import Synchronization

/// Detects whether Observation tracks a read, for which it has no function.
///
/// Observation keeps the key paths that are read in a set, and only while it tracks. So a key path with this
/// type as its argument is hashed exactly when a read is tracked. If another thread is being tracked at the
/// same moment, an untracked read looks tracked; that costs only time and a ``TrackedKey``.
struct TrackingProbe: Hashable {
  /// How often any probe was hashed.
  static let count = Atomic<Int>(0)

  static let keyPath: KeyPath<Preferences, Void> & Sendable = \Preferences.[TrackingProbe()]

  static func == (left: TrackingProbe, right: TrackingProbe) -> Bool { true }

  func hash(into hasher: inout Hasher) { Self.count.add(1, ordering: .relaxed) }
}

extension Preferences: Observable {
  /// Never read; only its key path matters.
  subscript(probe: TrackingProbe) -> Void { () }

  /// Reports to Observation that a key is read; called once in each read of a value, before it.
  ///
  /// About 8 ns when nothing tracks.
  @inline(__always)
  func track(_ key: String) {
    let before = TrackingProbe.count.load(ordering: .relaxed)
    readings.tell(of: self)
    if TrackingProbe.count.load(ordering: .relaxed) != before { observers.track(ExactKey(key)) }
  }
}
