/// The to-one relationships that several others name as their inverse.
struct SharedInverses {
  private struct Sharer {
    let entity: Schema.Entity
    let relationship: Schema.Relationship
    /// Its index in the properties of the to-one's destination; nil where a subclass declares it.
    let property: Int?
  }

  private var sharers: [ObjectIdentifier: [Sharer]] = [:]
  private var numbers: [ObjectIdentifier: Int] = [:]

  init(
    _ entities: [Schema.Entity], stored: [[any SchemaProperty]], _ indexByName: [String: Int]
  ) {
    for entity in entities.sorted(by: InverseFinder.isBefore) {
      for case let relationship as Schema.Relationship in entity.properties {
        guard let name = relationship.inverseName,
          let target = indexByName[relationship.destination],
          let inverse = stored[target].lazy.compactMap({ $0 as? Schema.Relationship })
            .first(where: { $0.name == name }),
          inverse.isToOneRelationship, let owner = indexByName[inverse.destination]
        else { continue }
        sharers[ObjectIdentifier(inverse), default: []].append(
          Sharer(
            entity: entity, relationship: relationship,
            property: stored[owner].firstIndex { ($0 as? Schema.Relationship) === relationship }))
      }
    }
    sharers = sharers.filter { $0.value.count > 1 }
    for group in sharers.values {
      for (number, sharer) in group.enumerated() {
        numbers[ObjectIdentifier(sharer.relationship)] = number
      }
    }
  }

  /// The relationships that share a to-one of an entity as their inverse, and that its objects can be
  /// in; nil for a relationship that isn't shared.
  func lists(of toOne: Schema.Relationship, in entity: Schema.Entity) -> [SharedList]? {
    sharers[ObjectIdentifier(toOne)].map { group in
      let lineage = Set(sequence(first: entity) { $0.superentity }.map(\.name))
      return group.enumerated().compactMap { number, sharer in
        sharer.property.flatMap {
          lineage.contains(sharer.relationship.destination)
            ? SharedList(property: $0, number: number) : nil
        }
      }
    }
  }

  /// The relationship's number among those that share its inverse.
  func number(of relationship: Schema.Relationship) -> Int? {
    numbers[ObjectIdentifier(relationship)]
  }

  /// Whether a to-one's own column cannot tell which of its lists an object is in.
  func needsColumn(_ toOne: Schema.Relationship) -> Bool {
    sharers[ObjectIdentifier(toOne)] != nil
  }
}
