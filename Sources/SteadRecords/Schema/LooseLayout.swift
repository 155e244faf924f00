import Synchronization

/// The layouts of models that belong to no container: a class and all that its relationships reach.
///
/// Objects have inverses before they are inserted anywhere. A class's result is kept, so that asking again costs a lock
/// and a look-up. A subclass that nothing refers to is not known here.
enum LooseLayout {
  private struct Known {
    var byType: [ObjectIdentifier: StoreLayout?] = [:]
    /// Classes that reach each other share one layout.
    var byModels: [Set<ObjectIdentifier>: StoreLayout?] = [:]
  }

  private static let known = Mutex(Known())

  /// The layout of a class; nil when its models contradict each other, which a container reports.
  static func layout(for type: any PersistentModel.Type) -> StoreLayout? {
    let key = ObjectIdentifier(type)
    if let found = known.withLock({ $0.byType[key] }) { return found }
    var builder = SchemaBuilder()
    builder.add([type])
    let models = Set(builder.models.map { ObjectIdentifier($0.type) })
    let found = known.withLock { $0.byModels[models] }
    // Made outside the lock, since it runs code of the models. The first that was made is kept.
    let layout = found ?? (try? StoreLayout(schema: Schema([type])))
    return known.withLock { known in
      let first = known.byModels[models] ?? layout
      known.byModels[models] = .some(first)
      known.byType[key] = .some(first)
      return first
    }
  }
}
