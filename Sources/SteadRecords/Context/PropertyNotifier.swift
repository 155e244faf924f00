import Observation

/// Calls Observation with a key path whose types are only known at run time.
enum PropertyNotifier {
  static func notify(
    _ registrar: ObservationRegistrar, _ model: any PersistentModel, _ keyPath: AnyKeyPath,
    isBefore: Bool
  ) {
    func openRoot<Root: PersistentModel>(_ root: Root.Type) {
      guard let subject = model as? Root else { return }
      func openValue<Value>(_ value: Value.Type) {
        guard let path = keyPath as? KeyPath<Root, Value> else { return }
        if isBefore {
          registrar.willSet(subject, keyPath: path)
        } else {
          registrar.didSet(subject, keyPath: path)
        }
      }
      _openExistential(type(of: keyPath).valueType, do: openValue)
    }
    if let root = type(of: keyPath).rootType as? any PersistentModel.Type { openRoot(root) }
  }
}
