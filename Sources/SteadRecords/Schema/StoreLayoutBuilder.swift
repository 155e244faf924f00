/// Gives every entity its table and every property its column.
struct StoreLayoutBuilder {
  private let schema: Schema
  private let types: [any PersistentModel.Type]
  private let indexByName: [String: Int]
  private let entities: [Schema.Entity]

  init(schema: Schema) throws {
    self.schema = schema
    // By name, so that an entity's index, and with it its discriminator, depends on the schema alone.
    types = schema.types.sorted { Self.name($0) < Self.name($1) }
    var indices: [String: Int] = [:]
    for (index, type) in types.enumerated() {
      guard indices.updateValue(index, forKey: Self.name(type)) == nil else {
        throw InverseFinder.Problem(
          message: "Two models of the schema are named \(Self.name(type)). A container's models "
            + "need different names; put the older one into a VersionedSchema of its own.")
      }
    }
    indexByName = indices
    entities = types.compactMap { schema.entitiesByName[Self.name($0)] }
  }

  private static func name(_ type: any PersistentModel.Type) -> String {
    func open<T: PersistentModel>(_ type: T.Type) -> String { Schema.entityName(for: type) }
    return open(type)
  }

  func build() throws -> [EntityLayout] {
    try entities.indices.map { try layout($0) }
  }

  private func root(of entity: Schema.Entity) -> Schema.Entity {
    var current = entity
    while let parent = current.superentity { current = parent }
    return current
  }

  private func family(of entity: Schema.Entity) -> [Int] {
    guard let index = indexByName[entity.name] else { return [] }
    return [index + 1] + entity.subentities.flatMap { family(of: $0) }.sorted()
  }

  private func layout(_ index: Int) throws -> EntityLayout {
    let entity = entities[index]
    let root = root(of: entity)
    let rootIndex = indexByName[root.name] ?? index
    let inHierarchy = entity.superentity != nil || !entity.subentities.isEmpty
    var properties: [PropertyLayout] = []
    for property in entity.storedProperties {
      properties.append(try self.property(property, at: properties.count, of: entity))
    }
    return EntityLayout(
      .init(
        index: index, name: entity.name, type: types[index], table: root.name,
        rootIndex: rootIndex, discriminator: inHierarchy ? index + 1 : nil,
        familyDiscriminators: inHierarchy ? family(of: entity) : [], properties: properties,
        keyPaths: keyPaths(of: types[index], count: properties.count),
        uniqueness: constraints(of: entity, \.uniquenessConstraints),
        indexed: constraints(of: entity, \.indices)))
  }

  private func constraints(
    of entity: Schema.Entity, _ path: KeyPath<Schema.Entity, [[String]]>
  ) -> [[String]] {
    (entity.superentity.map { constraints(of: $0, path) } ?? []) + entity[keyPath: path]
  }

  private func keyPaths(of type: any PersistentModel.Type, count: Int) -> [AnyKeyPath: Int] {
    var result: [AnyKeyPath: Int] = [:]
    var end = count
    var current: (any PersistentModel.Type)? = type
    while let type = current {
      let stored = type.schemaMetadata.filter(\.isStored)
      end -= stored.count
      for (offset, property) in stored.enumerated() { result[property.keypath] = end + offset }
      current = type._$supermodel
    }
    return result
  }

  private func property(
    _ property: any SchemaProperty, at index: Int, of entity: Schema.Entity
  ) throws -> PropertyLayout {
    if let relationship = property as? Schema.Relationship {
      return try self.relationship(relationship, at: index, of: entity)
    }
    guard let attribute = property as? Schema.Attribute else {
      throw InverseFinder.Problem(message: "\(entity.name).\(property.name) cannot be stored.")
    }
    return PropertyLayout(
      index: index, name: attribute.name, originalName: attribute.originalName,
      keyPath: keyPath(of: attribute.name, entity),
      column: attribute.name, kind: .attribute(encoding(of: attribute)),
      isOptional: attribute.isOptional, valueType: attribute.valueType,
      defaultValue: attribute.defaultValue, isUnique: attribute.isUnique,
      isSearchable: attribute.options.contains(.spotlight),
      isEphemeral: attribute.options.contains(.ephemeral),
      transformerName: attribute.options.lazy.compactMap(\.transformerName).first,
      relationship: nil)
  }

  private func keyPath(of name: String, _ entity: Schema.Entity) -> AnyKeyPath? {
    var current = indexByName[entity.name].map { types[$0] }
    while let type = current {
      if let found = type.schemaMetadata.first(where: { $0.isStored && $0.name == name }) {
        return found.keypath
      }
      current = type._$supermodel
    }
    return nil
  }

  private func encoding(of attribute: Schema.Attribute) -> ColumnEncoding {
    if attribute.isTransformable || attribute.isCodable { return .opaque }
    if attribute.options.contains(.externalStorage) { return .external }
    return PropertyShape(attribute.valueType).encoding
  }

  private func relationship(
    _ relationship: Schema.Relationship, at index: Int, of entity: Schema.Entity
  ) throws -> PropertyLayout {
    guard let destination = indexByName[relationship.destination] else {
      throw InverseFinder.Problem(
        message: "\(entity.name).\(relationship.name) refers to \(relationship.destination), which "
          + "is not in the schema.")
    }
    let target = entities[destination]
    let inverse = relationship.inverseName.flatMap { name in
      target.storedProperties.firstIndex { $0.name == name }
    }
    let inverseProperty = inverse.flatMap { target.storedProperties[$0] as? Schema.Relationship }
    return PropertyLayout(
      index: index, name: relationship.name, originalName: relationship.originalName,
      keyPath: relationship.keypath,
      column: relationship.isToOneRelationship ? relationship.name : nil,
      kind: relationship.isToOneRelationship
        ? .toOne(destination: destination)
        : .toMany(
          storage(relationship, of: entity, inverse, inverseProperty), destination: destination),
      isOptional: relationship.isOptional, valueType: relationship.valueType, defaultValue: nil,
      isUnique: relationship.isUnique, isSearchable: false, isEphemeral: false,
      transformerName: nil,
      relationship: RelationshipLayout(
        deleteRule: relationship.deleteRule, minimum: relationship.minimumModelCount ?? 0,
        maximum: relationship.maximumModelCount ?? 0, inverse: inverse))
  }

  private func storage(
    _ relationship: Schema.Relationship, of entity: Schema.Entity, _ inverse: Int?,
    _ inverseProperty: Schema.Relationship?
  ) -> ToManyStorage {
    if let inverse, let inverseProperty, inverseProperty.isToOneRelationship {
      return .inverse(toOneProperty: inverse)
    }
    let owner = declaringEntity(of: relationship.name, from: entity)
    let own = "\(owner.name)_\(relationship.name)"
    guard let inverseProperty, let target = schema.entitiesByName[relationship.destination] else {
      return .join(table: own, owner: "owner", target: "target")
    }
    // Both sides share one table, named for the side whose name comes first.
    let declarer = declaringEntity(of: inverseProperty.name, from: target)
    let other = "\(declarer.name)_\(inverseProperty.name)"
    return own <= other
      ? .join(table: own, owner: "owner", target: "target")
      : .join(table: other, owner: "target", target: "owner")
  }

  private func declaringEntity(of name: String, from entity: Schema.Entity) -> Schema.Entity {
    var current = entity
    while let parent = current.superentity,
      parent.storedProperties.contains(where: { $0.name == name })
    {
      current = parent
    }
    return current
  }
}
