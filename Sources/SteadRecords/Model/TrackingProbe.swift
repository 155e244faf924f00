import Observation
import Synchronization

/// A registrar that no object has yet, and that detects whether the current thread tracks reads; so an object that is
/// read outside of any tracking needs no registrar.
///
/// A registrar hashes the key path of an access only to add it to the list of tracked accesses. So an access to a key
/// path whose hashing sets a flag shows whether such a list exists. This registrar is then in the list, too, and
/// becomes that of the object that was read: Observation forgets the registrar when the object is deallocated.
///
/// Used by one thread at a time, as the context is that has it.
final class TrackingProbe {
  let registrar = ObservationRegistrar()
  private let subject: Subject
  private let keyPath: KeyPath<Subject, Int>
  private let isAlwaysTracking: Bool

  convenience init() { self.init(isAlwaysTracking: !Self.isReliable) }

  private init(isAlwaysTracking: Bool) {
    let subject = Subject()
    self.subject = subject
    keyPath = \Subject.[Key(subject: subject)]
    self.isAlwaysTracking = isAlwaysTracking
  }

  /// Another one, that shares what does not belong to the registrar.
  init(after probe: TrackingProbe) {
    subject = probe.subject
    keyPath = probe.keyPath
    isAlwaysTracking = probe.isAlwaysTracking
  }

  /// Whether the current thread tracks reads.
  var isTracking: Bool { observesAccess || isAlwaysTracking }

  private var observesAccess: Bool {
    subject.wasHashed.store(false, ordering: .relaxed)
    registrar.access(subject, keyPath: keyPath)
    return subject.wasHashed.load(ordering: .relaxed)
  }

  /// Whether this system's Observation hashes key paths when it tracks; otherwise each object that is
  /// read gets a registrar.
  private static let isReliable = withObservationTracking {
    TrackingProbe(isAlwaysTracking: false).observesAccess
  } onChange: {
  }
}

extension TrackingProbe {
  /// What the key path leads from; atomic, since another thread may forget what was tracked, and hash the key path for
  /// it.
  private final class Subject: Observable, Sendable {
    let wasHashed = Atomic<Bool>(false)

    subscript(_ key: Key) -> Int { 0 }
  }

  private struct Key: Hashable {
    let subject: Subject

    static func == (left: Key, right: Key) -> Bool { left.subject === right.subject }

    func hash(into hasher: inout Hasher) {
      subject.wasHashed.store(true, ordering: .relaxed)
      hasher.combine(ObjectIdentifier(subject))
    }
  }
}

/// The probe of objects without a context, which may be read on any thread.
enum LooseTrackingProbe {
  private static let probe = Mutex(TrackingProbe())

  static func takeIfTracking() -> TrackingProbe? {
    probe.withLock { probe in
      guard probe.isTracking else { return nil }
      defer { probe = TrackingProbe(after: probe) }
      return probe
    }
  }
}
