/// How a schema lies in a store's tables. Immutable, made once per container.
final class StoreLayout: @unchecked Sendable {
  // Sendable: all stored properties are immutable after init, and the cache of traced key paths in
  // `EntityLayout` has its own lock.
  let schema: Schema
  let entities: [EntityLayout]
  /// For each root entity, the relationships that lead to its hierarchy and have no inverse.
  let oneWay: [[OneWayRelationship]]
  private let byType: [ObjectIdentifier: EntityLayout]
  private let byName: [String: EntityLayout]

  init(schema: Schema) throws {
    self.schema = schema
    try InverseFinder(schema.entities).resolve()
    let entities = try StoreLayoutBuilder(schema: schema).build()
    self.entities = entities
    oneWay = OneWayRelationship.byDestination(entities)
    byType = Dictionary(uniqueKeysWithValues: entities.map { (ObjectIdentifier($0.type), $0) })
    byName = Dictionary(uniqueKeysWithValues: entities.map { ($0.name, $0) })
  }

  func entity(for type: any PersistentModel.Type) -> EntityLayout? {
    byType[ObjectIdentifier(type)]
  }

  func entity(named name: String) -> EntityLayout? { byName[name] }

  /// The entity with this discriminator in the hierarchy of `root`.
  func entity(discriminator: Int, root: Int) -> EntityLayout? {
    guard entities.indices.contains(discriminator - 1) else { return nil }
    let entity = entities[discriminator - 1]
    return entity.rootIndex == root ? entity : nil
  }
}

/// A relationship whose destination does not know of it, so that nothing tells it of a deletion.
struct OneWayRelationship: Sendable {
  let entity: Int
  let property: Int

  static func byDestination(_ entities: [EntityLayout]) -> [[OneWayRelationship]] {
    var result: [[OneWayRelationship]] = Array(repeating: [], count: entities.count)
    for entity in entities {
      for index in entity.relationships {
        let property = entity.properties[index]
        guard property.relationship?.inverse == nil, let destination = property.destination else {
          continue
        }
        result[entities[destination].rootIndex].append(
          OneWayRelationship(entity: entity.index, property: index))
      }
    }
    return result
  }
}

/// One model class and its table.
final class EntityLayout: @unchecked Sendable {
  // Sendable: everything is immutable after init, except the cache, which has its own lock.
  let index: Int
  let name: String
  let type: any PersistentModel.Type
  /// The table of the hierarchy's root, unquoted.
  let table: String
  let rootIndex: Int
  /// The value of column `_entity`, when the class is part of a hierarchy.
  let discriminator: Int?
  /// The discriminators of the class and all its subclasses; empty outside hierarchies.
  let familyDiscriminators: [Int]
  /// Inherited properties first; a property's place is its index.
  let properties: [PropertyLayout]
  let propertyByKeyPath: [AnyKeyPath: Int]
  /// Indices of the properties of each uniqueness constraint.
  let uniqueConstraints: [[Int]]
  /// Indices of the properties of each index.
  let indices: [[Int]]
  /// Indices of properties with full-text search.
  let searchable: [Int]
  /// Indices of relationships.
  let relationships: [Int]
  /// Indices of to-many relationships that lie in join tables.
  let joined: [Int]
  private let byName: [String: Int]
  let traced = TracedKeyPaths()

  init(_ parts: Parts) {
    index = parts.index
    name = parts.name
    type = parts.type
    table = parts.table
    rootIndex = parts.rootIndex
    discriminator = parts.discriminator
    familyDiscriminators = parts.familyDiscriminators
    properties = parts.properties
    propertyByKeyPath = parts.keyPaths
    byName = Dictionary(uniqueKeysWithValues: parts.properties.map { ($0.name, $0.index) })
    let names = byName
    uniqueConstraints = parts.uniqueness.map { $0.compactMap { names[$0] } }.filter { !$0.isEmpty }
    indices = parts.indexed.map { $0.compactMap { names[$0] } }.filter { !$0.isEmpty }
    searchable = parts.properties.filter { $0.isSearchable }.map(\.index)
    relationships = parts.properties.filter { $0.destination != nil }.map(\.index)
    joined = parts.properties.filter { $0.joinTable != nil }.map(\.index)
  }

  /// An object of the class or of a subclass, known to be one, as a model.
  ///
  /// A cast would look the conformance up at run time, which costs more than loading a column.
  func model(_ object: AnyObject) -> any PersistentModel {
    func downcast<M: PersistentModel>(_ type: M.Type) -> any PersistentModel {
      assert(object is M)
      return unsafeDowncast(object, to: type)
    }
    return _openExistential(type, do: downcast)
  }

  func property(named name: String) -> PropertyLayout? { byName[name].map { properties[$0] } }

  struct Parts {
    var index: Int
    var name: String
    var type: any PersistentModel.Type
    var table: String
    var rootIndex: Int
    var discriminator: Int?
    var familyDiscriminators: [Int]
    var properties: [PropertyLayout]
    var keyPaths: [AnyKeyPath: Int]
    var uniqueness: [[String]]
    var indexed: [[String]]
  }
}

/// One stored property and its column.
struct PropertyLayout: @unchecked Sendable {
  // Sendable: a value of immutable parts; `defaultValue` is only read.
  let index: Int
  let name: String
  let originalName: String
  let keyPath: AnyKeyPath?
  /// The column's name, unquoted; nil for a to-many relationship.
  let column: String?
  let kind: Kind
  let isOptional: Bool
  let valueType: any Any.Type
  let defaultValue: Any?
  let isUnique: Bool
  let isSearchable: Bool
  let isEphemeral: Bool
  let transformerName: String?
  let relationship: RelationshipLayout?

  enum Kind: Sendable {
    case attribute(ColumnEncoding)
    case toOne(destination: Int)
    case toMany(ToManyStorage, destination: Int)
  }

  var destination: Int? {
    switch kind {
    case .attribute: nil
    case .toOne(let destination), .toMany(_, let destination): destination
    }
  }

  var isToMany: Bool { if case .toMany = kind { true } else { false } }

  var joinTable: JoinTable? {
    if case .toMany(.join(let table, let owner, let target), _) = kind {
      JoinTable(name: table, owner: owner, target: target)
    } else {
      nil
    }
  }
}

struct RelationshipLayout: Sendable {
  let deleteRule: Schema.Relationship.DeleteRule
  let minimum: Int
  let maximum: Int
  /// The index of the inverse in the destination's properties.
  let inverse: Int?
}

struct JoinTable: Hashable, Sendable {
  let name: String
  let owner: String
  let target: String
}

/// Where a to-many relationship lies.
enum ToManyStorage: Sendable {
  /// In the column of the destination's to-one property with this index.
  case inverse(toOneProperty: Int)
  /// In a table of pairs.
  case join(table: String, owner: String, target: String)
}
