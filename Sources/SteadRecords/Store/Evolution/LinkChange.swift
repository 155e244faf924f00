/// A relationship whose pairs are stored elsewhere after a migration.
struct LinkChange {
  let entity: Schema.Entity
  let relationship: Schema.Relationship
  /// Where the pairs are, by the names before.
  let before: LinkStorage
  /// Where they come to.
  let after: LinkStorage
  /// The owners' classes, before.
  let owners: [Schema.Entity]
  /// The targets' classes, before.
  let targets: [Schema.Entity]

  /// Whether an owner may have at most one destination.
  var hasOneTarget: Bool { relationship.isToOneRelationship }
  /// Whether a destination may have at most one owner.
  var hasOneOwner: Bool {
    if case .inverse = after { return true }
    return hasOneOwnerColumn
  }
  /// Whether the inverse is to-one, too, and has its own column.
  var hasOneOwnerColumn = false

  /// The changes that a store's relationships need.
  static func all(_ match: SchemaMatch, _ names: TableNames, in tables: Set<String>) -> [LinkChange]
  {
    let (old, new) = (SchemaLinks(match.old), SchemaLinks(match.new))
    var changes: [LinkChange] = []
    var places: Set<String> = []
    for entity in match.new.entities where tables.contains(entity.root.name) {
      for case let relationship as Schema.Relationship in entity.storedProperties {
        guard let (owner, source) = origin(of: relationship, in: entity, match) else { continue }
        let before = old.storage(of: source.relationship, in: source.entity)
        let after = new.storage(of: relationship, in: entity)
        // Both sides of a relationship have the same places. Those of siblings may have one of them in common.
        guard !isSame(before, after, source.isInverse, names),
          !isInherited(relationship, from: before, in: entity, match, old),
          places.insert("\(before.place) \(after.place)").inserted
        else { continue }
        let other =
          source.isInverse
          ? source.entity : match.old.entitiesByName[source.relationship.destination]
        changes.append(
          LinkChange(
            entity: entity, relationship: relationship,
            before: source.isInverse ? before.reversed : before, after: after,
            owners: owner.family, targets: other?.family ?? [],
            hasOneOwnerColumn: hasOneOwner(relationship, match.new)))
      }
    }
    return changes
  }

  /// Whether the superclass's change has the links of a subclass, too: not if the superclass had no such relationship.
  private static func isInherited(
    _ relationship: Schema.Relationship, from before: LinkStorage, in entity: Schema.Entity,
    _ match: SchemaMatch, _ old: SchemaLinks
  ) -> Bool {
    guard let parent = entity.superentity,
      parent.storedProperties.contains(where: { ($0 as? Schema.Relationship) === relationship }),
      let (_, source) = origin(of: relationship, in: parent, match)
    else { return false }
    return old.storage(of: source.relationship, in: source.entity) == before
  }

  /// The tables of pairs that a relationship has before and afterwards.
  static func keptPairTables(_ match: SchemaMatch, _ names: TableNames) -> Set<String> {
    let (old, new) = (SchemaLinks(match.old), SchemaLinks(match.new))
    var tables: Set<String> = []
    for entity in match.new.entities {
      for case let relationship as Schema.Relationship in entity.properties {
        let after = new.storage(of: relationship, in: entity)
        guard case .pairs(let table, _) = after,
          let (_, source) = origin(of: relationship, in: entity, match)
        else { continue }
        let before = old.storage(of: source.relationship, in: source.entity)
        if isSame(before, after, source.isInverse, names) { tables.insert(table) }
      }
    }
    return tables
  }

  private static func hasOneOwner(_ relationship: Schema.Relationship, _ schema: Schema) -> Bool {
    guard let name = relationship.inverseName else { return false }
    let target = schema.entitiesByName[relationship.destination]
    return target?.relationshipsByName[name]?.isToOneRelationship ?? false
  }

  /// Where a relationship's pairs come from: from itself as it was, or, where it is new, from its inverse.
  private static func origin(
    of relationship: Schema.Relationship, in entity: Schema.Entity, _ match: SchemaMatch
  ) -> (
    owner: Schema.Entity,
    source: (entity: Schema.Entity, relationship: Schema.Relationship, isInverse: Bool)
  )? {
    if let owner = match.oldEntities[entity.name],
      let old = match.oldProperty(relationship.name, of: entity.name) as? Schema.Relationship
    {
      return (owner, (owner, old, false))
    }
    guard let owner = match.oldEntities[entity.name], let name = relationship.inverseName,
      let target = match.oldEntities[relationship.destination],
      let inverse = match.oldProperty(name, of: relationship.destination) as? Schema.Relationship,
      relationship.isToOneRelationship, hasOneOwner(relationship, match.new)
    else { return nil }
    return (owner, (target, inverse, true))
  }

  private static func isSame(
    _ before: LinkStorage, _ after: LinkStorage, _ isInverse: Bool, _ names: TableNames
  ) -> Bool {
    switch (names.renamed(before), after) {
    case (.column(let table, let column), .column(let newTable, let newColumn)):
      !isInverse && table == newTable && column == newColumn
    case (.inverse(let table, let column, _), .inverse(let newTable, let newColumn, _)):
      table == newTable && column == newColumn
    case (let before, let after): before == after
    }
  }
}

extension LinkStorage {
  /// The same pairs from the other side, as far as a query of them is concerned.
  fileprivate var reversed: LinkStorage {
    switch self {
    case .column(let table, let column): .inverse(table: table, column: column, list: nil)
    case .inverse(let table, let column, _): .column(table: table, column: column)
    case .pairs(let table, let isOwner): .pairs(table: table, isOwner: !isOwner)
    }
  }
}
