import Observation
import Synchronization

/// Finds out whether a read happens under Observation, which has no function that says so.
///
/// Observation keeps the key paths that are read in a set, and only while it tracks. So a key path
/// that has this for its argument is hashed when, and only when, a read is tracked. Another thread
/// that is being tracked at the same moment makes a read look tracked that is not; that costs time
/// and a ``TrackedKey``, no more.
struct TrackingProbe: Hashable {
  /// How often any probe was hashed.
  static let count = Atomic<Int>(0)

  static let keyPath: KeyPath<Preferences, Void> & Sendable = \Preferences.[TrackingProbe()]

  static func == (left: TrackingProbe, right: TrackingProbe) -> Bool { true }

  func hash(into hasher: inout Hasher) { Self.count.add(1, ordering: .relaxed) }
}

extension Preferences: Observable {
  /// Never read; its key path is what counts.
  subscript(probe: TrackingProbe) -> Void { () }

  /// Tells Observation that a key is read; called once in each read of a value, before it.
  ///
  /// About 8 ns when nothing tracks.
  @inline(__always)
  func track(_ key: String) {
    let before = TrackingProbe.count.load(ordering: .relaxed)
    readings.tell(of: self)
    if TrackingProbe.count.load(ordering: .relaxed) != before { observers.track(ExactKey(key)) }
  }
}
