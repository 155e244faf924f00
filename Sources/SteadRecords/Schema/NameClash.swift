/// A table of pairs, as one side of a relationship names it.
struct PairTable {
  /// The table's name, unquoted.
  let name: String
  /// The relationship and its inverse, as `Class.property`.
  var sides: Set<String>
}

/// Names that SQLite would take for one, since it does not tell upper from lower case.
///
/// A table of pairs is named after a relationship, and a hidden column after a property, so a model or a property may
/// have the same name by chance.
struct NameClash {
  private let entities: [EntityLayout]
  /// The tables of pairs, each once.
  private var pairTables: [PairTable] = []

  /// - Parameter pairTables: The tables of pairs, of all classes and from both sides.
  init(_ entities: [EntityLayout], pairTables: [PairTable]) {
    self.entities = entities
    for pairs in pairTables {
      // A superclass may lack the inverse that its subclass has, so one side in common is enough.
      let known = self.pairTables.firstIndex {
        $0.name == pairs.name && !$0.sides.isDisjoint(with: pairs.sides)
      }
      if let known {
        self.pairTables[known].sides.formUnion(pairs.sides)
      } else {
        self.pairTables.append(pairs)
      }
    }
  }

  /// Throws if two tables would be one, or two properties one column that cannot hold both.
  func check() throws {
    var problems = models() + tables()
    for family in Dictionary(grouping: entities, by: \.rootIndex).values {
      let family = family.sorted { $0.index < $1.index }
      problems += columns(of: family) + hiddenColumns(of: family)
    }
    guard !problems.isEmpty else { return }
    // Sorted: the dictionaries above have another order in each run, and a message should not.
    throw SchemaProblem(.nameClash, problems.sorted().joined(separator: " "))
  }

  // MARK: - Tables

  /// The prefixes of SQLite's own tables, and of this library's.
  private static let reservedPrefixes = ["sqlite_", "stead_"]

  /// The problems with the names of models.
  private func models() -> [String] {
    var problems: [String] = []
    // SQLite folds ASCII letters only. `lowercased()` folds all letters, so a pair is refused, too,
    // that differs in the case of another letter.
    for (name, family) in Dictionary(grouping: entities, by: { $0.table.lowercased() }) {
      let tables = Set(family.map(\.table)).sorted()
      if tables.count > 1 {
        problems.append(
          "\(tables.joined(separator: " and ")) differ only in case, and SQLite treats them as one "
            + "table. Rename one of the models.")
      }
      if let prefix = Self.reservedPrefixes.first(where: { name.hasPrefix($0) }) {
        problems.append(
          "\(tables[0]) begins with \(prefix), as the tables of SQLite and of this library do. Rename the model."
        )
      }
    }
    return problems
  }

  /// The problems with tables that are made for relationships and for searches.
  private func tables() -> [String] {
    var uses: [String: Set<String>] = [:]
    for entity in entities {
      uses[entity.table.lowercased(), default: []].insert("the model \(entity.table)")
      guard !entity.searchable.isEmpty else { continue }
      for name in HiddenTable.search(of: entity.name) {
        uses[name.lowercased(), default: []].insert("the search of \(entity.name)")
      }
    }
    // Not among models alone, of which there is a problem already.
    let models = Set(uses.filter { $0.value.count > 1 && $0.value.allSatisfy(isModel) }.keys)
    for pairs in pairTables {
      uses[pairs.name.lowercased(), default: []].insert(
        "the relationship \(pairs.sides.sorted().joined(separator: " with "))")
    }
    return uses.compactMap { name, users in
      guard users.count > 1, !models.contains(name) else { return nil }
      return
        "These would have one table, whose name is \(name) in any case: \(users.sorted().joined(separator: ", ")). Rename "
        + "one of them."
    }
  }

  private func isModel(_ user: String) -> Bool { user.hasPrefix("the model ") }

  // MARK: - Columns

