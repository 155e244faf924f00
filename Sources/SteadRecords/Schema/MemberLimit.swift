/// A to-many relationship with a least or a greatest number of members.
struct MemberLimit: Sendable {
  /// The topmost class that has the relationship.
  let owner: EntityLayout
  let property: PropertyLayout
  let storage: ToManyStorage
  /// The class of its members.
  let destination: EntityLayout

  /// The limited relationships of some classes, each once: subclasses inherit theirs.
  static func all(_ entities: [EntityLayout]) -> [MemberLimit] {
    var limits: [MemberLimit] = []
    // Superclasses first, which have fewer properties than their subclasses.
    for entity in entities.sorted(by: { $0.properties.count < $1.properties.count }) {
      for index in entity.relationships {
        let property = entity.properties[index]
        guard let relationship = property.relationship,
          relationship.minimum > 0 || relationship.maximum > 0,
          case .toMany(let storage, let destination) = property.kind,
          !limits.contains(where: { $0.isInherited(as: property, by: entity) })
        else { continue }
        limits.append(
          MemberLimit(
            owner: entity, property: property, storage: storage,
            destination: entities[destination]))
      }
    }
    return limits
  }

  /// The SELECT that counts the members of one owner's row, in that row's store.
  var count: String {
    let members = destination.table.sqlName
    let own = destination.ownRows("m")
    switch storage {
    case .inverse(let toOne):
      let inverse = destination.properties[toOne]
      let sql =
        "SELECT count(*) FROM \(members) AS m "
        + "WHERE m.\((inverse.column ?? inverse.name).sqlName) = ?1\(own)"
      guard let list = property.relationship?.list, let column = inverse.listColumn else {
        return sql
      }
      return sql + " AND ifnull(m.\(column.sqlName), 0) = \(list)"
    case .join(let table, let owner, let target):
      return "SELECT count(*) FROM \(table.sqlName) AS p JOIN \(members) AS m "
        + "ON m.\"_id\" = p.\(target) WHERE p.\(owner) = ?1\(own)"
    }
  }

  private func isInherited(as other: PropertyLayout, by entity: EntityLayout) -> Bool {
    owner.rootIndex == entity.rootIndex && property.keyPath == other.keyPath
      && property.name == other.name
  }
}

extension PropertyLayout {
  /// Why a save refuses a number of members; nil if the model allows it.
  ///
  /// - Parameter row: The owner's row, if no object of it is loaded.
  func refusal(of count: Int, in entity: EntityLayout, row: Int64? = nil) -> SwiftDataError? {
    guard let relationship, relationship.minimum > 0 || relationship.maximum > 0 else {
      return nil
    }
    let maximum = relationship.maximum > 0 ? relationship.maximum : .max
    if count >= relationship.minimum, count <= maximum { return nil }
    let limit = maximum == .max ? "or more" : "to \(maximum)"
    let place = row.map { " of row \($0)" } ?? ""
    return SwiftDataError(
      .modelValidationFailure,
      "\(entity.name).\(name)\(place) has \(count) objects; the model allows "
        + "\(relationship.minimum) \(limit). Add or remove objects before the save, or delete the \(entity.name), too."
    )
  }

  /// Whether each object must lead to another one by this property.
  var isRequiredReference: Bool {
    if case .toOne = kind { !isOptional } else { false }
  }
}
