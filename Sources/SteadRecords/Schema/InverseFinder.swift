/// Pairs each relationship with the property that points back.
///
/// An inverse that the source names is taken as it is. Otherwise one is inferred where there is
/// exactly one candidate on both sides, not both sides are to-many, and the to-one side is optional.
struct InverseFinder {
  struct Problem: Error {
    let message: String
  }

  private let entities: [Schema.Entity]
  private let byName: [String: Schema.Entity]

  init(_ entities: [Schema.Entity]) {
    self.entities = entities
    byName = Dictionary(entities.map { ($0.name, $0) }) { first, _ in first }
  }

  /// Sets `inverseName` on every relationship that has an inverse.
  func resolve() throws {
    for entity in entities {
      for relationship in own(entity) where relationship.inverseKeyPath != nil {
        try resolveExplicit(relationship, of: entity)
      }
    }
    for entity in entities {
      for relationship in own(entity) where relationship.inverseName == nil {
        try infer(relationship, of: entity)
      }
    }
  }

  private func own(_ entity: Schema.Entity) -> [Schema.Relationship] {
    entity.properties.compactMap { $0 as? Schema.Relationship }
  }

  private func resolveExplicit(
    _ relationship: Schema.Relationship, of entity: Schema.Entity
  ) throws {
    guard let path = relationship.inverseKeyPath, let target = byName[relationship.destination]
    else { return }
    let all = target.storedProperties.compactMap { $0 as? Schema.Relationship }
    let name = KeyPathName.lastComponent(path)
    guard let inverse = all.first(where: { $0.keypath == path || $0.name == name }) else {
      throw Problem(
        message: "The inverse \(path) of \(entity.name).\(relationship.name) is no relationship of "
          + "\(target.name). Name a property of \(target.name) whose type is \(entity.name) or "
          + "[\(entity.name)].")
    }
    if let other = inverse.inverseName, other != relationship.name {
      throw Problem(
        message: "\(target.name).\(inverse.name) is named as the inverse of both "
          + "\(entity.name).\(other) and \(entity.name).\(relationship.name). A property can be "
          + "the inverse of one other only.")
    }
    relationship.inverseName = inverse.name
    inverse.inverseName = relationship.name
  }

  private func infer(_ relationship: Schema.Relationship, of entity: Schema.Entity) throws {
    let found = candidates(for: relationship, of: entity)
    guard let (inverse, target) = found.first else { return }
    let back = candidates(for: inverse, of: target)
    if found.count > 1 {
      throw ambiguity(relationship, entity, found.map { "\\\($0.1.name).\($0.0.name)" })
    }
    if back.count > 1 {
      throw ambiguity(inverse, target, back.map { "\\\($0.1.name).\($0.0.name)" })
    }
    relationship.inverseName = inverse.name
    inverse.inverseName = relationship.name
  }

  private func candidates(
    for relationship: Schema.Relationship, of entity: Schema.Entity
  ) -> [(Schema.Relationship, Schema.Entity)] {
    guard let target = byName[relationship.destination] else { return [] }
    return own(target).filter { other in
      guard other !== relationship, other.inverseName == nil, other.destination == entity.name
      else { return false }
      switch (relationship.isToOneRelationship, other.isToOneRelationship) {
      case (false, false): return false
      case (true, false): return relationship.isOptional
      case (false, true): return other.isOptional
      case (true, true): return relationship.isOptional && other.isOptional
      }
    }.map { ($0, target) }
  }

  private func ambiguity(
    _ relationship: Schema.Relationship, _ entity: Schema.Entity, _ names: [String]
  ) -> Problem {
    Problem(
      message: "The inverse of \\\(entity.name).\(relationship.name) could be any of "
        + "\(names.joined(separator: ", ")). Name the right one with @Relationship(inverse:).")
  }
}
