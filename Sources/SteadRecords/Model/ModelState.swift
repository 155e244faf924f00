import Observation
public import Synchronization

/// The engine's state in each model object: where it belongs, and what must happen on access.
///
/// `@Model` stores one in every object. It cannot be copied, so its address is in the object's own storage, and it is
/// destroyed with the object: that is how the context's table of registered objects forgets an object that nothing
/// holds any more.
public struct _ModelState: ~Copyable {
  /// Bits of ``_ModelFlags``. Atomic, since an object may be deallocated on any thread.
  @usableFromInline let flags: Atomic<UInt32>
  /// The index of the object's entity in its context's layout; -1 before the first insertion.
  var entity: Int32 = -1
  /// Positive: the row. Negative: a temporary number. 0: not asked for yet.
  @usableFromInline var rowID: Int64 = 0
  /// The context's engine; nil before insertion and after deletion.
  @usableFromInline var home: ModelHome?
  /// The first word of `changes`.
  @usableFromInline var changedBits: UInt64 = 0
  /// What few objects need.
  @usableFromInline var extra: ModelExtra?
  /// The object itself, while it is registered under a row.
  var object: Unmanaged<AnyObject>?

  /// Creates the state of a new object that belongs to no context.
  public init() {
    flags = Atomic(_ModelFlags.observed)
  }

  /// Whether a read must first go through ``_willRead(_:_:_:)``.
  ///
  /// One relaxed load, which the generated getter inlines.
  @inlinable public var isWatched: Bool {
    flags.load(ordering: .relaxed) & _ModelFlags.watched != 0
  }

  /// Whether any of these flags is set.
  @inlinable func has(_ mask: UInt32) -> Bool { flags.load(ordering: .relaxed) & mask != 0 }

  /// The home without a retain and a release, which cost more than most calls to it.
  ///
  /// Valid for the duration of a call on the object: `home` itself keeps the engine alive until then.
  var uncountedHome: Unmanaged<ModelHome>? {
    // A load of the reference as a plain word: an ordinary read of `home` would retain it.
    mutating get {
      withUnsafeMutablePointer(to: &home) {
        UnsafeRawPointer($0).load(as: UnsafeRawPointer?.self).map { .fromOpaque($0) }
      }
    }
  }

  /// Sets all of these flags.
  func set(_ mask: UInt32) { flags.bitwiseOr(mask, ordering: .relaxed) }

  /// Clears all of these flags.
  func clear(_ mask: UInt32) { flags.bitwiseAnd(~mask, ordering: .relaxed) }

  /// The rarely needed state, allocated with the first call.
  mutating func makeExtra() -> ModelExtra {
    if let extra { return extra }
    let new = ModelExtra()
    extra = new
    return new
  }

  /// The properties that the next save writes.
  var changes: PropertySet {
    get {
      PropertySet(
        low: changedBits,
        high: changedBits >> UInt64(PropertySet.wordLimit) == 0 ? [] : extra?.furtherChanges ?? [])
    }
    set {
      changedBits = newValue.low
      if newValue.high.isEmpty {
        if extra?.furtherChanges.isEmpty == false { extra?.furtherChanges = [] }
      } else {
        makeExtra().furtherChanges = newValue.high
      }
    }
  }

  /// Marks a property as changed; returns whether it was unchanged before.
  mutating func markChanged(_ index: Int) -> Bool {
    if index < PropertySet.wordLimit {
      // The common case touches one word and allocates nothing.
      let bit = PropertySet.bit(index)
      defer { changedBits |= bit }
      return changedBits & bit == 0
    }
    var changes = changes
    if changes.contains(index) { return false }
    changes.insert(index)
    self.changes = changes
    return true
  }

  // Runs as part of the object's own deallocation: nothing here may retain the object.
  deinit {
    // First: the links of a failed initializer hold the object's address, which is invalid after
    // this.
    if let extra, !extra.firstLinks.isEmpty { extra.endFirstLinks() }
    if let object, let home { home.forget(object, entity: Int(entity), row: rowID) }
  }
}

