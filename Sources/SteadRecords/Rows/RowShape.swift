/// What the rows of one entity consist of, by the names of its properties.
package struct RowShape: Sendable {
  /// An attribute and its column, which bears its name.
  package struct Attribute: Sendable {
    package let name: String
    /// The name that the attribute had in an earlier schema.
    package let originalName: String
    package let isOptional: Bool
    /// Whether large values of it lie in files beside the store.
    package let isExternal: Bool
    /// Where it is among the entity's properties.
    let index: Int
    let encoding: ColumnEncoding
  }

  /// A relationship, and where it lies.
  package struct Relationship: Sendable {
    /// Where the destinations of a relationship are written down.
    package enum Storage: Hashable, Sendable {
      /// In a column of the row; the other column has the row's place among its owner's.
      case column(order: String?)
      /// In the column of the destinations' to-one relationship.
      case inverse
      /// In a table of pairs, this entity's rows in the column `own`.
      case pairs(table: String, own: String, other: String)
    }

    package let name: String
    /// The name that the relationship had in an earlier schema.
    package let originalName: String
    package let storage: Storage
    package let isToMany: Bool
    /// The entity that it leads to, or one above it.
    package let destination: String
    /// The entity at the root of the destination's hierarchy.
    package let destinationRoot: String
    /// The property that leads back.
    package let inverse: String?
    /// The least number of destinations.
    package let minimum: Int
    /// The greatest number of destinations.
    package let maximum: Int
  }

  /// A table of pairs.
  package struct OwnedPairs: Sendable {
    /// The relationship's name.
    package let name: String
    package let table: String
    /// Selects target and both orders of an owner's pairs, in the order of their insertion.
    package let selection: String
  }

  package let name: String
  /// The entity and those above it.
  package let lineage: Set<String>
  /// The entity at the root of the hierarchy, and its table.
  package let root: String
  package let attributes: [Attribute]
  package let relationships: [Relationship]
  /// The relationships whose pairs belong to this entity's rows, so that each pair belongs to one.
  package let ownedPairs: [OwnedPairs]
  /// What column `_entity` holds.
  package let discriminator: Int?
  /// All columns that a row's digest is made of, but those of pairs.
  package let columns: [String]
  let index: Int

  init(_ entity: EntityLayout, _ layout: StoreLayout) {
    index = entity.index
    name = entity.name
    root = entity.table
    let names = sequence(first: layout.schema.entitiesByName[entity.name]) { $0?.superentity }
    lineage = Set(names.prefix { $0 != nil }.compactMap { $0?.name } + [entity.name])
    discriminator = entity.discriminator
    attributes = entity.properties.compactMap { property in
      guard case .attribute(let encoding) = property.kind else { return nil }
      return Attribute(
        name: property.name, originalName: property.originalName, isOptional: property.isOptional,
        isExternal: encoding == .external, index: property.index, encoding: encoding)
    }
    relationships = entity.relationships.map { Self.relationship(entity.properties[$0], layout) }
    ownedPairs = relationships.compactMap {
      guard case .pairs(let table, "owner", _) = $0.storage else { return nil }
      return OwnedPairs(
        name: $0.name, table: table,
        selection: "SELECT target, owner_order, target_order FROM \(quoted(table)) "
          + "WHERE owner = ?1 ORDER BY \"_id\"")
    }
    let orders = relationships.compactMap {
      if case .column(let order?) = $0.storage { order } else { nil }
    }
    columns =
      (discriminator == nil ? [] : ["_entity"]) + entity.properties.compactMap(\.column)
      + orders
  }

  private static func relationship(
    _ property: PropertyLayout, _ layout: StoreLayout
  ) -> Relationship {
    let destination = layout.entities[property.destination ?? 0]
    let inverse = property.relationship?.inverse.map { destination.properties[$0] }
    let storage: Relationship.Storage =
      switch property.kind {
      case .toMany(.join(let table, let owner, let target), _):
        .pairs(table: table, own: owner, other: target)
      case .toMany: .inverse
      default:
        .column(order: inverse?.isToMany == true ? TableLayout.orderColumn(of: property.name) : nil)
      }
    let isRequired = !property.isToMany && !property.isOptional
    return Relationship(
      name: property.name, originalName: property.originalName, storage: storage,
      isToMany: property.isToMany, destination: destination.name,
      destinationRoot: destination.table, inverse: inverse?.name,
      minimum: property.isToMany ? property.relationship?.minimum ?? 0 : isRequired ? 1 : 0,
      maximum: property.isToMany ? property.relationship?.maximum ?? 0 : 1)
  }
}
