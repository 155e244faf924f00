/// The typed storage of one property.
///
/// Which slot a property gets is decided by the compiler, by overload resolution on `_makeSlot`.
public protocol _Slot {
  associatedtype Value

  init(_ value: Value)

  /// The value; a relationship may have to load it.
  func read<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> Value

  /// Called on the old storage once the new value is in place: a relationship updates inverses.
  func didReplace<Owner: PersistentModel>(with value: Value, _ owner: Owner, _ index: Int)

  /// Takes the value from a row that has the column.
  mutating func _load(_ row: _RowReader, _ index: Int)

  /// Binds the value to a statement that has the parameter.
  func _bind(_ row: _RowWriter, _ index: Int)

  /// A relationship's content; the engine's way to it without knowing the types.
  var _content: _SlotContent { get set }

  /// Adds to a to-many relationship in place.
  mutating func _append(_ model: any PersistentModel)

  /// Removes from a to-many relationship in place.
  mutating func _remove(_ model: any PersistentModel)
}

extension _Slot {
  @inlinable public func didReplace<Owner: PersistentModel>(
    with value: Value, _ owner: Owner, _ index: Int
  ) {}

  public var _content: _SlotContent {
    get { .attribute }
    set {}
  }

  public mutating func _append(_ model: any PersistentModel) {}

  public mutating func _remove(_ model: any PersistentModel) {}
}

/// What a relationship's storage holds.
public enum _SlotContent {
  case attribute
  case toOne(_Target)
  case toMany(_Targets)
}

/// The destination of a to-one relationship.
public enum _Target {
  case none
  /// A row that was not looked up yet.
  case row(Int64)
  case model(any PersistentModel)
}

/// The destinations of a to-many relationship.
public struct _Targets {
  /// All of them, when they were loaded or assigned.
  var loaded: [AnyObject]?
  /// What was added and removed while they were not loaded.
  var delta: ToManyDelta?
}

/// Changes of a to-many relationship whose destinations were not loaded.
@usableFromInline final class ToManyDelta {
  private(set) var added: [any PersistentModel] = []
  private(set) var removed: [any PersistentModel] = []
  private var addedIDs: Set<ObjectIdentifier> = []

  func add(_ model: any PersistentModel) {
    removed.removeAll { $0 === model }
    if addedIDs.insert(ObjectIdentifier(model)).inserted { added.append(model) }
  }

  func remove(_ model: any PersistentModel) {
    if addedIDs.remove(ObjectIdentifier(model)) != nil { added.removeAll { $0 === model } }
    removed.append(model)
  }

  /// What was loaded, with the changes applied.
  func applied(to loaded: [AnyObject]) -> [AnyObject] {
    let gone = Set(removed.map(ObjectIdentifier.init))
    let kept = loaded.filter {
      !gone.contains(ObjectIdentifier($0)) && !addedIDs.contains(ObjectIdentifier($0))
    }
    return kept + added.map { $0 as AnyObject }
  }
}

/// An operation on one property's storage.
public protocol _SlotVisitor {
  mutating func visit<S: _Slot>(_ slot: inout S, _ index: Int)
}

struct ContentReader: _SlotVisitor {
  var content = _SlotContent.attribute

  mutating func visit<S: _Slot>(_ slot: inout S, _ index: Int) { content = slot._content }
}

struct ContentWriter: _SlotVisitor {
  let content: _SlotContent

  mutating func visit<S: _Slot>(_ slot: inout S, _ index: Int) { slot._content = content }
}

/// Keeps a copy of a slot, for undo and for moving values between objects.
struct SlotCopier: _SlotVisitor {
  var copy: Any?

  mutating func visit<S: _Slot>(_ slot: inout S, _ index: Int) { copy = slot }
}

struct SlotRestorer: _SlotVisitor {
  let copy: Any

  mutating func visit<S: _Slot>(_ slot: inout S, _ index: Int) {
    if let value = copy as? S { slot = value }
  }
}

extension PersistentModel {
  func content(at index: Int) -> _SlotContent {
    var reader = ContentReader()
    _$visit(index, &reader)
    return reader.content
  }

  func setContent(_ content: _SlotContent, at index: Int) {
    var writer = ContentWriter(content: content)
    _$visit(index, &writer)
  }

  func copySlot(at index: Int) -> Any? {
    var copier = SlotCopier()
    _$visit(index, &copier)
    return copier.copy
  }

  func restoreSlot(_ copy: Any, at index: Int) {
    var restorer = SlotRestorer(copy: copy)
    _$visit(index, &restorer)
  }
}
