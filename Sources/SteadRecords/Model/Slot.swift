import CSteadRuntime

/// The typed storage of one property.
///
/// The compiler decides which slot a property gets, by overload resolution on `_makeSlot`.
///
/// A slot stores the value. Change tracking, Observation and undo are in the accessors that
/// `@Model` generates, and in the engine. The requirements are for those two; never call them. An
/// index is that of the property in its class, inherited properties included.
public protocol _Slot {
  associatedtype Value

  /// The storage with a value, without any effect on other objects.
  init(_ value: Value)

  /// The storage with the value that an initializer gives a property; for a relationship, the other side is updated.
  init<Owner: PersistentModel>(
    _ value: Value, _ state: inout _ModelState, _ index: Int, _ owner: Owner.Type)

  /// The value; a relationship may need to load it.
  func read<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> Value

  /// Called on the old storage once the new value is in place: a relationship updates its inverses.
  func didReplace<Owner: PersistentModel>(with value: Value, _ owner: Owner, _ index: Int)

  /// The value for the program to change in place: the array of a to-many relationship, uniquely referenced if possible.
  func _lend<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> Value

  /// Ends the lending: sets the property to what the program has made of the lent value.
  static func _takeBack<Owner: PersistentModel>(
    _ value: Value, into place: UnsafeMutablePointer<Self>, _ owner: Owner, _ index: Int)

  /// Takes the value from a row that has the column.
  mutating func _load(_ row: _RowReader, _ index: Int)

  /// Binds the value to a statement that has the parameter.
  func _bind(_ row: _RowWriter, _ index: Int)

  /// A relationship's content; the engine's way to it without knowing the types.
  var _content: _SlotContent { get set }

  /// Changes a to-many relationship's content in place, so that an array is not copied for it.
  mutating func _updateTargets(_ body: (inout _Targets) -> Void)
}

extension _Slot {
  @inlinable public init<Owner: PersistentModel>(
    _ value: Value, _ state: inout _ModelState, _ index: Int, _ owner: Owner.Type
  ) {
    self.init(value)
  }

  @inlinable public func didReplace<Owner: PersistentModel>(
    with value: Value, _ owner: Owner, _ index: Int
  ) {}

  @inlinable public func _lend<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> Value {
    read(owner, index)
  }

  @inlinable public static func _takeBack<Owner: PersistentModel>(
    _ value: Value, into place: UnsafeMutablePointer<Self>, _ owner: Owner, _ index: Int
  ) {
    // The new value is in place before `didReplace` runs: the engine and observers read the
    // property during that call.
    let old = place.pointee
    place.pointee = Self(value)
    old.didReplace(with: value, owner, index)
  }

  public var _content: _SlotContent {
    get { .attribute }
    set {}
  }

  public mutating func _updateTargets(_ body: (inout _Targets) -> Void) {}
}

// MARK: - Content

/// The content of a slot without its static type; an attribute's is not needed by the engine.
public enum _SlotContent {
  /// A value that the engine moves as a whole slot, and never looks into.
  case attribute
  /// At most one destination.
  case toOne(_Target)
  /// An array of destinations, with what changed in it.
  case toMany(_Targets)
}

/// The destination of a to-one relationship.
public enum _Target {
  case none
  /// A row whose object was not looked up yet.
  case row(Int64)
  case model(any PersistentModel)
}

/// The destinations of a to-many relationship.
public struct _Targets {
  /// All destinations, in order; nil until they are loaded or assigned.
  @usableFromInline var loaded: [AnyObject]?
  /// What this context has added, removed or reordered since its last save.
  @usableFromInline var delta: ToManyDelta?

  @inlinable init(loaded: [AnyObject]? = nil, delta: ToManyDelta? = nil) {
    self.loaded = loaded
    self.delta = delta
  }
}

// MARK: - Visitors

/// An operation on one property's storage.
///
/// `_$visit` calls it with the storage itself, inout, so a visitor may replace the value. Generic,
/// and not a closure, since the type of the slot differs from property to property.
public protocol _SlotVisitor {
  mutating func visit<S: _Slot>(_ slot: inout S, _ index: Int)

  /// Whether it may set an attribute. A `let` property has no slot of its own, and is written again only then.
  static var setsAttributes: Bool { get }
}

extension _SlotVisitor {
  public static var setsAttributes: Bool { false }
}

extension PersistentModel {
  /// The content of a relationship; `.attribute` for an attribute.
  ///
  /// Loads nothing: a destination may be a row's number, and a list absent.
  func content(at index: Int) -> _SlotContent {
    var reader = ContentReader()
    _$visit(index, &reader)
    return reader.content
  }

  /// Replaces the content of a relationship, without inverses, undo or Observation.
  ///
  /// For the engine, which knows what else has to change with it.
  func setContent(_ content: _SlotContent, at index: Int) {
    var writer = ContentWriter(content: content)
    _$visit(index, &writer)
  }

