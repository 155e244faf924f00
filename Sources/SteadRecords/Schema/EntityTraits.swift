/// What is asked of an entity once for each object: without references, so that asking counts none.
struct EntityTraits {
  /// The index of the hierarchy's root.
  let root: Int
  let hasRelationships: Bool
  /// Whether new objects may stand for rows that are there.
  let isConstrained: Bool
  /// Whether a save has to check relationships before it writes.
  let hasRules: Bool
  /// The properties whose changes alone are never saved.
  let ephemeral: PropertySet

  /// Whether a to-one relationship has a to-one inverse.
  let hasOneToOne: Bool

  init(_ entity: EntityLayout, in layout: StoreLayout) {
    root = entity.rootIndex
    hasRelationships = !entity.relationships.isEmpty
    hasOneToOne = entity.relationships.contains { index in
      let property = entity.properties[index]
      return !property.isToMany
        && property.inverses(in: layout.entities).contains { !$0.isToMany }
    }
    isConstrained = !entity.uniqueConstraints.isEmpty
    hasRules = entity.relationships.contains { index in
      let property = entity.properties[index]
      guard let relationship = property.relationship else { return false }
      return relationship.deleteRule == .deny || relationship.minimum > 0
        || relationship.maximum > 0 || !(property.isToMany || property.isOptional)
    }
    ephemeral = PropertySet(entity.properties.filter(\.isEphemeral).map(\.index))
  }
}
