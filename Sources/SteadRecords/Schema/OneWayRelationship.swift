/// A relationship without an inverse on its destination, so that nothing notifies it of a deletion.
struct OneWayRelationship: Sendable {
  let entity: Int
  let property: Int

  static func byDestination(
    _ entities: [EntityLayout], where isWanted: (PropertyLayout) -> Bool
  ) -> [[OneWayRelationship]] {
    var result: [[OneWayRelationship]] = Array(repeating: [], count: entities.count)
    for entity in entities {
      for index in entity.relationships {
        let property = entity.properties[index]
        guard let destination = property.destination, isWanted(property) else { continue }
        result[entities[destination].rootIndex].append(
          OneWayRelationship(entity: entity.index, property: index))
      }
    }
    return result
  }
}
