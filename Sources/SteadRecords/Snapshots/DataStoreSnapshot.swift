import Foundation

/// The values of one object at one moment, as a context and a custom store exchange them.
///
/// The context reads a snapshot through its `encode(to:)`: a keyed container with a key for each property, by the
/// property's name. A to-one relationship is the destination's identifier or nil, a to-many one the array of
/// identifiers in the relationship's order. A missing attribute gets its default value or nil, and a missing
/// relationship stays as the other side has it.
///
/// A store that has no object format of its own uses ``DefaultSnapshot``. A snapshot type of your own reads values with
/// ``BackingData/getValue(forKey:)``:
///
/// ```swift
/// struct NoteSnapshot: DataStoreSnapshot {
///   let persistentIdentifier: PersistentIdentifier
///   let text: String
///
///   private static func text<B: BackingData>(of backing: B) -> String {
///     (\Note.text as? KeyPath<B.Model, String>).map { backing.getValue(forKey: $0) } ?? ""
///   }
///
///   init(
///     from backingData: any BackingData,
///     relatedBackingDatas: inout [PersistentIdentifier: any BackingData]
///   ) {
///     persistentIdentifier = backingData.persistentModelID!
///     text = Self.text(of: backingData)
///   }
/// }
/// ```
public protocol DataStoreSnapshot: Codable, Sendable {
  /// The object that the values are of. Temporary in a save's inserted objects.
  var persistentIdentifier: PersistentIdentifier { get }

  /// Takes the values of an object that is about to be saved.
  ///
  /// - Parameters:
  ///   - backingData: The object's values by key path.
  ///   - relatedBackingDatas: The objects of the same save, by their identifiers.
  init(
    from backingData: any BackingData,
    relatedBackingDatas: inout [PersistentIdentifier: any BackingData])

  /// The snapshot with another identifier, and with new identifiers in its relationships.
  ///
  /// - Parameters:
  ///   - persistentIdentifier: The identifier of the copy.
  ///   - remappedIdentifiers: The permanent identifiers by temporary ones; others stay. Nil changes no relationship.
  func copy(
    persistentIdentifier: PersistentIdentifier,
    remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]?
  ) -> Self
}

/// The form of a property's value in a snapshot.
public typealias DataStoreSnapshotValue = Codable & Sendable

/// The keys of an encoded snapshot.
public enum DataStoreSnapshotCodingKey: CodingKey, Hashable, Sendable {
  /// The object's identifier.
  case persistentIdentifier
  /// A property, by its name.
  case modeledProperty(String)

  /// The key of an encoded name.
  public init?(stringValue: String) {
    self =
      stringValue == "persistentIdentifier" ? .persistentIdentifier : .modeledProperty(stringValue)
  }

  /// Nil: the keys are names.
  public init?(intValue: Int) { return nil }

  /// The name of the property, or `persistentIdentifier`.
  public var stringValue: String {
    switch self {
    case .persistentIdentifier: "persistentIdentifier"
    case .modeledProperty(let name): name
    }
  }

  /// Nil: the keys are names.
  public var intValue: Int? { nil }
}

// MARK: - The package's own snapshot

/// A snapshot for stores that have no object format of their own.
///
/// It is encoded as a keyed container: `persistentIdentifier`, and each property under its name. Decoding asks the
/// model's class for the properties' types, so a ``Schema`` with the class must have been made before.
public struct DefaultSnapshot: DataStoreSnapshot, @unchecked Sendable {
  // Sendable: values are of types whose copies are independent, or were copied by encoding them, so that only the
  // snapshot holds them; and they are only read.
  /// The object that the values are of.
  public let persistentIdentifier: PersistentIdentifier
  private var values: [String: Value] = [:]

  /// A property's value in the form in which it is encoded.
  private enum Value {
    case none
    case attribute(any Codable)
    case one(PersistentIdentifier)
    case many([PersistentIdentifier])
    /// The value cannot be encoded. The error is thrown when the snapshot is: an initializer of the protocol cannot
    /// throw.
    case failed(SwiftDataError)
  }

  /// Takes all values of an object. One that cannot be encoded makes ``encode(to:)`` throw.
  public init(
    from backingData: any BackingData,
    relatedBackingDatas: inout [PersistentIdentifier: any BackingData]
  ) {
    self.init(of: backingData)
  }

  /// Takes all properties of the object's own class, which may be a subclass of the backing data's model.
  private init<B: BackingData>(of backing: B) {
    // A superclass's backing data may hold an object of a subclass, which has more properties.
    let object = (backing as? ObjectBackingData<B.Model>)?.object
    let type: any PersistentModel.Type = object.map { Swift.type(of: $0) } ?? B.Model.self
    persistentIdentifier =
      backing.persistentModelID
      ?? PersistentIdentifier(
        reference: .temporary(ModelMetadata.name(of: type)), row: TemporaryRowID.next())
    for property in ModelMetadata.of(type).all {
      values[property.name] = Self.value(of: property, backing)
    }
  }

