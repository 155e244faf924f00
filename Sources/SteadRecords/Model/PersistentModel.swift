public import Observation

/// A class whose objects are stored: what `@Model` makes of a class.
///
/// Objects belong to one context, and like it are not Sendable. Hand other contexts and tasks the
/// object's ``persistentModelID``.
///
/// A value that an initializer gives a relationship sets the other side, and an object that so refers
/// to one of a context is inserted there. An initializer that throws or returns nil must not use an
/// object after it has linked it, since the object may then refer to one that never came to be: the
/// process ends with a message. In a class that inherits from another class, the first values of its
/// own relationships set the other sides when the object is inserted.
public protocol PersistentModel: AnyObject, Observable, Hashable, Identifiable, SendableMetatype {
  /// Creates an object with the values of a backing data.
  init(backingData: any BackingData<Self>)
  /// The object's values by key path.
  var persistentBackingData: any BackingData<Self> { get set }
  /// What the class says of its own stored properties.
  static var schemaMetadata: [Schema.PropertyMetadata] { get }

  // Written by `@Model`; the engine's way to the typed storage.

  /// Creates an object from a row.
  init(_row row: _RowReader)
  /// Creates an object from a row, without evaluating default values where that is possible.
  static func _$make(_ row: _RowReader) -> Self
  /// The address of the object's state.
  var _$statePointer: UnsafeMutablePointer<_ModelState> { get }
  /// The superclass, when it is a model.
  static var _$supermodel: (any PersistentModel.Type)? { get }
  /// The number of stored properties, inherited ones included.
  static var _$propertyCount: Int { get }
  /// Reads all columns that the row has.
  func _$reload(_ row: _RowReader)
  /// Binds all columns that the statement wants.
  func _$bind(_ row: _RowWriter)
  /// Hands the storage of one property to a visitor.
  func _$visit<Visitor: _SlotVisitor>(_ index: Int, _ visitor: inout Visitor)
}

extension PersistentModel {
  public static func _$make(_ row: _RowReader) -> Self { Self(_row: row) }

  /// The object's identity: equal in all contexts, temporary until the first save.
  public var persistentModelID: PersistentIdentifier {
    let state = _$statePointer
    if state.pointee.rowID == 0 { state.pointee.rowID = TemporaryRowID.next() }
    let row = state.pointee.rowID
    return state.pointee.home?.identifier(entity: Int(state.pointee.entity), row: row)
      ?? PersistentIdentifier(
        reference: EntityReference.temporary(Schema.entityName(for: Self.self)), row: row)
  }

  public var id: PersistentIdentifier { persistentModelID }

  /// Whether a save of the object's context would write the object.
  public var hasChanges: Bool { successor?.hasChanges ?? has(_ModelFlags.pending) }

  /// Whether the next save of the object's context deletes the object.
  public var isDeleted: Bool { successor?.isDeleted ?? has(_ModelFlags.deleted) }

  public static func == (left: Self, right: Self) -> Bool {
    left === right || left.persistentModelID == right.persistentModelID
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(persistentModelID) }

  /// Tells Observation that a property is read; for computed properties of your own.
  public func access<Member>(keyPath: KeyPath<Self, Member>) {
    let state = _$statePointer
    guard state.pointee.has(_ModelFlags.observed) else { return }
    _observe(self, keyPath)
  }

  /// Tells Observation that a property changes; for computed properties of your own.
  public func withMutation<Member, Result>(
    keyPath: KeyPath<Self, Member>, _ mutation: () throws -> Result
  ) rethrows -> Result {
    guard let registrar = _$statePointer.pointee.extra?.registrar else { return try mutation() }
    return try registrar.withMutation(of: self, keyPath: keyPath, mutation)
  }
}

/// A collection of models that a to-many relationship can hold.
public protocol RelationshipCollection<PersistentElement> {
  associatedtype PersistentElement: PersistentModel
}

extension Array: RelationshipCollection where Element: PersistentModel {
  public typealias PersistentElement = Element
}