  /// Changes a to-many relationship's content in place.
  func updateTargets(at index: Int, _ body: (inout _Targets) -> Void) {
    // The visitor has to store the closure, and ends before this returns.
    withoutActuallyEscaping(body) { body in
      var updater = TargetsUpdater(body: body)
      _$visit(index, &updater)
    }
  }

  /// A copy of a property's storage, for ``restoreSlot(_:at:)`` of an object of the same class.
  func copySlot(at index: Int) -> Any? {
    var copier = SlotCopier()
    _$visit(index, &copier)
    return copier.copy
  }

  /// Replaces a property's storage by a copy; does nothing if the copy is of another type.
  func restoreSlot(_ copy: Any, at index: Int) {
    var restorer = SlotRestorer(copy: copy)
    _$visit(index, &restorer)
  }
}

/// Reads a relationship's content.
private struct ContentReader: _SlotVisitor {
  var content = _SlotContent.attribute

  mutating func visit<S: _Slot>(_ slot: inout S, _ index: Int) { content = slot._content }
}

/// Replaces a relationship's content; an attribute ignores it.
private struct ContentWriter: _SlotVisitor {
  let content: _SlotContent

  mutating func visit<S: _Slot>(_ slot: inout S, _ index: Int) { slot._content = content }
}

/// Changes a to-many relationship's content where it is stored.
private struct TargetsUpdater: _SlotVisitor {
  let body: (inout _Targets) -> Void

  mutating func visit<S: _Slot>(_ slot: inout S, _ index: Int) { slot._updateTargets(body) }
}

/// Copies a slot, for undo and for moving values between objects.
private struct SlotCopier: _SlotVisitor {
  var copy: Any?

  mutating func visit<S: _Slot>(_ slot: inout S, _ index: Int) { copy = slot }
}

/// Replaces a slot by a copy of the same type.
private struct SlotRestorer: _SlotVisitor {
  static let setsAttributes = true

  let copy: Any

  mutating func visit<S: _Slot>(_ slot: inout S, _ index: Int) {
    if let value = copy as? S { slot = value }
  }
}

// MARK: - Release

// Objects may hold each other in a chain of any length. If each were released inside the `deinit` of the one before it,
// a chain of some ten thousand would overflow the stack. So a deallocating object moves the objects that nothing else
// holds to a list of its thread, and the first of them works through it.

/// Called for each property when an object is deallocated; an attribute holds no object.
@inlinable public func _unlink<Slot: _Slot>(_ slot: inout Slot) {}

// The check is inlined into the `deinit`: most objects of a large fetch have only numbers of rows
// here, and need no call.
@inlinable public func _unlink<Model>(_ slot: inout _ToOneSlot<Model>) {
  if case .model = slot.target { unlink(&slot.target) }
}

@inlinable public func _unlink<Model>(_ slot: inout _OptionalToOneSlot<Model>) {
  if case .model = slot.target { unlink(&slot.target) }
}

@inlinable public func _unlink<Model>(_ slot: inout _ToManySlot<Model>) {
  if slot.targets.loaded != nil { unlink(&slot.targets.loaded) }
}

@inlinable public func _unlink<Model>(_ slot: inout _OptionalToManySlot<Model>) {
  if slot.targets.loaded != nil { unlink(&slot.targets.loaded) }
}

/// Moves the destination to the thread's list if only this slot holds it.
@usableFromInline func unlink<Model>(_ target: inout ToOneTarget<Model>) {
  ReleaseList.collect { list in
    // The slot's reference goes first. Otherwise there would be two, and the object would never
    // look unique.
    guard case .model(var model) = target else { return }
    target = .none
    // If anything else holds the object, it is not deallocated now.
    if isKnownUniquelyReferenced(&model) { list.pointee.append(model) }
  }
}

/// Moves the loaded destinations to the thread's list.
@usableFromInline func unlink(_ objects: inout [AnyObject]?) {
  ReleaseList.collect { list in
    // All of them, shared or not: for an object that something else holds, the later release only
    // lowers its count.
    if let loaded = objects.take() { list.pointee.append(contentsOf: loaded) }
  }
}

/// The pending releases of each thread.
private enum ReleaseList {
  /// Passes the thread's list to a body, and drains it afterwards.
  ///
  /// A nested call only appends: the outermost call drains, so the depth of the stack does not depend on the length of a
  /// chain. Invariant: the thread's pointer is set exactly while the outermost call runs.
  static func collect(_ body: (UnsafeMutablePointer<[AnyObject]>) -> Void) {
    // This thread is inside the loop below, some frames up.
    if let list = stead_pending_releases() {
      body(list.assumingMemoryBound(to: [AnyObject].self))
      return
    }
    var list: [AnyObject] = []
    withUnsafeMutablePointer(to: &list) { list in
      stead_set_pending_releases(list)
      // Before the array goes out of scope: the thread's pointer must not outlive it.
      defer { stead_set_pending_releases(nil) }
      body(list)
      // Each may be the last reference to its object, whose deinit adds more.
      while list.pointee.popLast() != nil {}
    }
  }
}