  // MARK: - Values

  /// A property's value from backing data.
  private static func value<B: BackingData>(
    of property: ModelMetadata.Property, _ backing: B
  ) -> Value {
    guard let value = read(property, backing) else { return .none }
    // A relationship is kept as identifiers: a snapshot is Sendable, and objects are not.
    if property.shape.model == nil { return attribute(value, property) }
    if let model = value as? any PersistentModel {
      // No row has the identifier of a deleted one.
      return model.has(_ModelFlags.missing) ? .none : .one(model.persistentModelID)
    }
    guard let models = value as? [any PersistentModel] else { return .none }
    return .many(models.map(\.persistentModelID))
  }

  /// A property's value in a box; nil for nil.
  private static func read<B: BackingData>(
    _ property: ModelMetadata.Property, _ backing: B
  ) -> Any? {
    func value<V>(_ type: V.Type) -> Any? {
      (property.keyPath as? KeyPath<B.Model, V>).map { backing.getValue(forKey: $0) }
    }
    // The path to an inherited property is one of the superclass.
    let object = (backing as? ObjectBackingData<B.Model>)?.object
    // By the object where there is one: `getValue` of the backing data takes key paths of its own
    // model alone.
    let found =
      object.flatMap { $0[keyPath: property.keyPath] }
      ?? _openExistential(property.valueType, do: value)
    if let optional = found as? any OptionalValue { return optional.wrapped }
    return found
  }

  /// An attribute's value: transformed, or copied if it might share an object with the model.
  private static func attribute(_ value: Any, _ property: ModelMetadata.Property) -> Value {
    if let name = property.transformerName {
      guard let data = AttributeTransformers.transformer(named: name)?.storedData(of: value) else {
        return .failed(problem(property, nil))
      }
      return .attribute(data)
    }
    guard let value = value as? any Codable else { return .none }
    let type = property.shape.wrapped
    // Values of these types are copied by assignment. Any other may hold a class, which the app
    // could change later.
    if type is any _AttributeValue.Type || type is any RawRepresentable.Type {
      return .attribute(value)
    }
    do {
      return .attribute(try copy(value))
    } catch {
      return .failed(problem(property, error))
    }
  }

  /// The error for a value that cannot be encoded.
  private static func problem(
    _ property: ModelMetadata.Property, _ cause: (any Error)?
  ) -> SwiftDataError {
    SwiftDataError(
      .modelValidationFailure,
      "The value of \(property.name) cannot be encoded, so its object cannot be saved. Give it a value that can be encoded.",
      cause: cause)
  }

  /// A copy that shares no object with the value.
  private static func copy<V: Codable>(_ value: V) throws -> any Codable {
    try SnapshotCoding.convert(value, to: V.self) ?? value
  }

