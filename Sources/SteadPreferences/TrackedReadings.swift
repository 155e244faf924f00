import Observation
import Synchronization

/// Reports reads of preferences to Observation, without copies of a registrar or a key path: counting their
/// references would double the time of a read.
final class TrackedReadings: Sendable {
  // Allocated once and never changed; a registrar is thread-safe.
  nonisolated(unsafe) private let registrar: UnsafeMutablePointer<ObservationRegistrar>
  private let probe: Unmanaged<KeyPath<Preferences, Void> & Sendable>

  init() {
    registrar = .allocate(capacity: 1)
    registrar.initialize(to: ObservationRegistrar())
    probe = .passRetained(TrackingProbe.keyPath)
  }

  deinit {
    registrar.deinitialize(count: 1)
    registrar.deallocate()
    probe.release()
  }

  @inline(__always)
  func tell(of preferences: Preferences) {
    probe._withUnsafeGuaranteedRef { probe in
      registrar.pointee.access(preferences, keyPath: probe)
    }
  }
}
