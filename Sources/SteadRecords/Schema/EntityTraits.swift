/// The facts about an entity that are needed once for each object: without references, so that reading them retains
/// nothing.
struct EntityTraits {
  /// The index of the hierarchy's root.
  let root: Int
  let hasRelationships: Bool
  /// Whether new objects may stand for existing rows.
  let isConstrained: Bool
  /// Whether a save must check relationships before it writes.
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
