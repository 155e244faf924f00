/// What is asked of an entity once for each object: without references, so that asking counts none.
struct EntityTraits {
  /// The index of the hierarchy's root.
  let root: Int
  let hasRelationships: Bool
  /// Whether new objects may stand for rows that are there.
  let isConstrained: Bool
  /// Whether a save has to check relationships before it writes.
  let hasRules: Bool
  /// The bits of properties that are never saved, as `ModelExtra.changes` has them.
  let ephemeral: UInt64

  init(_ entity: EntityLayout) {
    root = entity.rootIndex
    hasRelationships = !entity.relationships.isEmpty
    isConstrained = !entity.uniqueConstraints.isEmpty
    hasRules = entity.relationships.contains { index in
      let property = entity.properties[index]
      guard let relationship = property.relationship else { return false }
      return relationship.deleteRule == .deny || relationship.minimum > 0
        || relationship.maximum > 0 || !(property.isToMany || property.isOptional)
    }
    // Properties behind the last bit share it, so it says nothing of one of them.
    ephemeral = entity.properties.reduce(0) { bits, property in
      property.isEphemeral && property.index < 63 ? bits | ModelExtra.bit(property.index) : bits
    }
  }
}
