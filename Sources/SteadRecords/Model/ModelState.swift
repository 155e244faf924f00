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
  @inlinable public var isWatched: Bool {
    flags.load(ordering: .relaxed) & _ModelFlags.watched != 0
  }

  /// Whether any of these flags is set.
  @inlinable func has(_ mask: UInt32) -> Bool { flags.load(ordering: .relaxed) & mask != 0 }

  /// The home without a reference, since counting one costs more than most calls to it. The object holds its home
  /// during each call.
  var uncountedHome: Unmanaged<ModelHome>? {
    mutating get {
      withUnsafeMutablePointer(to: &home) {
        UnsafeRawPointer($0).load(as: UnsafeRawPointer?.self).map { .fromOpaque($0) }
      }
    }
  }

  func set(_ mask: UInt32) { flags.bitwiseOr(mask, ordering: .relaxed) }

  func clear(_ mask: UInt32) { flags.bitwiseAnd(~mask, ordering: .relaxed) }

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

  /// Notes a property as changed; returns whether it was not yet.
  mutating func noteChange(_ index: Int) -> Bool {
    if index < PropertySet.wordLimit {
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

  deinit {
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

  /// The object that stands for this one: the object itself, unless it was merged into another.
  var standIn: any PersistentModel {
    var model: any PersistentModel = self
    while let next = model.successor { model = next }
    return model
  }

  func has(_ mask: UInt32) -> Bool { _$statePointer.pointee.has(mask) }
}
