public import Observation

/// A class whose objects are stored; `@Model` generates the conformance.
///
/// Objects belong to one context, and, like it, are not Sendable. Pass the object's ``persistentModelID`` to other
/// contexts and tasks. Before it is inserted, and after its deletion is saved, an object belongs to no context and is
/// an ordinary object.
///
/// Reading a property of an object whose row another context has changed, or of which a fetch left the property out,
/// reads the store. If that fails, `Stead.onProblem` gets a problem, and the object keeps its values.
///
/// A value that an initializer gives a relationship sets the other side, and inserts an object that so refers to one of
/// a context into that context. An initializer that throws or returns nil must not use an object after it has linked
/// it, since that object may then refer to one that was never created: the process ends with a message. In a class that
/// inherits from another class, the first values of its own relationships set the other sides when the object is
/// inserted.
///
/// ```swift
/// @Model final class Trip {
///   var name: String
///   @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []
///
///   init(name: String) { self.name = name }
/// }
/// ```
public protocol PersistentModel: AnyObject, Observable, Hashable, Identifiable, SendableMetatype {
  /// Creates an object with the values of a backing data.
  init(backingData: any BackingData<Self>)
  /// The object's values by key path.
  var persistentBackingData: any BackingData<Self> { get set }
  /// The class's description of its own stored properties.
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
  /// Binds all columns of the statement.
  func _$bind(_ row: _RowWriter)
  /// Hands the storage of one property to a visitor.
  func _$visit<Visitor: _SlotVisitor>(_ index: Int, _ visitor: inout Visitor)
}

extension PersistentModel {
  public static func _$make(_ row: _RowReader) -> Self { Self(_row: row) }

  /// The object's identity: equal in all contexts, temporary until the first save.
  ///
  /// The save replaces the temporary identifier with another value. Reads no disk.
  public var persistentModelID: PersistentIdentifier {
    // A save gave this object's row to another one. Both must be equal, and a fetch by identifier
    // finds that one.
    if let successor { return successor.persistentModelID }
    let state = _$statePointer
    // Allocated when it is first asked for. The save replaces it with the number of the row.
    if state.pointee.rowID == 0 { state.pointee.rowID = TemporaryRowID.next() }
    let row = state.pointee.rowID
    return state.pointee.home?.identifier(entity: Int(state.pointee.entity), row: row)
      // By the object's own class: `Self` is the superclass where the object is known by that.
      ?? PersistentIdentifier(
        reference: EntityReference.temporary(Schema.entityName(for: type(of: self))), row: row)
  }

  /// The object's ``persistentModelID``, for `Identifiable`. A property of the class with this name wins over it.
  public var id: PersistentIdentifier { persistentModelID }

  /// Whether a save of the object's context would insert, update or delete the object's row.
  ///
  /// False for an object without a context. Changes of transient and ephemeral properties don't count.
  ///
  /// ```swift
  /// saveButton.isEnabled = trip.hasChanges
  /// ```
  ///
  /// Setting an attribute to the value that it has counts as a change, too.
  public var hasChanges: Bool { successor?.hasChanges ?? has(_ModelFlags.pending) }

  /// Whether the next save of the object's context deletes the object.
  ///
  /// False again after that save: `modelContext` is nil then.
  ///
  /// ```swift
  /// context.delete(trip)
  /// trip.isDeleted        // true
  /// try context.save()
  /// trip.isDeleted        // false
  /// trip.modelContext     // nil
  /// ```
  public var isDeleted: Bool { successor?.isDeleted ?? has(_ModelFlags.deleted) }

  /// Whether both are one object, or objects of two contexts for one row. Values are not compared.
  public static func == (left: Self, right: Self) -> Bool {
    left === right || left.persistentModelID == right.persistentModelID
  }

  /// Hashes the identity. The first save gives a new object another hash: do not keep it in a set over that.
  ///
  /// An upsert changes the hash, too: an object whose row another object takes over has that
  /// object's identity from then on.
  public func hash(into hasher: inout Hasher) { hasher.combine(persistentModelID) }

  /// Notifies Observation that a property is read.
  ///
  /// ```swift
  /// @Transient private var cachedTitle: String?
  /// var title: String {
  ///   access(keyPath: \.title)
  ///   return cachedTitle ?? name
  /// }
  /// ```
  ///
  /// For your own computed properties: stored properties do it themselves. Costs one load and a
  /// branch while nothing is tracked.
  public func access<Member>(keyPath: KeyPath<Self, Member>) {
    let state = _$statePointer
    guard state.pointee.has(_ModelFlags.observed) else { return }
    _observe(self, keyPath)
  }

