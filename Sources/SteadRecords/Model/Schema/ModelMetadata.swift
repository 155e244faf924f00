import Synchronization

/// A model class's description of itself: what `@Model` writes, read once in a process and kept.
final class ModelMetadata: @unchecked Sendable {
  // Sendable: immutable after init; key paths, types and default values are only read, and schema
  // properties are copied before a schema fills them in.
  /// One stored property, as the class describes it.
  struct Property {
    let name: String
    let keyPath: AnyKeyPath
    /// What its type means for storage.
    let shape: PropertyShape
    /// The options given in the source.
    let options: (any SchemaProperty)?
    let defaultValue: Any?

    var transformerName: String? { (options as? Schema.Attribute)?.transformerName }
  }

  let type: any PersistentModel.Type
  let name: String
  /// The superclass's metadata, if the superclass is a model.
  let parent: ModelMetadata?
  /// The stored properties that the class itself declares.
  let properties: [Property]
  /// The sets of `#Unique` and `#Index`.
  let constraints: [any ConstraintProperty]
  /// The indices of ``properties`` by their key paths.
  private let byKeyPath: [AnyKeyPath: Int]
  /// The class's own key paths to its inherited properties, in order; empty if it does not list them.
  private let inherited: [AnyKeyPath]

  /// Entries stay for the life of the process, as the classes do.
  private static let cache = Mutex<[ObjectIdentifier: ModelMetadata]>([:])

  /// The classes that a schema has named, by type.
  private static let models = Mutex<[ObjectIdentifier: any PersistentModel.Type]>([:])

  /// The last registered model of each name.
  private static let named = Mutex<[String: any PersistentModel.Type]>([:])

  /// Registers models, so that a property of their types is recognised by a look-up: a cast to a protocol would search
  /// all conformances of the program.
  static func register(_ types: [any PersistentModel.Type]) {
    models.withLock { models in
      for type in types { models[ObjectIdentifier(type)] = type }
    }
  }

  /// Registers models by their names; of several with one name the last counts.
  static func registerNames(_ models: [ModelMetadata]) {
    named.withLock { named in for model in models { named[model.name] = model.type } }
  }

  /// The last model of a name that was part of a schema.
  static func model(named name: String) -> (any PersistentModel.Type)? {
    named.withLock { $0[name] }
  }

  /// A type as a model class; nil if it isn't one.
  static func model(_ type: any Any.Type) -> (any PersistentModel.Type)? {
    // A class that no schema has named yet, such as one that only a relationship reaches, is cast.
    if let model = models.withLock({ $0[ObjectIdentifier(type)] }) { return model }
    return type as? any PersistentModel.Type
  }

  /// The metadata of a class, made with the first call.
  static func of(_ type: any PersistentModel.Type) -> ModelMetadata {
    let key = ObjectIdentifier(type)
    if let metadata = cache.withLock({ $0[key] }) { return metadata }
    // Made outside the lock: a default value is the app's code, and may open a container itself.
    let metadata = ModelMetadata(type)
    return cache.withLock { cache in
      // Another thread was quicker. All callers must get one object: metadata is compared by
      // identity.
      if let first = cache[key] { return first }
      cache[key] = metadata
      return metadata
    }
  }

  private init(_ type: any PersistentModel.Type) {
    self.type = type
    name = Self.name(of: type)
    parent = type._$supermodel.map { Self.of($0) }
    // Evaluates the default values of all properties, which is one reason to keep the result.
    let metadata = type.schemaMetadata
    properties = metadata.filter(\.isStored).map { Property($0) }
    constraints = metadata.compactMap { $0.metadata as? any ConstraintProperty }
    byKeyPath = Dictionary(properties.enumerated().map { ($1.keyPath, $0) }) { first, _ in first }
    let paths = metadata.first { $0.name == Schema.PropertyMetadata.inheritedName }
    inherited = paths?.defaultValue as? [AnyKeyPath] ?? []
  }

  /// Metadata under a name of one's own, without constraints and key paths of subclasses.
  init(_ type: any PersistentModel.Type, name: String, properties: [Property]) {
    self.type = type
    self.name = name
    parent = nil
    self.properties = properties
    constraints = []
    byKeyPath = [:]
    inherited = []
  }

