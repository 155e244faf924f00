public import Foundation
public import Observation
import Synchronization

/// What a sync does at the moment, zone by zone; observable.
///
/// Reading it costs a lock. It changes on the engine's threads, so observe it where changes may come from any thread.
public final class SyncStatus: Observable, Sendable {
  /// What a zone does.
  public enum Activity: Hashable, Sendable {
    /// It has not begun, or is paused.
    case paused
    /// It sends and fetches.
    case syncing
    /// Everything is sent, and nothing new is known.
    case upToDate
    /// The last attempt failed; it is tried again at that time.
    case failed(retryAt: Date)
  }

  /// The state of a zone.
  public struct Zone: Hashable, Sendable {
    public var activity = Activity.paused
    /// When everything was sent and fetched last.
    public var lastSuccess: Date?
    /// How many transactions wait to be sent.
    public var pendingCount = 0
    /// How many transactions the server has refused.
    public var quarantinedCount = 0
    /// How many records could not be shown, since their values are not of the models' types.
    public var unshownCount = 0
    /// How far the first fetch is, from 0 to 1; nil when it is done.
    public var firstFetch: Double?
    /// Why the last attempt failed, and what to do; nil after a success.
    public var problem: String?
  }

  private let registrar = ObservationRegistrar()
  private let content = Mutex<[String: Zone]>([:])

  /// The zones by their names.
  public var zones: [String: Zone] {
    registrar.access(self, keyPath: \.zones)
    return content.withLock { $0 }
  }

  /// Whether everything of every zone is sent and fetched.
  public var isUpToDate: Bool {
    let zones = zones
    return !zones.isEmpty
      && zones.values.allSatisfy { $0.activity == .upToDate && $0.pendingCount == 0 }
  }

  func update(_ zone: String, _ change: (inout Zone) -> Void) {
    registrar.withMutation(of: self, keyPath: \.zones) {
      content.withLock { change(&$0[zone, default: Zone()]) }
    }
  }
}
