/// Gives every entity its table and every property its column.
struct StoreLayoutBuilder {
  private let schema: Schema
  private let recordsReads: Bool
  private let models: [ModelMetadata]
  private let indexByName: [String: Int]
  private let entities: [Schema.Entity]
  /// Each entity's stored properties.
  private let stored: [[any SchemaProperty]]
  private let sharing: SharedInverses

  /// Takes a schema whose models have different names.
  init(schema: Schema, recordsReads: Bool) {
    self.schema = schema
    self.recordsReads = recordsReads
    // By name, so that an entity's index, and with it its discriminator, depends on the schema alone.
    models = schema.models.sorted { $0.name < $1.name }
    indexByName = Dictionary(uniqueKeysWithValues: models.enumerated().map { ($1.name, $0) })
    entities = models.compactMap { schema.entitiesByName[$0.name] }
    stored = entities.map(\.storedProperties)
    sharing = SharedInverses(entities, stored: stored, indexByName)
  }

  func build() throws -> [EntityLayout] {
    let result = try entities.indices.map { try layout($0) }
    // Of all layouts together: classes of a hierarchy share a table, so a clash may be between two classes.
    try NameClash(result, pairTables: pairTables(result)).check()
    return result
  }

  /// The tables of pairs, once for each class and side that uses one.
  private func pairTables(_ layouts: [EntityLayout]) -> [PairTable] {
    layouts.flatMap { layout in
      layout.joined.compactMap { index -> PairTable? in
        guard let table = layout.properties[index].joinTable,
          let relationship = stored[layout.index][index] as? Schema.Relationship
        else { return nil }
        return PairTable(
          name: table.name, sides: sides(of: relationship, in: entities[layout.index]))
      }
    }
  }

  /// A relationship and its inverse, each by the class that declares it.
  private func sides(
    of relationship: Schema.Relationship, in entity: Schema.Entity
  ) -> Set<String> {
    let own = "\(entity.declarer(of: relationship.name).name).\(relationship.name)"
    guard let inverse = relationship.inverseName,
      let target = schema.entitiesByName[relationship.destination]
    else { return [own] }
    return [own, "\(target.declarer(of: inverse).name).\(inverse)"]
  }

  /// The discriminators of an entity and its subclasses.
  ///
  /// Sorted, since subentities are a set: the SQL that lists them is the same in each run.
  private func family(of entity: Schema.Entity) -> [Int] {
    guard let index = indexByName[entity.name] else { return [] }
    return [index + 1] + entity.subentities.flatMap { family(of: $0) }.sorted()
  }

  /// The layout of one entity. A discriminator is the index plus 1, so that 0 is no class.
  private func layout(_ index: Int) throws -> EntityLayout {
    let entity = entities[index]
    let root = entity.root
    let rootIndex = indexByName[root.name] ?? index
    let inHierarchy = entity.isInHierarchy
    // The class's own description in the same order as the schema's stored properties: both list
    // inherited ones first.
    let declared = models[index].all
    let keyPaths = models[index].keyPaths
    // Before the properties are laid out: reading a column map beyond its end would be undefined
    // behavior.
    try Self.check(count: stored[index].count, of: entity.name)
    try Self.check(names: stored[index].map(\.name), of: entity.name)
    let properties = try zip(stored[index], declared).enumerated().map { propertyIndex, pair in
      try property(pair.0, pair.1, at: propertyIndex, of: entity)
    }
    return EntityLayout(
      .init(
        index: index, name: entity.name, type: models[index].type, table: root.name,
        rootIndex: rootIndex, discriminator: inHierarchy ? index + 1 : nil,
        familyDiscriminators: inHierarchy ? family(of: entity) : [], properties: properties,
        keyPaths: keyPaths,
        // A property is found by the declaring class's path and by this class's own, which differ for an inherited one.
        // Both lists have all properties in order, hence the remainder.
        propertyByKeyPath: Dictionary(
          (declared.map(\.keyPath) + keyPaths).enumerated().map { ($1, $0 % declared.count) }
        ) { first, _ in first },
        uniqueness: entity.allConstraints(\.uniquenessConstraints),
        indexed: entity.allConstraints(\.indices), reads: recordsReads ? PropertyReads() : nil))
  }

  /// Throws if a model has more stored properties than the column map of `_RowReader.empty` has entries.
  static func check(count: Int, of name: String) throws {
    guard count > _RowReader.propertyLimit else { return }
    throw SchemaProblem(
      .loadIssueModelContainer,
      "\(name) has \(count) stored properties, inherited ones included, and may have \(_RowReader.propertyLimit). Move some "
        + "into a Codable struct or another model.")
  }

  /// Throws if a model has two properties of one name. Swift allows it where a superclass's is `private`, or is
  /// declared in a file from which the subclass does not see it.
  private static func check(names: [String], of entity: String) throws {
    var seen: Set<String> = []
    guard let name = names.first(where: { !seen.insert($0).inserted }) else { return }
    throw SchemaProblem(
      .nameClash,
      "\(entity) and a class above it both declare \(name), which would be one column. Rename one of the properties."
    )
  }

