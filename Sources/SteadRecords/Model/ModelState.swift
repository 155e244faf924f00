public import Observation
public import Synchronization

/// What the engine keeps in each model object: where it belongs, and what must happen on access.
///
/// `@Model` stores one in every object. It cannot be copied, so its address is the object's own
/// storage, and its end is the object's end: that is how the context's table of registered objects
/// forgets an object that nobody holds any more.
public struct _ModelState: ~Copyable {
  /// Bits of ``_ModelFlags``. Atomic, since a save on another thread marks registered objects stale.
  @usableFromInline let flags: Atomic<UInt32>
  /// The index of the object's entity in its context's layout; -1 before the first insertion.
  var entity: Int32 = -1
  /// Positive: the row. Negative: a temporary number. 0: not asked for yet.
  @usableFromInline var rowID: Int64 = 0
  /// The context's engine; nil before insertion and after deletion.
  @usableFromInline var graph: ObjectGraph?
  /// The changed properties: bit i for property i, the last bit for all from there on.
  @usableFromInline var changes: UInt64 = 0
  /// What few objects need.
  @usableFromInline var extra: ModelExtra?
  /// The object itself, while it is registered under a row.
  var object: Unmanaged<AnyObject>?

  /// Creates the state of a new object that belongs to no context.
  public init() {
    flags = Atomic(_ModelFlags.observed)
  }

  /// Whether a read must first go through ``_willRead(_:_:_:)``.
  @inlinable public var isWatched: Bool {
    flags.load(ordering: .relaxed) & _ModelFlags.watched != 0
  }

  /// Whether any of these flags is set.
  @inlinable func has(_ mask: UInt32) -> Bool { flags.load(ordering: .relaxed) & mask != 0 }

  func set(_ mask: UInt32) { flags.bitwiseOr(mask, ordering: .relaxed) }

  func clear(_ mask: UInt32) { flags.bitwiseAnd(~mask, ordering: .relaxed) }

  mutating func makeExtra() -> ModelExtra {
    if let extra { return extra }
    let new = ModelExtra()
    extra = new
    return new
  }

  deinit {
    if let object, let graph {
      graph.registry.forget(object, root: graph.traits[Int(entity)].root, row: rowID)
    }
  }
}

/// The bits of a model's state.
@usableFromInline enum _ModelFlags {
  /// Reads and writes tell Observation.
  @usableFromInline static let observed: UInt32 = 1
  /// No row was read yet.
  @usableFromInline static let fault: UInt32 = 1 << 1
  /// Another context or process changed the row.
  @usableFromInline static let stale: UInt32 = 1 << 2
  /// Only some columns were read; `ModelExtra.loaded` says which.
  @usableFromInline static let partial: UInt32 = 1 << 3
  /// The object only records which property is read.
  @usableFromInline static let probe: UInt32 = 1 << 4
  /// A save gave the row to another object, `ModelExtra.successor`.
  @usableFromInline static let redirected: UInt32 = 1 << 5
  /// To be inserted by the next save.
  @usableFromInline static let inserted: UInt32 = 1 << 6
  /// To be updated by the next save.
  @usableFromInline static let changed: UInt32 = 1 << 7
  /// To be deleted by the next save.
  @usableFromInline static let deleted: UInt32 = 1 << 8
  /// The row is gone; the object keeps its last values.
  @usableFromInline static let missing: UInt32 = 1 << 9

  /// What a read cannot ignore, apart from Observation.
  @usableFromInline static let slowRead: UInt32 = fault | stale | partial | probe | redirected
  @usableFromInline static let watched: UInt32 = slowRead | observed
  /// Any pending change.
  @usableFromInline static let pending: UInt32 = inserted | changed | deleted
}

/// The parts of a model's state that few objects need.
@usableFromInline final class ModelExtra {
  /// Made when an object is first read under Observation.
  @usableFromInline var registrar: ObservationRegistrar?
  /// The properties that a partial fetch read, in the form of `_ModelState.changes`.
  var loaded: UInt64 = 0
  /// The object that took over the row of this one.
  var successor: (any PersistentModel)?
  /// The property that a probe saw being read.
  var probed: Int?

  /// The bit of a property in `changes` and `loaded`.
  @inlinable static func bit(_ index: Int) -> UInt64 { 1 << UInt64(min(index, 63)) }
}
