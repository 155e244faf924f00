/// Where a schema stores its relationships: the same rules as `StoreLayoutBuilder`, for a recorded schema, whose types the
/// program may lack. The two must agree.
struct SchemaLinks {
  /// The schema, decoded or of the program.
  private let schema: Schema
  /// The numbers of relationships that share an inverse.
  private let sharing: SharedInverses

  /// Prepares the look-ups. Costs a pass over all relationships.
  init(_ schema: Schema) {
    self.schema = schema
    let entities = schema.entities
    sharing = SharedInverses(
      entities, stored: entities.map(\.storedProperties),
      Dictionary(uniqueKeysWithValues: entities.enumerated().map { ($1.name, $0) }))
  }

  /// The column or the table of pairs of a relationship.
  func storage(of relationship: Schema.Relationship, in entity: Schema.Entity) -> LinkStorage {
    let table = entity.root.name
    if relationship.isToOneRelationship {
      return .column(table: table, column: relationship.name)
    }
    let target = schema.entitiesByName[relationship.destination]
    let inverse = relationship.inverseName.flatMap { target?.relationshipsByName[$0] }
    if let target, let inverse, inverse.isToOneRelationship {
      return .inverse(
        table: target.root.name, column: inverse.name, list: sharing.number(of: relationship))
    }
    // Named after the class that declares it: subclasses inherit the table.
    let own = "\(entity.declarer(of: relationship.name).name)_\(relationship.name)"
    // Without an inverse, the side that declares the relationship is the owner.
    guard let target, let inverse else { return .pairs(table: own, isOwner: true) }
    let other = "\(target.declarer(of: inverse.name).name)_\(inverse.name)"
    // The side whose name sorts first names the table, and is its owner.
    return .pairs(table: min(own, other), isOwner: own <= other)
  }

  /// The names of all tables of pairs.
  var pairTables: Set<String> {
    var names: Set<String> = []
    for entity in schema.entities {
      for case let relationship as Schema.Relationship in entity.storedProperties {
        if case .pairs(let table, _) = storage(of: relationship, in: entity) { names.insert(table) }
      }
    }
    return names
  }
}

// MARK: - Storage

/// Where the pairs of a relationship are stored, by the names of tables and columns.
enum LinkStorage: Hashable {
  /// In a column of the owners' table.
  case column(table: String, column: String)
  /// In a column of the destinations' table; several relationships may share it, distinguished by their number.
  case inverse(table: String, column: String, list: Int?)
  /// In a table of pairs, whose owner column holds this relationship's owners or its targets.
  case pairs(table: String, isOwner: Bool)

  /// The table, and the column if there is one.
  var column: [String] {
    switch self {
    case .column(let table, let column), .inverse(let table, let column, _): [table, column]
    case .pairs(let table, _): [table]
    }
  }

  /// A key that both sides of a relationship have in common.
  var key: String {
    switch self {
    case .column(let table, let column): "\(table).\(column)"
    case .inverse(let table, let column, let list): "\(table).\(column)#\(list ?? 0)"
    case .pairs(let table, _): table
    }
  }
}

// MARK: - Reading pairs

/// Selects the pairs of a relationship as `owner`, `target`, `owner_place` and `target_place`: the place of the
/// target among the owner's, and of the owner among the target's.
///
/// For the stops of trips, which are stored in the stops' column:
///
/// ```sql
/// SELECT "trip" AS owner, "_id" AS target, ifnull("_trip_order", "_id") AS owner_place,
///   NULL AS target_place FROM "Stop" WHERE "trip" IS NOT NULL
/// ```
struct LinkQuery {
  /// The SELECT, without parameters.
  let sql: String

  /// The rows of some classes of a hierarchy's table.
  struct Rows {
    let table: String
    /// The classes' numbers.
    let classes: [Int]
  }

  /// Makes the SELECT.
  ///
  /// - Parameters:
  ///   - columns: The columns of the table, since the ones of order are not in all.
  ///   - owners: The owners' classes, and `targets` those of the targets, if their tables have others, too: these may
  ///     share the column or inherit the table of pairs.
  init(_ storage: LinkStorage, columns: Set<String>, owners: Rows?, targets: Rows?) {
    let all = Self.all(storage, columns)
    let tests = [("owner", owners), ("target", targets)].compactMap { side, rows in
      rows.map {
        "\(side) IN (SELECT \"_id\" FROM \($0.table.sqlName) WHERE \"_entity\" IN "
          + "(\($0.classes.map(String.init).joined(separator: ", "))))"
      }
    }
    sql = tests.isEmpty ? all : "SELECT * FROM (\(all)) WHERE \(tests.joined(separator: " AND "))"
  }

  /// The SELECT of all pairs in a storage, whatever their classes.
  private static func all(_ storage: LinkStorage, _ columns: Set<String>) -> String {
    func order(_ column: String) -> String {
      let name = HiddenColumn.order(of: column)
      // Only a to-one with a to-many inverse has a column of order.
      return columns.contains(name) ? "ifnull(\(name.sqlName), \"_id\")" : "\"_id\""
    }
    switch storage {
    case .column(let table, let column):
      let name = column.sqlName
      return
        "SELECT \"_id\" AS owner, \(name) AS target, NULL AS owner_place, \(order(column)) AS target_place "
        + "FROM \(table.sqlName) WHERE \(name) IS NOT NULL"
    case .inverse(let table, let column, let list):
      let name = column.sqlName
      let listColumn = HiddenColumn.list(of: column)
      // Without the column there is one list alone.
      let only =
        columns.contains(listColumn) ? " AND ifnull(\(listColumn.sqlName), 0) = \(list ?? 0)" : ""
      return
        "SELECT \(name) AS owner, \"_id\" AS target, \(order(column)) AS owner_place, NULL AS target_place "
        + "FROM \(table.sqlName) WHERE \(name) IS NOT NULL\(only)"
    case .pairs(let table, let isOwner):
      let (owner, target) = isOwner ? ("owner", "target") : ("target", "owner")
      return
        "SELECT \(owner) AS owner, \(target) AS target, ifnull(\(owner)_order, \"_id\") AS owner_place, "
        + "ifnull(\(target)_order, \"_id\") AS target_place FROM \(table.sqlName)"
    }
  }
}
