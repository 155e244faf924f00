extension Schema {
  /// A model class as the schema sees it: a name, its properties and its place among subclasses.
  ///
  /// The classes of a hierarchy share one table, with the name of the topmost one. Equal entities have the same name,
  /// superclass, properties, constraints and indexes.
  public final class Entity: Codable, Hashable {
    /// The class's unqualified name, which is also the table's if it has no superclass.
    public let name: String
    /// The name that the class had in an earlier version, or its name; nil for an entity made by hand, and one that an
    /// earlier version of this library recorded.
    package internal(set) var originalName: String?
    /// The properties that the class itself declares, in the order of their declaration.
    public internal(set) var properties: [any SchemaProperty]
    /// The properties of the superclasses, those of the topmost one first.
    public internal(set) var inheritedProperties: [any SchemaProperty] = []
    /// Names of properties whose combined values are unique: the lists of `#Unique`, then one for each `.unique`
    /// attribute. Those of superclasses are in their entities.
    public internal(set) var uniquenessConstraints: [[String]] = []
    /// Names of properties that are indexed together: the lists of `#Index`.
    public internal(set) var indices: [[String]] = []
    /// The superclass, if it is a model.
    ///
    /// Weak, since a superclass holds its subclasses. The schema holds all entities.
    public internal(set) weak var superentity: Entity?
    /// The superclass's name, which an encoded schema has in the place of ``superentity``.
    public internal(set) var superentityName: String?
    /// The direct subclasses.
    public internal(set) var subentities: Set<Entity> = []

    /// Creates an entity without properties, for a schema made by hand.
    public init(_ name: String) {
      self.name = name
      properties = []
    }

    /// Creates an entity with its properties, for a schema made by hand.
    public init(_ name: String, properties: any SchemaProperty...) {
      self.name = name
      self.properties = properties
    }

    /// Creates an entity, and makes it the superclass of others.
    public init(_ name: String, subentities: Entity..., properties: any SchemaProperty...) {
      self.name = name
      self.properties = properties
      self.subentities = Set(subentities)
      for entity in subentities {
        entity.superentity = self
        entity.superentityName = name
      }
    }

    init(_ name: String, list properties: [any SchemaProperty]) {
      self.name = name
      self.properties = properties
    }

    /// Inherited and own stored properties, in order of declaration; superclasses' first.
    ///
    /// Made at each call, as the collections below are: keep the result in a loop.
    public var storedProperties: [any SchemaProperty] {
      (inheritedProperties + properties).filter { !$0.isTransient }
    }
    /// ``storedProperties`` by their names.
    public var storedPropertiesByName: [String: any SchemaProperty] { byName(storedProperties) }
    /// ``inheritedProperties`` by their names.
    public var inheritedPropertiesByName: [String: any SchemaProperty] {
      byName(inheritedProperties)
    }
    /// The attributes among ``storedProperties``.
    public var attributes: Set<Attribute> { Set(storedProperties.compactMap { $0 as? Attribute }) }
    /// ``attributes`` by their names.
    public var attributesByName: [String: Attribute] {
      storedPropertiesByName.compactMapValues { $0 as? Attribute }
    }
    /// The relationships among ``storedProperties``.
    public var relationships: Set<Relationship> {
      Set(storedProperties.compactMap { $0 as? Relationship })
    }
    /// ``relationships`` by their names.
    public var relationshipsByName: [String: Relationship] {
      storedPropertiesByName.compactMapValues { $0 as? Relationship }
    }

    /// Of two properties with one name, the inherited one counts.
    private func byName(_ list: [any SchemaProperty]) -> [String: any SchemaProperty] {
      Dictionary(list.map { ($0.name, $0) }) { first, _ in first }
    }

    /// Whether all is equal that the store depends on. Default values, subclasses and the order of
    /// properties are not compared.
    public static func == (left: Entity, right: Entity) -> Bool {
      // Inherited properties are in both sets, so a change of a superclass makes its subclasses
      // differ, too.
      left === right
        || (left.name == right.name && left.superentityName == right.superentityName
          && left.attributes == right.attributes && left.relationships == right.relationships
          && left.uniquenessConstraints == right.uniquenessConstraints
          && left.indices == right.indices)
    }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    private enum CodingKeys: CodingKey {
      case name, attributes, relationships, inheritedAttributes, inheritedRelationships,
        uniquenessConstraints, indices, superentityName, originalName
    }

    /// Decodes an entity without its superclass and subclasses, which the schema sets.
    public init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      name = try container.decode(String.self, forKey: .name)
      // Attributes first: JSON has the two kinds in separate lists, so a decoded entity loses the
      // order between them.
      properties =
        try container.decode([Attribute].self, forKey: .attributes) as [any SchemaProperty]
        + container.decode([Relationship].self, forKey: .relationships)
      inheritedProperties =
        try container.decode([Attribute].self, forKey: .inheritedAttributes)
        as [any SchemaProperty]
        + container.decode([Relationship].self, forKey: .inheritedRelationships)
      uniquenessConstraints = try container.decode([[String]].self, forKey: .uniquenessConstraints)
      indices = try container.decode([[String]].self, forKey: .indices)
      // Absent for a class without a superclass.
      superentityName = try container.decodeIfPresent(String.self, forKey: .superentityName)
      originalName = try container.decodeIfPresent(String.self, forKey: .originalName)
    }

    /// Encodes the entity with copies of what it inherits, and its superclass by name.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(name, forKey: .name)
      try container.encode(properties.compactMap { $0 as? Attribute }, forKey: .attributes)
      try container.encode(properties.compactMap { $0 as? Relationship }, forKey: .relationships)
      try container.encode(
        inheritedProperties.compactMap { $0 as? Attribute }, forKey: .inheritedAttributes)
      try container.encode(
        inheritedProperties.compactMap { $0 as? Relationship }, forKey: .inheritedRelationships)
      try container.encode(uniquenessConstraints, forKey: .uniquenessConstraints)
      try container.encode(indices, forKey: .indices)
      try container.encodeIfPresent(superentityName, forKey: .superentityName)
      try container.encodeIfPresent(originalName, forKey: .originalName)
    }

    /// Restores the references between super- and subentities, which are encoded as names.
    static func link(_ entities: [Entity]) {
      let byName = Dictionary(entities.map { ($0.name, $0) }) { first, _ in first }
      for entity in entities {
        guard let name = entity.superentityName, let parent = byName[name] else { continue }
        // In a damaged description a class may be above itself, and what follows would never end.
        let above = sequence(first: parent) { $0.superentity }
        guard !above.contains(where: { $0 === entity }) else { continue }
        entity.superentity = parent
        parent.subentities.insert(entity)
      }
      // The superclass's own property objects, not equal copies: relationships are compared by identity.
      for entity in entities {
        let ancestors = sequence(first: entity.superentity) { $0?.superentity }.prefix { $0 != nil }
        entity.inheritedProperties = ancestors.reversed().flatMap { $0?.properties ?? [] }
      }
    }
  }
}

// MARK: - Hierarchies

extension Schema.Entity {
  /// The entity at the top of the hierarchy.
  var root: Schema.Entity { superentity?.root ?? self }
  /// Whether its rows share a table with other classes' rows.
  var isInHierarchy: Bool { superentity != nil || !subentities.isEmpty }
  /// The entity and all below it.
  var family: [Schema.Entity] { [self] + subentities.flatMap(\.family) }

  /// The entity, here or above, that declares a stored property.
  ///
  /// Names of join tables are made of it, so that all classes that inherit a relationship share one
  /// table.
  func declarer(of name: String) -> Schema.Entity {
    var current = self
    while let parent = current.superentity,
      parent.storedProperties.contains(where: { $0.name == name })
    {
      current = parent
    }
    return current
  }

  /// The sets of the superclasses, then its own.
  func allConstraints(_ path: KeyPath<Schema.Entity, [[String]]>) -> [[String]] {
    (superentity?.allConstraints(path) ?? []) + self[keyPath: path]
  }
}
