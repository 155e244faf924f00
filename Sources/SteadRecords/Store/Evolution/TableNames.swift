import SteadSQLite

/// The tables and columns that a store has.
struct StoreCatalog {
  /// The columns of each table, with the first words of their declared types.
  ///
  /// A second word, as in `REAL BLOB`, only turns off SQLite's conversion. Columns with and without it are compared as
  /// one type.
  let columns: [String: [String: String]]

  /// Reads the columns of all tables, generated ones included. Views are left out.
  init(_ connection: StoreConnection) throws {
    let rows = try connection.rows(
      "SELECT s.name, c.name, substr(c.type, 1, instr(c.type || ' ', ' ') - 1) "
        + "FROM sqlite_schema AS s, pragma_table_xinfo(s.name) AS c WHERE s.type = 'table'")
    var columns: [String: [String: String]] = [:]
    for row in rows {
      guard case .text(let table) = row[0], case .text(let name) = row[1],
        case .text(let type) = row[2]
      else { continue }
      columns[table, default: [:]][name] = type
    }
    self.columns = columns
  }

  /// Completes a recorded schema of an earlier version of this library from the columns, where it says too little of types
  /// that the program lacks.
  func complete(_ match: SchemaMatch, as layout: StoreLayout) {
    for entity in match.old.entities {
      guard let columns = columns[entity.root.name] else { continue }
      let model = match.newEntities[entity.name].flatMap { layout.entity(named: $0.name) }
      for property in entity.properties {
        let type = columns[property.name]
        switch property {
        case let attribute as Schema.Attribute
        // `Any` stands for a type that the program no longer has.
        where attribute.recorded == nil && attribute.valueType == Any.self:
          let property = match.newProperty(attribute.name, of: entity.name).flatMap {
            model?.property(named: $0.name)
          }
          guard let now = property, case .attribute(let encoding) = now.kind,
            // The column's type has to be the one that the new property would have.
            TableLayout.type(of: encoding).hasPrefix(type ?? "-")
          else { continue }
          // A default value replaces nil.
          attribute.recorded = RecordedForm(
            isOptional: now.isOptional || now.defaultValue != nil, encoding: encoding.rawValue)
        case let relationship as Schema.Relationship
        where relationship.recorded == nil && relationship.valueType == Any.self:
          // A to-many relationship has no column.
          relationship.recorded = RecordedForm(isOptional: true, isToOne: type != nil)
        default: break
        }
      }
    }
  }
}

extension StoreConnection {
  /// The columns of a table that SQLite computes.
  func generatedColumns(of table: String) throws -> [String] {
    try rows("SELECT name FROM pragma_table_xinfo(?1) WHERE hidden IN (2, 3)", [.text(table)])
      .compactMap { if case .text(let name)? = $0.first { name } else { nil } }
  }
}

// MARK: - Tables and columns before and after

