/// What the tables and columns of a store are called before a migration, and what afterwards.
struct TableNames {
  /// The new name of each table that stays, by its old one.
  private(set) var tables: [String: String] = [:]
  /// By old table, the new name of each column that stays, by its old one.
  private(set) var columns: [String: [String: String]] = [:]
  /// By old table, the columns that go.
  private(set) var dropped: [String: Set<String>] = [:]
  /// The tables of rows that go.
  private(set) var droppedTables: Set<String> = []

  /// - Parameter existing: The columns of each table that the store has.
  init(_ match: SchemaMatch, existing: [String: [String: String]]) {
    for old in match.old.entities where existing[old.root.name] != nil {
      let table = old.root.name
      if let new = match.newEntities[old.name] { tables[table] = new.root.name }
    }
    for old in match.old.entities {
      let table = old.root.name
      guard let present = existing[table] else { continue }
      guard tables[table] != nil else {
        droppedTables.insert(table)
        continue
      }
      for property in old.storedProperties {
        guard Self.isColumn(property) else { continue }
        let now = match.newProperty(property.name, of: old.name)
        let stays = now.map(Self.isColumn) ?? false
        for (before, after) in HiddenColumn.renamings(from: property.name, to: now?.name ?? "")
        where present[before] != nil {
          if stays {
            columns[table, default: [:]][before] = after
          } else {
            dropped[table, default: []].insert(before)
          }
        }
      }
    }
    // A column that several classes of a hierarchy have stays for those that still have it.
    for (table, names) in columns { dropped[table]?.subtract(names.keys) }
  }

  /// Whether a property is stored in a column of its class's table.
  static func isColumn(_ property: any SchemaProperty) -> Bool {
    (property as? Schema.Relationship)?.isToOneRelationship ?? true
  }

  /// The old name of a table that stays.
  func oldTable(_ new: String) -> String? { tables.first { $0.value == new }?.key }

  /// The old name of a column that stays.
  func oldColumn(_ new: String, of newTable: String) -> String? {
    guard let table = oldTable(newTable) else { return nil }
    return columns[table]?.first { $0.value == new }?.key
  }

  /// What columns are called afterwards, each with its table; nil if one of them goes.
  func renamed(_ place: DerivedNames.Columns) -> DerivedNames.Columns? {
    // A table of pairs, whose columns have fixed names.
    if tables[place.table] == nil, columns[place.table] == nil,
      !droppedTables.contains(place.table)
    {
      return place
    }
    guard let table = tables[place.table] else { return nil }
    let renamed = place.columns.compactMap { columns[place.table]?[$0] }
    return renamed.count == place.columns.count
      ? DerivedNames.Columns(table: table, columns: renamed) : nil
  }

  /// A place of relationships by the names afterwards, as far as these are other ones.
  func renamed(_ storage: LinkStorage) -> LinkStorage {
    func column(_ table: String, _ column: String) -> (String, String) {
      (tables[table] ?? table, columns[table]?[column] ?? column)
    }
    switch storage {
    case .column(let table, let name):
      let new = column(table, name)
      return .column(table: new.0, column: new.1)
    case .inverse(let table, let name, let list):
      let new = column(table, name)
      return .inverse(table: new.0, column: new.1, list: list)
    case .pairs: return storage
    }
  }
}
