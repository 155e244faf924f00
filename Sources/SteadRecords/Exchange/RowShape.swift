import SteadSQLite

/// The structure of an entity's rows: its columns and its pairs, by the names of its properties.
///
/// Of a row with a to-one relationship to the owner of an ordered list, the columns are, for
/// example, `name`, `trip`, `_trip_order`.
package struct RowShape: Sendable {
  /// An attribute and its column, which has the same name.
  package struct Attribute: Sendable {
    /// The attribute's name, and its column's.
    package let name: String
    /// The name that the attribute had in an earlier schema.
    package let originalName: String
    /// Whether nil is a value of it, which is NULL.
    package let isOptional: Bool
    /// Whether large values of it are stored in files next to the store.
    package let isExternal: Bool
    /// Its index in the entity's properties.
    let index: Int
    let encoding: ColumnEncoding
  }

  /// A relationship, and where it is stored.
  package struct Relationship: Sendable {
    /// Where the destinations of a relationship are stored.
    package enum Storage: Hashable, Sendable {
      /// In a column of the row. Other columns hold the row's position in its owner's list and, if several of the
      /// owner's relationships share the column, that relationship's number.
      case column(order: String?, list: String?)
      /// In the column of the destinations' to-one relationship.
      case inverse
      /// In a list of pairs, in which this entity's rows are the owners or the targets.
      case pairs(PairList, isOwner: Bool)
    }

    /// One of several relationships of the destination that share this to-one as their inverse.
    package struct SharedList: Sendable {
      /// The number in the column of lists.
      package let number: Int
      package let name: String
      /// The name that it had in an earlier schema.
      package let originalName: String
      let isToMany: Bool
    }

    package let name: String
    /// The name that the relationship had in an earlier schema.
    package let originalName: String
    /// Where its destinations are stored.
    package let storage: Storage
    /// Whether it leads to several rows.
    package let isToMany: Bool
    /// The entity that it leads to, or a superclass of it.
    package let destination: String
    /// The entity at the root of the destination's hierarchy.
    package let destinationRoot: String
    /// The property that leads back.
    package let inverse: String?
    /// The relationships that lead back, if there are several. A row is in one of them.
    package let lists: [SharedList]
    /// The relationship's number among those that share its inverse.
    package let list: Int?
    /// The least number of destinations.
    package let minimum: Int
    /// The greatest number of destinations.
    package let maximum: Int
    /// What happens to a row when the one that it leads to is deleted; nil if nothing leads back.
    package let inverseRule: Schema.Relationship.DeleteRule?
  }

  /// The entity's name.
  package let name: String
  /// The entity and its superclasses.
  package let lineage: Set<String>
  /// The entity at the root of the hierarchy, which has one sequence of numbers.
  package let root: String
  /// The attributes, inherited ones included, in the order of their declaration.
  package let attributes: [Attribute]
  /// The relationships, inherited ones included.
  package let relationships: [Relationship]
  /// The relationships whose pairs belong to this entity's rows, so that each pair belongs to one.
  package let ownedPairs: [(name: String, list: PairList)]
  /// The columns of a row, in the order of ``RowContent/values``: `_entity` in a hierarchy, those of properties, then the
  /// hidden ones of orders and lists.
  package let columns: [String]
  /// The column indexes of each group of columns with unique values.
  package let uniqueness: [[Int]]
  /// The value of the column `_entity`; nil outside hierarchies.
  let discriminator: Int?
  /// The entity's index in the layout.
  let index: Int

  /// Describes an entity. Costs a pass over its properties.
  init(_ entity: EntityLayout, _ layout: StoreLayout) {
    index = entity.index
    name = entity.name
    root = entity.table
    // From the class upwards; the list ends where there is no superclass.
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
      if case .pairs(let list, isOwner: true) = $0.storage { ($0.name, list) } else { nil }
    }
    // No property reads these columns, and a moved row has to keep its places.
    let hidden = relationships.flatMap {
      if case .column(let order, let list) = $0.storage {
        [order, list].compactMap(\.self)
      } else {
        [String]()
      }
    }
    let columns =
      (discriminator == nil ? [] : ["_entity"]) + entity.properties.compactMap(\.column)
      + hidden
    self.columns = columns
    uniqueness = entity.uniqueConstraints.map { constraint in
      constraint.compactMap { entity.properties[$0].column }.compactMap(columns.firstIndex(of:))
    }
  }

  /// What the columns of a new row hold before any property is set.
  package var blankValues: [SQLValue] {
    var values = Array(repeating: SQLValue.null, count: columns.count)
    // `_entity` is the first column in a hierarchy.
    if let discriminator { values[0] = .integer(Int64(discriminator)) }
    return values
  }

  /// Describes a relationship: where it is stored, and what its inverse allows.
  private static func relationship(
    _ property: PropertyLayout, _ layout: StoreLayout
  ) -> Relationship {
    let destination = layout.entities[property.destination ?? 0]
    let inverse = property.relationship?.inverse.map { destination.properties[$0] }
    let inverses = property.inverses(in: layout.entities)
    // Relationships have numbers only where several share the inverse.
    let lists = inverses.compactMap { inverse in
      inverse.relationship?.list.map {
        Relationship.SharedList(
          number: $0, name: inverse.name, originalName: inverse.originalName,
          isToMany: inverse.isToMany)
      }
    }
    let storage: Relationship.Storage =
      switch property.kind {
      case .toMany(.join(let table, let owner, _), _):
        .pairs(PairList(table: table), isOwner: owner == "owner")
      case .toMany: .inverse
      default:
        .column(
          order: inverses.contains(where: \.isToMany)
            ? HiddenColumn.order(of: property.name) : nil,
          list: property.listColumn)
      }
    let isRequired = !property.isToMany && !property.isOptional
    return Relationship(
      name: property.name, originalName: property.originalName, storage: storage,
      isToMany: property.isToMany, destination: destination.name,
      destinationRoot: destination.table, inverse: inverse?.name, lists: lists,
      list: property.relationship?.list,
      minimum: property.isToMany ? property.relationship?.minimum ?? 0 : isRequired ? 1 : 0,
      maximum: property.isToMany ? property.relationship?.maximum ?? 0 : 1,
      inverseRule: inverse?.relationship?.deleteRule)
  }
}