/// The names of a store's tables and columns before and after a migration.
struct TableNames {
  /// The new name of each table that stays, by its old one.
  private(set) var tables: [String: String] = [:]
  /// By old table, the new name of each column that stays, by its old one.
  private(set) var columns: [String: [String: String]] = [:]
  /// By old table, the columns that go.
  private(set) var dropped: [String: Set<String>] = [:]
  /// The tables that are dropped, without those of pairs.
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
      // None of its classes is left.
      guard tables[table] != nil else {
        droppedTables.insert(table)
        continue
      }
      for property in old.storedProperties {
        guard Self.isColumn(property) else { continue }
        let now = match.newProperty(property.name, of: old.name)
        let stays = now.map(Self.isColumn) ?? false
        // With the hidden columns of its order and its list.
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

  /// The names of columns afterwards; nil if one of them is dropped.
  func renamed(_ source: DerivedNames.Columns) -> DerivedNames.Columns? {
    // A table of pairs, whose columns have fixed names.
    if tables[source.table] == nil, columns[source.table] == nil,
      !droppedTables.contains(source.table)
    {
      return source
    }
    guard let table = tables[source.table] else { return nil }
    let renamed = source.columns.compactMap { columns[source.table]?[$0] }
    return renamed.count == source.columns.count
      ? DerivedNames.Columns(table: table, columns: renamed) : nil
  }

  /// A relationship's storage by the names afterwards.
  func renamed(_ storage: LinkStorage) -> LinkStorage {
    // What is not in the maps has kept its name.
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

// MARK: - What is made of columns

/// What a schema derives from its columns: indexes, search tables and generated columns.
///
/// The index `Stop_trip`, for example, is of the column `trip` of the table `Stop`.
struct DerivedNames {
  /// Columns of a table, in an order.
  struct Columns: Equatable {
    let table: String
    let columns: [String]
  }

  /// The columns of each index, by its name.
  private(set) var indices: [String: Columns] = [:]
  /// The columns of each search table, by its name.
  private(set) var searches: [String: Columns] = [:]
  /// By table, the generated columns, each with its source column.
  private(set) var generated: [String: [String: String]] = [:]

  /// Derives the names from a schema alone, whose types the program may lack.
  init(_ schema: Schema) {
    let links = SchemaLinks(schema)
    for entity in schema.entities {
      let table = entity.root.name
      for set in entity.allConstraints(\.uniquenessConstraints) {
        indices[TableIndex.name(table, set, isUnique: true)] = Columns(table: table, columns: set)
      }
      for set in entity.allConstraints(\.indices) {
        indices[TableIndex.name(table, set, isUnique: false)] = Columns(table: table, columns: set)
      }
      var searched: [String] = []
      for property in entity.storedProperties {
        switch property {
        case let relationship as Schema.Relationship:
          switch links.storage(of: relationship, in: entity) {
          case .column(let table, let column):
            indices[TableIndex.name(table, reference: column)] = Columns(
              table: table, columns: [column])
          case .pairs(let pairs, _):
            indices[TableIndex(ofPairs: pairs).name] = Columns(table: pairs, columns: ["target"])
          // Stored in the other side's column, whose index is found with that side.
          case .inverse: break
          }
        case let attribute as Schema.Attribute:
          if attribute.options.contains(.spotlight) { searched.append(attribute.name) }
          for field in attribute.computedFields {
            let name = "\(attribute.name)_\(field)"
            // Of two fields with one name the first has the column, as in `TableLayout`.
            let isTaken = generated[table]?.keys.contains { $0.lowercased() == name.lowercased() }
            if isTaken != true { generated[table, default: [:]][name] = attribute.name }
          }
        default: break
        }
      }
      if !searched.isEmpty {
        searches[HiddenTable.search(of: entity.name)[0]] = Columns(table: table, columns: searched)
      }
    }
  }

  /// For the current models, whose tables say which fields have a generated column.
  init(_ layout: StoreLayout, _ tables: [TableLayout]) {
    self.init(layout.schema)
    let wanted = Dictionary(
      uniqueKeysWithValues: tables.map { ($0.name, Set($0.generated.map(\.name))) })
    for (table, columns) in generated {
      generated[table] = columns.filter { wanted[table]?.contains($0.key) ?? false }
    }
  }
}

// MARK: - Renaming

/// Renames in an order in which no two names are ever the same.
///
/// SQLite renames one table or column at a time. If names are swapped or rotated, all go by a temporary name.
///
/// If `a` and `b` swap their names, the steps are `a` to `stead_renamed_0`, `b` to
/// `stead_renamed_1`, and from there to `b` and `a`.
struct RenamingSteps {
  /// One `ALTER TABLE … RENAME`.
  struct Step: Equatable {
    let from: String
    let to: String
  }

  /// The steps, in order. Empty if no name changes.
  let steps: [Step]

  /// - Parameter names: The new name of each, by its old one, those that stay included.
  init(_ names: [String: String]) {
    let changed = names.filter { $0.key != $0.value }.sorted { $0.key < $1.key }
    // SQLite does not tell upper from lower case.
    let before = Set(changed.map { $0.key.lowercased() })
    guard changed.contains(where: { before.contains($0.value.lowercased()) }) else {
      steps = changed.map { Step(from: $0.key, to: $0.value) }
      return
    }
    let between = changed.indices.map { "stead_renamed_\($0)" }
    steps =
      zip(changed, between).map { Step(from: $0.key, to: $1) }
      + zip(changed, between).map { Step(from: $1, to: $0.value) }
  }
}
