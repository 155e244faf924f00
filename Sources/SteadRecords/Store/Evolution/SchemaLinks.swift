/// Where a schema stores its relationships: the same rules as `StoreLayoutBuilder`, for a recorded schema, whose types the
/// program may lack. The two must agree.
struct SchemaLinks {
  private let schema: Schema
  private let sharing: SharedInverses

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
    let own = "\(entity.declarer(of: relationship.name).name)_\(relationship.name)"
    guard let target, let inverse else { return .pairs(table: own, isOwner: true) }
    let other = "\(target.declarer(of: inverse.name).name)_\(inverse.name)"
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
struct LinkQuery {
  let sql: String

  /// The rows of some classes of a hierarchy's table.
  struct Rows {
    let table: String
    /// The classes' numbers.
    let classes: [Int]
  }

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

  private static func all(_ storage: LinkStorage, _ columns: Set<String>) -> String {
    func order(_ column: String) -> String {
      let name = HiddenColumn.order(of: column)
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
