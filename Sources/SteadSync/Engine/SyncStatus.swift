public import Foundation
public import Observation
import Synchronization

/// The present state of a sync, zone by zone; observable.
///
/// Reading it costs a lock and never waits for the engine or the disk, so a view may read it. It changes on the
/// engine's threads, so your observer must accept changes from any thread.
///
/// ```swift
/// let zone = engine.status.zones[name]
/// if let problem = zone?.problem { show(problem) }
/// ```
public final class SyncStatus: Observable, Sendable {
  /// The activity of a zone.
  public enum Activity: Hashable, Sendable {
    /// It hasn't started, or is paused.
    case paused
    /// It is sending and fetching.
    case syncing
    /// Everything is sent, and nothing new is known.
    case upToDate
    /// The last attempt failed; the next one is at that time.
    case failed(retryAt: Date)
  }

  /// The state of a zone.
  public struct Zone: Hashable, Sendable {
    /// What the engine is doing.
    public var activity = Activity.paused
    /// When everything was last sent and fetched.
    public var lastSuccess: Date?
    /// The number of transactions that wait to be sent, as of the last push or exchange. Each is a save of a program,
    /// or a part of a large one.
    public var pendingCount = 0
    /// The number of transactions that the server has refused; see ``SyncEngine/quarantine()``.
    public var quarantinedCount = 0
    /// The number of records that cannot be shown, because their values don't fit the models' types.
    public var unappliedCount = 0
    /// The progress of the first fetch, from 0 to 1; nil when it is done.
    public var firstFetch: Double?
    /// Why the last attempt failed, with a remedy; nil after a success.
    public var problem: String?
  }

  private let registrar = ObservationRegistrar()
  private let content = Mutex<[String: Zone]>([:])

  /// The zones by their names. A zone is missing until its first exchange begins or the engine is paused.
  public var zones: [String: Zone] {
    registrar.access(self, keyPath: \.zones)
    return content.withLock { $0 }
  }

  /// Whether everything of every zone is sent and fetched. False before the first exchange, and while changes wait
  /// that the server doesn't accept.
  public var isUpToDate: Bool {
    // One snapshot, since two reads could see two states.
    let zones = zones
    return !zones.isEmpty
      && zones.values.allSatisfy { $0.activity == .upToDate && $0.pendingCount == 0 }
  }

  /// Changes the state of a zone, and informs observers.
  func update(_ zone: String, _ change: (inout Zone) -> Void) {
    registrar.withMutation(of: self, keyPath: \.zones) {
      content.withLock { change(&$0[zone, default: Zone()]) }
    }
  }
}