  /// The layout of an attribute or a relationship.
  private func property(
    _ property: any SchemaProperty, _ declared: ModelMetadata.Property, at index: Int,
    of entity: Schema.Entity
  ) throws -> PropertyLayout {
    if let relationship = property as? Schema.Relationship {
      return try self.relationship(relationship, declared, at: index, of: entity)
    }
    guard let attribute = property as? Schema.Attribute else {
      throw SchemaProblem(
        .loadIssueModelContainer, "\(entity.name).\(property.name) cannot be stored.")
    }
    return PropertyLayout(
      index: index, name: attribute.name, originalName: attribute.originalName,
      keyPath: declared.keyPath, column: attribute.name, kind: .attribute(attribute.encoding),
      isOptional: attribute.isOptional, valueType: attribute.valueType,
      defaultValue: attribute.defaultValue, isUnique: attribute.isUnique,
      isSearchable: attribute.options.contains(.spotlight),
      isEphemeral: attribute.options.contains(.ephemeral),
      isPreserved: attribute.options.contains(.preserveValueOnDeletion),
      asksForFiles: attribute.options.contains(.externalStorage),
      transformerName: attribute.transformerName, relationship: nil)
  }

  /// The layout of a relationship: its column or table, its inverse, and the lists that share it.
  ///
  /// Invariant: the inverse is taken from the destination's stored properties by name, so both sides lead to each other
  /// by the same index in all classes that inherit them. Of a to-one that several lists share, the first list is the
  /// inverse.
  private func relationship(
    _ relationship: Schema.Relationship, _ declared: ModelMetadata.Property, at index: Int,
    of entity: Schema.Entity
  ) throws -> PropertyLayout {
    guard let destination = indexByName[relationship.destination] else {
      throw SchemaProblem(
        .unknownSchema,
        "\(entity.name).\(relationship.name) refers to \(relationship.destination), which "
          + "is not in the schema.")
    }
    let inverse = relationship.inverseName.flatMap { name in
      stored[destination].firstIndex { $0.name == name }
    }
    let inverseProperty = inverse.flatMap { stored[destination][$0] as? Schema.Relationship }
    let lists = sharing.lists(of: relationship, in: entity)
    // An inherited relationship has an inverse only in the subclasses that the inverse can lead to.
    let leadsBack = inverseProperty.map { leads($0, to: entity) } ?? true
    let layout = RelationshipLayout(
      deleteRule: relationship.deleteRule, minimum: relationship.minimumModelCount ?? 0,
      maximum: relationship.maximumModelCount ?? 0,
      inverse: lists.map { $0.first?.property } ?? (leadsBack ? inverse : nil),
      lists: lists ?? [], list: sharing.number(of: relationship))
    let hasToOneInverse = layout.inverses.contains { index in
      (stored[destination][index] as? Schema.Relationship)?.isToOneRelationship == true
    }
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
      transformerName: nil, relationship: layout,
      isOneToOne: relationship.isToOneRelationship && hasToOneInverse,
      listColumn: sharing.needsColumn(relationship)
        ? HiddenColumn.list(of: relationship.name) : nil,
      isForeign: declared.shape.model.map { $0 != models[destination].type } ?? false)
  }

  /// Whether a relationship can lead to objects of a class.
  private func leads(_ relationship: Schema.Relationship, to entity: Schema.Entity) -> Bool {
    sequence(first: entity) { $0.superentity }.contains { $0.name == relationship.destination }
  }

  /// Where a to-many relationship is stored: in the inverse's column if that is to-one, else in a table of pairs.
  private func storage(
    _ relationship: Schema.Relationship, of entity: Schema.Entity, _ inverse: Int?,
    _ inverseProperty: Schema.Relationship?
  ) -> ToManyStorage {
    // A foreign key on the many side needs no further table, and makes each member be in one list
    // by itself.
    if let inverse, let inverseProperty, inverseProperty.isToOneRelationship {
      return .inverse(toOneProperty: inverse)
    }
    let owner = entity.declarer(of: relationship.name)
    let own = "\(owner.name)_\(relationship.name)"
    guard let inverseProperty, let target = schema.entitiesByName[relationship.destination] else {
      return .join(table: own, owner: "owner", target: "target")
    }
    // Both sides must come to the same table, so its name depends on the names alone, not on the side that asks.
    let declarer = target.declarer(of: inverseProperty.name)
    let other = "\(declarer.name)_\(inverseProperty.name)"
    // The side whose name comes first owns the pairs. For the other side the two columns change
    // roles.
    return own <= other
      ? .join(table: own, owner: "owner", target: "target")
      : .join(table: other, owner: "target", target: "owner")
  }
}
