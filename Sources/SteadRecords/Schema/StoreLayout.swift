/// How a store's tables represent a schema. Immutable, made once per container.
final class StoreLayout: @unchecked Sendable {
  // Sendable: all stored properties are immutable after init, and the cache of traced key paths in
  // `EntityLayout` has its own lock.
  let schema: Schema
  let entities: [EntityLayout]
  /// Whether each entity notes which of its properties are read.
  let notesReads: Bool
  /// For each root entity, the relationships that lead to its hierarchy and have no inverse.
  let oneWay: [[OneWayRelationship]]
  /// For each root entity, the relationships that lead to its hierarchy and that its rule leaves as they
  /// are when an object is deleted.
  let danglingReferences: [[OneWayRelationship]]
  /// The relationships with a limited number of members.
  let memberLimits: [MemberLimit]
  /// The names of the required to-one relationships in each hierarchy, by the index of its root.
  let requiredReferences: [Set<String>]
  private let byType: [ObjectIdentifier: EntityLayout]
  private let byName: [String: EntityLayout]

  init(schema: Schema, notesReads: Bool = false) throws {
    self.schema = schema
    self.notesReads = notesReads
    try schema.findings.check()
    let entities = try StoreLayoutBuilder(schema: schema, notesReads: notesReads).build()
    self.entities = entities
    oneWay = OneWayRelationship.byDestination(entities) { property in
      property.relationship?.inverse == nil
    }
    danglingReferences = OneWayRelationship.byDestination(entities) { property in
      property.inverses(in: entities).contains { $0.relationship?.deleteRule == .noAction }
    }
    memberLimits = MemberLimit.all(entities)
    requiredReferences = entities.map { root in
      Set(
        entities.filter { $0.rootIndex == root.index }.flatMap(\.properties)
          .filter(\.isRequiredReference).map(\.name))
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
