/// The values of a model object, read from and written to a separate object.
struct ObjectBackingData<Model: PersistentModel>: BackingData {
  let object: Model

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
