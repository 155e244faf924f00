/// Where a schema stores its relationships. Like `StoreLayout`, for a schema that may have no types.
struct SchemaLinks {
  private let schema: Schema
  private let sharing: SharedInverses

  init(_ schema: Schema) {
    self.schema = schema
    let entities = schema.entities
    sharing = SharedInverses(
      entities, stored: entities.map(\.storedProperties),
      Dictionary(uniqueKeysWithValues: entities.enumerated().map { ($1.name, $0) }))
  }

  func storage(of relationship: Schema.Relationship, in entity: Schema.Entity) -> LinkStorage {
    let table = entity.root.name
    if relationship.isToOneRelationship {
      return .column(table: table, column: relationship.name)
    }
    let target = schema.entitiesByName[relationship.destination]
    let inverse = relationship.inverseName.flatMap { target?.relationshipsByName[$0] }
    if let target, let inverse, inverse.isToOneRelationship {
      return .inverse(
        table: target.root.name, column: inverse.name, list: sharing.number(of: relationship))
    }
    let own = "\(entity.declarer(of: relationship.name).name)_\(relationship.name)"
    guard let target, let inverse else { return .pairs(table: own, isOwner: true) }
    let other = "\(target.declarer(of: inverse.name).name)_\(inverse.name)"
    return .pairs(table: min(own, other), isOwner: own <= other)
  }

  /// The names of all tables of pairs.
  var pairTables: Set<String> {
    var names: Set<String> = []
    for entity in schema.entities {
      for case let relationship as Schema.Relationship in entity.storedProperties {
        if case .pairs(let table, _) = storage(of: relationship, in: entity) { names.insert(table) }
      }
    }
    return names
  }
}