  /// The name under which a class is stored.
  static func name(of type: any PersistentModel.Type) -> String {
    func open<T: PersistentModel>(_ type: T.Type) -> String { Schema.entityName(for: type) }
    return open(type)
  }

  /// The stored property that a key path reads, inherited or not.
  ///
  /// A subclass's path to an inherited property equals no path of the superclass. If the class does not list it, the
  /// path is read on an object that records reads. It must also lead both ways, as a stored property's does: a computed
  /// property may read a stored one.
  func property(at keyPath: AnyKeyPath) -> Property? {
    if let found = listed(at: keyPath) { return found }
    guard parent != nil, Swift.type(of: keyPath).rootType == type, let found = read(by: keyPath),
      Swift.type(of: keyPath).valueType == found.valueType,
      // A computed property without a setter, which reads a stored `var`, has a path that cannot
      // write.
      keyPath is any WritablePath == found.keyPath is any WritablePath
    else { return nil }
    return found
  }

  /// The property of a key path that the class, or a superclass, lists.
  private func listed(at keyPath: AnyKeyPath) -> Property? {
    if let index = byKeyPath[keyPath] { return properties[index] }
    if let index = inherited.firstIndex(of: keyPath) { return all[index] }
    return parent?.listed(at: keyPath)
  }

  /// The first stored property that reading a key path reads, found by reading it on a probe.
  func read(by keyPath: AnyKeyPath) -> Property? {
    TracedKeyPaths.read(keyPath, on: type).flatMap { all.indices.contains($0) ? all[$0] : nil }
  }

  /// Inherited and own properties.
  var all: [Property] { (parent?.all ?? []) + properties }

  /// The key paths of ``all`` as paths of this class; an inherited one is the superclass's where the class does
  /// not list its own.
  var keyPaths: [AnyKeyPath] {
    let all = all
    return all.enumerated().map { inherited.indices.contains($0) ? inherited[$0] : $1.keyPath }
  }
}

extension ModelMetadata.Property {
  fileprivate init(_ metadata: Schema.PropertyMetadata) {
    name = metadata.name
    keyPath = metadata.keypath
    shape = PropertyShape(metadata.valueType)
    options = metadata.metadata
    defaultValue = metadata.defaultValue
  }
}

/// Key paths that a value can be set by.
private protocol WritablePath {}
extension ReferenceWritableKeyPath: WritablePath {}

// MARK: - Key paths that the metadata does not list

/// A cache of key paths that the metadata does not list, with the properties that they read.
///
/// In generic code `\\T.name` differs from the key path `\\Task.name`, and so does a subclass's path to an inherited
/// property. Reading it on an object that only records reads shows which property it is.
final class TracedKeyPaths: Sendable {
  private struct Known: @unchecked Sendable {
    // Sendable: key paths are immutable, and these hold no captured values.
    var indices: [AnyKeyPath: Int?] = [:]
  }

  private let known = Mutex(Known())

  /// The index of the property that a key path reads first, read once and then remembered; nil if
  /// it reads none.
  func index(of keyPath: AnyKeyPath, on type: any PersistentModel.Type) -> Int? {
    // A key path of unknown parts cannot be sent into the lock's closure; it is only compared.
    nonisolated(unsafe) let keyPath = keyPath
    if let index = known.withLock({ $0.indices[keyPath] }) { return index }
    // Outside the lock: the getter of a computed property is the app's code. Two threads may both
    // find out, with one result.
    let index = Self.read(keyPath, on: type)
    known.withLock { $0.indices[keyPath] = .some(index) }
    return index
  }

  /// The index of the first stored property that reading a key path reads.
  static func read(_ keyPath: AnyKeyPath, on type: any PersistentModel.Type) -> Int? {
    // An object of no context, so the app's getter can touch no store through it.
    let probe = type.init(_row: .empty)
    probe._$statePointer.pointee.set(_ModelFlags.probe)
    let subject: Any = probe
    _ = subject[keyPath: keyPath]
    return probe._$statePointer.pointee.extra?.probed
  }
}
