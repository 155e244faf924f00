import Observation
import SteadSQLite
import Synchronization

/// What an object's storage asks of the context that it belongs to.
///
/// The engine is the one subclass: objects refer to it by this name, so that an object can be understood without it. A
/// class rather than a protocol, since a call through it must cost no more than a virtual call.
@usableFromInline class ModelHome {
  /// Whether ``valueWillChange(of:at:)`` is called before each change: undo records the old value there.
  @usableFromInline final var recordsUndo = false

  /// The probe that detects whether a read of one of the objects is tracked.
  ///
  /// Unchecked exclusivity: it is asked at each read, and a context is used by one thread at a time anyway.
  @exclusivity(unchecked) private final var trackingProbe = TrackingProbe()
  /// `trackingProbe` without a retain and a release, which would take longer than the answer.
  @exclusivity(unchecked) private final var askedProbe: Unmanaged<TrackingProbe>

  init() { askedProbe = .passUnretained(trackingProbe) }

  /// Whether the current thread tracks reads with Observation.
  final var isTracking: Bool { askedProbe._withUnsafeGuaranteedRef { $0.isTracking } }

  /// Hands over the probe, which becomes an object's registrar, and makes another one for the next read.
  final func takeProbe() -> TrackingProbe {
    // A registrar serves one object. A second object with this one would notify the observers of
    // the first.
    defer {
      trackingProbe = TrackingProbe(after: trackingProbe)
      askedProbe = .passUnretained(trackingProbe)
    }
    return trackingProbe
  }

  /// Records the old value of a property for undo; the change comes next.
  @usableFromInline func valueWillChange(of model: any PersistentModel, at index: Int) {}

  /// Marks a property as changed, so that the next save writes it.
  func didChange(_ model: any PersistentModel, at index: Int) {}

  /// Records a read or a write of a property, of an object with the flag `traced`.
  func didUse(_ model: any PersistentModel, at index: Int, isRead: Bool) {}

  /// Reads an object's row again.
  ///
  /// An object whose row is gone leaves the context and keeps its attributes. If the store cannot
  /// be read, a problem is reported and the object keeps its values, too.
  func renew(_ model: any PersistentModel) {}

  /// The destination of a to-one relationship by its row.
  ///
  /// nil if the row does not exist or cannot be read; the latter is reported. Owners of the same
  /// fetch get their destinations with the same query.
  func destination(_ row: Int64, of owner: any PersistentModel, _ index: Int) -> AnyObject? { nil }

  /// The destinations of a to-many relationship that were not loaded yet.
  func destinations(of owner: any PersistentModel, _ index: Int) -> [AnyObject] { [] }

  /// Updates the inverses of a to-one relationship after its destination has changed.
  func referenceDidChange(
    of owner: any PersistentModel, _ index: Int, _ old: _Target, _ new: (any PersistentModel)?
  ) {}

  /// Updates the inverses of a to-many relationship after it was assigned.
  func membersDidChange(of owner: any PersistentModel, _ index: Int, _ old: _Targets) {}

  /// Applies to a relationship what the program has changed in the array that it was lent.
  ///
  /// - Returns: false if the relationship must be set to that array instead.
  func membersDidModify(
    of owner: any PersistentModel, _ index: Int, _ targets: UnsafeMutablePointer<_Targets>,
    _ new: [AnyObject]
  ) -> Bool { false }

  /// The committed value of a property's column: another process may have replaced it since the object was read.
  ///
  /// nil if the row is gone or the property has no column. Reads a new snapshot, whatever commits
  /// the context has applied.
  func newestColumn(of owner: any PersistentModel, _ index: Int) throws -> SQLValue? { nil }

  /// A property of an object in the words of a message, such as `Person.blob of row 1`.
  func title(of index: Int, of owner: any PersistentModel) -> String { "property \(index)" }

  /// Inserts an object that came to refer to one of the context's.
  ///
  /// - Parameter old: What its relationship held before.
  func adoptOwner(_ model: any PersistentModel, of index: Int, _ old: _SlotContent) {}

  /// Enqueues a link that an initializer gave to one of the context's objects, until it is applied.
  func keep(_ link: FirstLink) {}

  /// Removes an object from the registry; called from its deallocation.
  ///
  /// It may run on any thread, since an object is deallocated by whoever drops its last reference.
  /// It must not retain the object.
  func forget(_ object: Unmanaged<AnyObject>, entity: Int, row: Int64) {}

  /// A saved object's identifier; nil before the first save.
  func identifier(entity: Int, row: Int64) -> PersistentIdentifier? { nil }
}

// MARK: - Tracking

/// Detects whether the current thread tracks reads with Observation, so that an object that is read outside of any
/// tracking needs no registrar: most objects of a large fetch never get one.
///
/// A registrar hashes the key path of an access only to add it to the list of tracked accesses. So an access to a key
/// path whose hashing sets a flag shows whether such a list exists. This registrar is then in the list, too, and
/// becomes that of the object that was read: Observation forgets the registrar when the object is deallocated.
///
/// Used by one thread at a time, like the context that owns it.
final class TrackingProbe {
  let registrar = ObservationRegistrar()
  private let subject: Subject
  private let keyPath: KeyPath<Subject, Int>
  private let isAlwaysTracking: Bool

  /// A probe that treats every read as tracked where the system's Observation gives no sign.
  convenience init() { self.init(isAlwaysTracking: !Self.isReliable) }

  /// The subscript's key captures the subject, so that hashing the key path reaches the flag.
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

  /// Leaves the registrar in the list of tracked accesses, if there is one.
  private var observesAccess: Bool {
    // Relaxed: hashing happens on this thread, within `access`. A concurrent hash by a thread that
    // cancels its tracking can only set the flag, and an object then gets a registrar that it does
    // not need.
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
  /// The root of the probe's key path.
  ///
  /// Atomic: Observation may hash the key path on another thread, when that thread cancels its tracking.
  private final class Subject: Observable, Sendable {
    /// Set by hashing the key, and cleared before each question.
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

  /// The probe as an object's registrar, if this thread tracks reads now; nil otherwise.
  static func takeIfTracking() -> TrackingProbe? {
    probe.withLock { probe in
      // Under the lock, with its use of the shared flag: two threads would otherwise take each
      // other's answer.
      guard probe.isTracking else { return nil }
      defer { probe = TrackingProbe(after: probe) }
      return probe
    }
  }
}
