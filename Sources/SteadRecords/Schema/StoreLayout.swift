/// How a schema lies in a store's tables. Immutable, made once per container.
final class StoreLayout: @unchecked Sendable {
  // Sendable: all stored properties are immutable after init, and the cache of traced key paths in
  // `EntityLayout` has its own lock.
  let schema: Schema
  let entities: [EntityLayout]
  /// For each root entity, the relationships that lead to its hierarchy and have no inverse.
  let oneWay: [[OneWayRelationship]]
  /// For each root entity, the relationships that lead to its hierarchy and that its rule leaves as they
  /// are when an object is deleted.
  let danglingReferences: [[OneWayRelationship]]
  private let byType: [ObjectIdentifier: EntityLayout]
  private let byName: [String: EntityLayout]

  init(schema: Schema) throws {
    self.schema = schema
    try schema.findings.check()
    let entities = try StoreLayoutBuilder(schema: schema).build()
    self.entities = entities
    oneWay = OneWayRelationship.byDestination(entities) { property in
      property.relationship?.inverse == nil
    }
    danglingReferences = OneWayRelationship.byDestination(entities) { property in
      property.inverses(in: entities).contains { $0.relationship?.deleteRule == .noAction }
    }
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

  static func byDestination(
    _ entities: [EntityLayout], where isWanted: (PropertyLayout) -> Bool
  ) -> [[OneWayRelationship]] {
    var result: [[OneWayRelationship]] = Array(repeating: [], count: entities.count)
    for entity in entities {
      for index in entity.relationships {
        let property = entity.properties[index]
        guard let destination = property.destination, isWanted(property) else { continue }
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
  /// The names that reading and writing its rows needs.
  let labels: RowLabels
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
    labels = RowLabels(
      entity: parts.name, properties: parts.properties.map(\.name),
      transformers: parts.properties.map(\.transformerName))
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

/// One stored property and its column. A class, since it is looked at with each change of a relationship,
/// where the copy of a value would count many references.
final class PropertyLayout: @unchecked Sendable {
  // Sendable: all parts are immutable; `defaultValue` is only read.
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
  /// The column, unquoted, that says in which of a to-one relationship's `lists` the object is: NULL
  /// or 0 for the first, else the list's number. nil unless several lists lie in the same column.
  let listColumn: String?

  init(
    index: Int, name: String, originalName: String, keyPath: AnyKeyPath?, column: String?,
    kind: Kind, isOptional: Bool, valueType: any Any.Type, defaultValue: Any?, isUnique: Bool,
    isSearchable: Bool, isEphemeral: Bool, transformerName: String?,
    relationship: RelationshipLayout?, listColumn: String? = nil
  ) {
    self.index = index
    self.name = name
    self.originalName = originalName
    self.keyPath = keyPath
    self.column = column
    self.kind = kind
    self.isOptional = isOptional
    self.valueType = valueType
    self.defaultValue = defaultValue
    self.isUnique = isUnique
    self.isSearchable = isSearchable
    self.isEphemeral = isEphemeral
    self.transformerName = transformerName
    self.relationship = relationship
    self.listColumn = listColumn
  }

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

  /// The number of the list that an object is in when nothing else is said.
  var firstList: Int { relationship?.lists.first?.number ?? 0 }

  /// The properties of the destination that lead back: several where they share this one as inverse.
  func inverses(in entities: [EntityLayout]) -> [PropertyLayout] {
    guard let destination, let relationship else { return [] }
    let indices =
      relationship.lists.isEmpty
      ? relationship.inverse.map { [$0] } ?? [] : relationship.lists.map(\.property)
    return indices.map { entities[destination].properties[$0] }
  }

  /// Whether a deletion may leave a reference in the column to a row that is not there any more.
  func mayBeLeft(in entities: [EntityLayout]) -> Bool {
    inverses(in: entities).contains { $0.relationship?.deleteRule == .noAction }
  }

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
  /// The index of the inverse in the destination's properties. Where several share this to-one
  /// relationship as their inverse, it is the first that the object can be in.
  let inverse: Int?
  /// Of a to-one relationship that several name as their inverse: all of them that objects of the
  /// class can be in, in the order of their declaration. An object is in one of them at a time.
  var lists: [SharedList] = []
  /// The relationship's number among those that share its inverse; nil where it shares none.
  var list: Int?
}

/// One of several relationships that name the same to-one relationship as their inverse.
struct SharedList: Hashable, Sendable {
  /// Its index in the properties of the to-one's destination.
  let property: Int
  /// Its place in the order of declaration, from 0: what the to-one's `listColumn` holds.
  let number: Int
}

struct JoinTable: Hashable, Sendable {
  let name: String
  let owner: String
  let target: String
}

/// Where a to-many relationship lies.
enum ToManyStorage: Sendable {
  /// In the column of the destination's to-one property with this index. Where that property has a
  /// `listColumn`, this column holds the `list` of the relationship.
  case inverse(toOneProperty: Int)
  /// In a table of pairs.
  case join(table: String, owner: String, target: String)
}