extension PersistentModel {
  /// The object that took over this one's row; nil for all but the losers of an upsert.
  var successor: (any PersistentModel)? {
    guard has(_ModelFlags.redirected) else { return nil }
    return _$statePointer.pointee.extra?.successor
  }

  /// The object that owns the row now: the object itself, unless it was merged into another.
  var standIn: any PersistentModel {
    var model: any PersistentModel = self
    // A chain: the object that took the row over may have lost it in a later save.
    while let next = model.successor { model = next }
    return model
  }

  /// Whether any of these flags is set.
  func has(_ mask: UInt32) -> Bool { _$statePointer.pointee.has(mask) }
}

// MARK: - Flags

/// The bits of a model's state.
@usableFromInline enum _ModelFlags {
  /// Reads and writes notify Observation.
  ///
  /// Set on each new object. Loading and insertion clear it for a context whose loader does not
  /// observe models.
  @usableFromInline static let observed: UInt32 = 1
  /// No row has been read yet.
  @usableFromInline static let fault: UInt32 = 1 << 1
  /// Another context or process changed the row, so that it is read again with the next access.
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
  /// The object has first links, which are applied before it is used.
  @usableFromInline static let linked: UInt32 = 1 << 10

  /// Each read and write of a property is recorded: set on objects that custom stages of a migration plan see.
  @usableFromInline static let traced: UInt32 = 1 << 11

  /// A rule of deletion has deleted the object, and not the program. Only means something beside `deleted`.
  static let cascaded: UInt32 = 1 << 12

  /// What must be done before the object's values can be read.
  @usableFromInline static let unready: UInt32 =
    fault | stale | partial | probe | redirected | linked
  /// The flags that send a read to `_makeReadable`.
  @usableFromInline static let slowRead: UInt32 = unready | traced
  /// The flags with which an accessor may not read the stored property directly.
  @usableFromInline static let watched: UInt32 = slowRead | observed
  /// Any pending change.
  @usableFromInline static let pending: UInt32 = inserted | changed | deleted
}

// MARK: - Rarely needed state

/// The parts of an object's state that few objects need, in an allocation of their own: an object without them pays 8
/// bytes.
@usableFromInline final class ModelExtra {
  /// The probe by which a read of the object was first seen to be tracked, for its registrar.
  var probe: TrackingProbe? { didSet { isObserved = probe != nil } }
  /// Whether there is a registrar. A flag of its own, since asking the probe would retain it.
  @usableFromInline private(set) var isObserved = false
  @usableFromInline var registrar: ObservationRegistrar? { probe?.registrar }
  /// The further words of `_ModelState.changes`.
  var furtherChanges: [UInt64] = []
  /// The properties that a partial fetch has loaded; the others are read when they are first accessed.
  var loaded = PropertySet()
  /// The object that took over the row of this one.
  var successor: (any PersistentModel)?
  /// By to-one property, the number of the to-many relationship that has the object; absent for the first one.
  var lists: [Int: Int] = [:]
  /// The index of the first property that was read of an object with the flag `probe`.
  var probed: Int?
  /// The links that initializers gave from or to this object, in that order.
  var firstLinks = FirstLinks()
  /// The object itself, where its own initializer gave it links.
  var firstOwner: UnsafeMutableRawPointer?
}

// Several to-many relationships may name one to-one property as their inverse. They are numbered in the order of their
// declaration, and the property's destination together with this number determines which of them has the object.

extension PersistentModel {
  /// The number of the list that a to-one property's object is in; nil for the first that it can be in.
  func list(at index: Int) -> Int? { _$statePointer.pointee.extra?.lists[index] }

  /// Moves the object to another of these relationships; nil for the first.
  func setList(_ number: Int?, at index: Int) {
    let state = _$statePointer
    // Being in a first list needs no memory.
    if number == nil, state.pointee.extra == nil { return }
    state.pointee.makeExtra().lists[index] = number
  }
}