// MARK: - Content

/// The content of one row.
package struct RowContent: Sendable {
  /// The columns that the values are for.
  package let shape: RowShape
  /// The row's number.
  package let number: Int64
  /// The values of the shape's columns.
  package let values: [SQLValue]
  /// The row's pairs, for each of the shape's ``RowShape/ownedPairs``.
  package let pairs: [[RowPair]]

  /// Describes a row, which need not be in the store.
  package init(_ shape: RowShape, _ number: Int64, values: [SQLValue], pairs: [[RowPair]]) {
    self.shape = shape
    self.number = number
    self.values = values
    self.pairs = pairs
  }
}

// MARK: - Pairs

/// One pair of rows, and the position of each in the other's list.
package struct RowPair: Hashable, Sendable {
  /// The number of the owner's row.
  package let owner: Int64
  /// The number of the target's row.
  package let target: Int64
  /// The target's position in the owner's list; nil for the order of insertion.
  package let ownerOrder: Int64?
  /// The owner's position in the target's list; nil for the order of insertion.
  package let targetOrder: Int64?

  /// Describes a pair, which need not be in the store.
  package init(owner: Int64, target: Int64, ownerOrder: Int64?, targetOrder: Int64?) {
    self.owner = owner
    self.target = target
    self.ownerOrder = ownerOrder
    self.targetOrder = targetOrder
  }
}

/// The pairs of rows that a many-to-many relationship, or one without an inverse, consists of.
package struct PairList: Hashable, Sendable {
  /// The table of the pairs, unquoted.
  let table: String
}