  /// The snapshot with another identifier, and with new identifiers in its relationships.
  ///
  /// ```swift
  /// let saved = snapshot.copy(persistentIdentifier: permanent, remappedIdentifiers: remapped)
  /// ```
  ///
  /// The values are shared, and not copied. An identifier without an entry in the dictionary stays
  /// as it is.
  public func copy(
    persistentIdentifier: PersistentIdentifier,
    remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]? = nil
  ) -> DefaultSnapshot {
    var copy = DefaultSnapshot(persistentIdentifier: persistentIdentifier, values: values)
    // Without new identifiers the relationships stay, so the dictionary is shared and not copied.
    guard let new = remappedIdentifiers, !new.isEmpty else { return copy }
    for (name, value) in values {
      switch value {
      case .none, .attribute, .failed: break
      case .one(let identifier): copy.values[name] = .one(new[identifier] ?? identifier)
      case .many(let identifiers): copy.values[name] = .many(identifiers.map { new[$0] ?? $0 })
      }
    }
    return copy
  }

  /// A snapshot of values.
  private init(persistentIdentifier: PersistentIdentifier, values: [String: Value]) {
    self.persistentIdentifier = persistentIdentifier
    self.values = values
  }

  // MARK: - Coding

  /// Encodes the identifier and each property under its name.
  ///
  /// - Throws: ``SwiftDataError/modelValidationFailure`` for a value that cannot be encoded.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: DataStoreSnapshotCodingKey.self)
    try container.encode(persistentIdentifier, forKey: .persistentIdentifier)
    for (name, value) in values {
      let key = DataStoreSnapshotCodingKey.modeledProperty(name)
      switch value {
      case .none: try container.encodeNil(forKey: key)
      case .failed(let error): throw error
      case .attribute(let value): try container.encode(value, forKey: key)
      case .one(let identifier): try container.encode(identifier, forKey: key)
      case .many(let identifiers): try container.encode(identifiers, forKey: key)
      }
    }
  }

  /// Decodes the properties that the class has now; others are left out, and missing ones stay missing.
  ///
  /// An attribute of another type than the class's is kept undecoded, so that a store can rewrite the object.
  ///
  /// - Throws: ``SwiftDataError/unknownModel`` if no schema with the class was made before.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: DataStoreSnapshotCodingKey.self)
    persistentIdentifier = try container.decode(
      PersistentIdentifier.self, forKey: .persistentIdentifier)
    guard let type = SnapshotCoding.model(named: persistentIdentifier.entityName, decoder) else {
      throw SwiftDataError(
        .unknownModel,
        "No model is named \(persistentIdentifier.entityName). Make a Schema with it before its snapshots are "
          + "decoded.")
    }
    for property in ModelMetadata.of(type).all {
      let key = DataStoreSnapshotCodingKey.modeledProperty(property.name)
      // Missing, and not nil: whoever reads the snapshot decides what a missing value is.
      guard container.contains(key) else { continue }
      values[property.name] = try Self.value(of: property, container, key)
    }
  }

  /// Decodes a property's value. One of another type is kept as it is, so that whoever needs it finds out, and a
  /// store can still rewrite the object.
  private static func value(
    of property: ModelMetadata.Property,
    _ container: KeyedDecodingContainer<DataStoreSnapshotCodingKey>,
    _ key: DataStoreSnapshotCodingKey
  ) throws -> Value {
    if try container.decodeNil(forKey: key) { return .none }
    if property.shape.isToMany {
      return .many(try container.decode([PersistentIdentifier].self, forKey: key))
    }
    if property.shape.model != nil {
      return .one(try container.decode(PersistentIdentifier.self, forKey: key))
    }
    // Data, and not the property's type: the transformer runs when the value is used.
    if property.transformerName != nil {
      return .attribute(try container.decode(Data.self, forKey: key))
    }
    guard let type = property.shape.wrapped as? any Codable.Type else { return .none }
    func decode<V: Codable>(_ type: V.Type) throws -> any Codable {
      try container.decode(type, forKey: key)
    }
    do {
      return .attribute(try decode(type))
    } catch {
      // It stays as it is. Whoever needs the value finds out that it is of another type. Any error, since Foundation
      // throws one of its own for a number that does not fit, and a type's own code may throw what it likes.
      return .attribute(try container.decode(SnapshotTree.self, forKey: key))
    }
  }

  /// Adds what a snapshot of an earlier version of the model lacks: properties and fields of structs whose default
  /// values are made for each object. Without that each read would make another one.
  ///
  /// - Returns: The names of the properties that were added or completed.
  mutating func complete(from defaults: PropertyDefaults, in schema: Schema) -> [String] {
    let name = persistentIdentifier.entityName
    guard let type = SnapshotCoding.model(named: name, in: schema) else { return [] }
    var names: [String] = []
    for property in ModelMetadata.of(type).all {
      guard property.shape.model == nil, property.transformerName == nil else { continue }
      guard let value = added(to: property, of: type, defaults) else { continue }
      values[property.name] = .attribute(value)
      names.append(property.name)
    }
    return names
  }

  /// What is to be added to a property; nil if nothing.
  private func added(
    to property: ModelMetadata.Property, of type: any PersistentModel.Type,
    _ defaults: PropertyDefaults
  ) -> (any Codable)? {
    let encoding = property.shape.encoding
    func next() -> (value: Any, isOwn: Bool)? {
      defaults.next(of: property.name, encoding, property.defaultValue, in: type)
    }
    // Nil stays nil, and a value of the right type has no fields to add: only what is missing, or was kept undecoded,
    // can be completed.
    switch values[property.name] {
    case .attribute(let tree as SnapshotTree)?:
      guard let fields = next().flatMap({ ValueReader.fields(ofDefault: $0.value) }),
        let whole = try? SnapshotCoding.completed(
          tree, as: property.shape.wrapped, from: fields)
      else { return nil }
      // Not as the type, so that fields which the type lacks stay.
      return try? SnapshotCoding.decoder.decode(SnapshotTree.self, from: whole)
    case nil:
      guard let next = next(), next.isOwn else { return nil }
      return ((next.value as? any OptionalValue)?.wrapped ?? next.value) as? any Codable
    default: return nil
    }
  }
}