  /// Notifies Observation that a property changes during a closure; the counterpart of ``access(keyPath:)``.
  ///
  /// It marks nothing as changed for the save, which stored properties do themselves. Throws what the closure throws.
  public func withMutation<Member, Result>(
    keyPath: KeyPath<Self, Member>, _ mutation: () throws -> Result
  ) rethrows -> Result {
    // Only a tracked read makes a registrar, so without one there is no observer.
    guard let registrar = _$statePointer.pointee.extra?.registrar else { return try mutation() }
    return try registrar.withMutation(of: self, keyPath: keyPath, mutation)
  }
}

/// A collection of models that a to-many relationship can hold: an array.
public protocol RelationshipCollection<PersistentElement> {
  associatedtype PersistentElement: PersistentModel
}

extension Array: RelationshipCollection where Element: PersistentModel {
  public typealias PersistentElement = Element
}

// MARK: - Backing data

/// A model object's values by key path.
///
/// SwiftData's models keep their values in one. Here they are stored properties of the object, and a backing data is
/// made when it is asked for: use it to pass values to another object, not to read properties.
public protocol BackingData<Model> {
  associatedtype Model: PersistentModel

  /// Creates a backing data with a placeholder for each value.
  init(for type: Model.Type)

  /// The class's ``PersistentModel/schemaMetadata``.
  var metadata: Any { get }
  /// The identifier of the object that the values are of.
  var persistentModelID: PersistentIdentifier? { get set }

  /// The value of a property.
  func getValue<Value>(forKey key: KeyPath<Model, Value>) -> Value
  /// Sets a property; a property without a setter stays unchanged.
  mutating func setValue<Value>(forKey key: KeyPath<Model, Value>, to value: Value)
}

extension PersistentModel {
  /// Creates an object with the values of a backing data. It belongs to no context.
  ///
  /// ```swift
  /// let copy = Trip(backingData: trip.persistentBackingData)
  /// ```
  ///
  /// No initializer of the class runs. Default values are replaced by those of the backing data.
  public init(backingData: any BackingData<Self>) {
    self.init(_row: .empty)
    persistentBackingData = backingData
  }

  /// The object's values by key path.
  ///
  /// Assigning copies the stored form of every property, relationships included, without informing Observation or the
  /// other sides: it is for an object that belongs to no context yet. A backing data of a type of your own is ignored.
  public var persistentBackingData: any BackingData<Self> {
    get { ObjectBackingData(of: self) }
    set {
      // A foreign type has values by key path, and setting those would notify observers and change
      // inverses.
      guard let source = newValue as? ObjectBackingData<Self> else { return }
      for index in 0..<Self._$propertyCount {
        if let copy = source.object.copySlot(at: index) { restoreSlot(copy, at: index) }
        // An object that is changed in place, which each of the two needs for itself.
        updateTargets(at: index) { $0.delta = $0.delta?.copy() }
      }
    }
  }

  /// Creates a backing data with placeholders for all values.
  ///
  /// Costs an object of the class, which belongs to no context. No initializer of the class runs.
  public static func createBackingData<P: PersistentModel>() -> some BackingData<P> {
    ObjectBackingData<P>(for: P.self)
  }

  /// The value of a property.
  ///
  /// The same as reading the property by the key path. Here for code written for SwiftData.
  public func getValue<Value>(forKey key: KeyPath<Self, Value>) -> Value { self[keyPath: key] }

  /// Sets a property, as assigning it does: the change is tracked, and inverses follow. A property without a setter
  /// stays unchanged.
  ///
  /// ```swift
  /// trip.setValue(forKey: \.name, to: "Oslo")    // as trip.name = "Oslo"
  /// ```
  public func setValue<Value>(forKey key: KeyPath<Self, Value>, to value: Value) {
    if let writable = key as? ReferenceWritableKeyPath<Self, Value> {
      self[keyPath: writable] = value
    }
  }

  /// The value of a transformable property, for code written for SwiftData: the property itself has it.
  public func getTransformableValue<Value>(forKey key: KeyPath<Self, Value>) -> Value {
    self[keyPath: key]
  }

  /// Sets a transformable property, as assigning it does.
  public func setTransformableValue<Value>(forKey key: KeyPath<Self, Value>, to value: Value) {
    setValue(forKey: key, to: value)
  }
}

/// The values of a model object, read from and written to a separate object.
struct ObjectBackingData<Model: PersistentModel>: BackingData {
  let object: Model

  /// Made from a row without columns, so that no initializer of the app runs.
  init(for type: Model.Type) { object = Model(_row: .empty) }

  init(of object: Model) { self.object = object }

  var metadata: Any { Model.schemaMetadata }

  var persistentModelID: PersistentIdentifier? {
    get { object.persistentModelID }
    set {}
  }

  func getValue<Value>(forKey key: KeyPath<Model, Value>) -> Value { object[keyPath: key] }

  func setValue<Value>(forKey key: KeyPath<Model, Value>, to value: Value) {
    object.setValue(forKey: key, to: value)
  }
}
