/// A model object's values by key path.
public protocol BackingData<Model> {
  associatedtype Model: PersistentModel

  init(for type: Model.Type)

  var metadata: Any { get }
  var persistentModelID: PersistentIdentifier? { get set }

  func getValue<Value>(forKey key: KeyPath<Model, Value>) -> Value
  mutating func setValue<Value>(forKey key: KeyPath<Model, Value>, to value: Value)
}

extension PersistentModel {
  /// Creates an object with the values of a backing data.
  public init(backingData: any BackingData<Self>) {
    self.init(_row: .empty)
    persistentBackingData = backingData
  }

  /// The object's values by key path; assigning copies every value.
  public var persistentBackingData: any BackingData<Self> {
    get { ObjectBackingData(of: self) }
    set {
      guard let source = newValue as? ObjectBackingData<Self> else { return }
      for index in 0..<Self._$propertyCount {
        if let copy = source.object.copySlot(at: index) { restoreSlot(copy, at: index) }
      }
    }
  }

  /// Creates a backing data with placeholders for all values.
  public static func createBackingData<P: PersistentModel>() -> some BackingData<P> {
    ObjectBackingData<P>(for: P.self)
  }

  /// The value of a property.
  public func getValue<Value>(forKey key: KeyPath<Self, Value>) -> Value { self[keyPath: key] }

  /// Sets a property; a property without a setter stays unchanged.
  public func setValue<Value>(forKey key: KeyPath<Self, Value>, to value: Value) {
    if let writable = key as? ReferenceWritableKeyPath<Self, Value> {
      self[keyPath: writable] = value
    }
  }

  /// The value of a transformable property.
  public func getTransformableValue<Value>(forKey key: KeyPath<Self, Value>) -> Value {
    self[keyPath: key]
  }

  /// Sets a transformable property.
  public func setTransformableValue<Value>(forKey key: KeyPath<Self, Value>, to value: Value) {
    setValue(forKey: key, to: value)
  }
}