  /// The problems with the columns of a hierarchy's table.
  private func columns(of family: [EntityLayout]) -> [String] {
    var problems: Set<String> = []
    var taken: [String: (entity: EntityLayout, property: PropertyLayout)] = [:]
    for entity in family {
      for property in entity.properties {
        // A to-many relationship has no column in this table.
        guard let column = property.column else { continue }
        let name = "\(entity.name).\(property.name)"
        if HiddenColumn.isReserved(column) {
          problems.insert(
            "\(name) has the name of a column that every table has. Rename the property.")
          continue
        }
        // An inherited property comes once for each class, with equal names and types, and is no
        // clash.
        guard let (other, known) = taken[column.lowercased()] else {
          taken[column.lowercased()] = (entity, property)
          continue
        }
        let otherName = "\(other.name).\(known.name)"
        if known.column != column {
          problems.insert(
            "\(otherName) and \(name) differ only in case, and SQLite treats them as one column. "
              + "Rename one of the properties.")
        } else if !holdsSame(known, property) {
          problems.insert(
            "\(otherName) and \(name) share a column, since they belong to one class hierarchy, and "
              + "differ in their types. Rename one of the properties, or move it to their superclass."
          )
        }
      }
    }
    return Array(problems)
  }

  /// The problems with properties that have the names of hidden columns of the table.
  private func hiddenColumns(of family: [EntityLayout]) -> [String] {
    var hidden: [String: String] = [:]
    for entity in family {
      for property in entity.properties {
        guard let column = property.column else { continue }
        let name = "\(entity.name).\(property.name)"
        if property.needsOrder(in: entities) {
          hidden[HiddenColumn.order(of: column).lowercased()] = name
        }
        if let list = property.listColumn { hidden[list.lowercased()] = name }
      }
    }
    // A set: subclasses inherit the property.
    var problems: Set<String> = []
    for entity in family {
      for property in entity.properties {
        guard let column = property.column, let owner = hidden[column.lowercased()] else {
          continue
        }
        problems.insert(
          "\(entity.name).\(property.name) has the name of a hidden column of the list over "
            + "\(owner). Rename the property.")
      }
    }
    return Array(problems)
  }

  /// Whether a column can hold the values of both properties.
  private func holdsSame(_ one: PropertyLayout, _ other: PropertyLayout) -> Bool {
    switch (one.kind, other.kind) {
    case (.attribute(let left), .attribute(let right)): left == right
    case (.toOne(let left), .toOne(let right)):
      // A foreign key refers to a table, so the destinations may be two classes of one hierarchy.
      entities[left].rootIndex == entities[right].rootIndex
    default: false
    }
  }
}

/// The names of a store's indexes, of which SQLite has one list with the names of its tables.
///
/// Made for the models of one store: those of two stores may have the same names.
struct IndexNames {
  private var tables: [String: String] = [:]
  private var indexes: [String: Set<TableIndex>] = [:]

  init(_ entities: [EntityLayout]) {
    for entity in entities {
      let joins = entity.joined.compactMap { entity.properties[$0].joinTable?.name }
      let search = entity.searchable.isEmpty ? [] : HiddenTable.search(of: entity.name)
      for table in [entity.table] + joins + search { tables[table.lowercased()] = table }
      let sets = entity.uniqueConstraints.map { ($0, true) } + entity.indices.map { ($0, false) }
      let declared = sets.compactMap { TableIndex($0.0, of: entity, isUnique: $0.1) }
      for index in declared + Self.references(of: entity) + joins.map(TableIndex.init(ofPairs:)) {
        indexes[index.name.lowercased(), default: []].insert(index)
      }
    }
  }

  /// The indexes of a class's to-one relationships.
  private static func references(of entity: EntityLayout) -> [TableIndex] {
    entity.properties.compactMap { property in
      guard case .toOne = property.kind, let column = property.column else { return nil }
      return TableIndex(reference: column, of: entity.table)
    }
  }

  /// Throws if a unique index would have the name of another index, which SQLite would then not make, or an index that
  /// of a table, which SQLite refuses.
  ///
  /// Two indexes of one name that are not unique cost time only, and a store that has been used so stays usable.
  func check() throws {
    let problems = indexes.compactMap { name, indexes -> String? in
      var users = indexes.map { index in
        "the \(index.isUnique ? "unique " : "")index of \(index.columns.joined(separator: ", ")) of "
          + index.table
      }
      if let table = tables[name] { users.append("the table \(table)") }
      guard users.count > 1, tables[name] != nil || indexes.contains(where: \.isUnique) else {
        return nil
      }
      return "These would have one name, which is \(name) in any case: "
        + "\(users.sorted().joined(separator: "; ")). Rename a property or a model."
    }
    guard !problems.isEmpty else { return }
    throw SchemaProblem(.nameClash, problems.sorted().joined(separator: " "))
  }
}
