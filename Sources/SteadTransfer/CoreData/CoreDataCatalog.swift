import Foundation
import SteadFormats
import SteadRecords
import SteadSQLite

/// The catalog of a Core Data store: its entities, tables, columns and, if it keeps it, the model.
///
/// | table | contents |
/// | ----- | -------- |
/// | `Z_METADATA` | `Z_UUID`; `Z_PLIST` with the hashes of the model's entities; `Z_VERSION` of the layout |
/// | `Z_PRIMARYKEY` | an entity a row: number `Z_ENT`, `Z_NAME`, parent `Z_SUPER`, highest row number `Z_MAX` |
/// | `Z_MODELCACHE` | the model, as a compressed keyed archive |
/// | `ZROOT` | the rows of a hierarchy: `Z_PK`, `Z_ENT`, `Z_OPT`, a column `ZNAME` for each attribute and to-one relationship |
/// | `Z_12NAME` | the pairs of a many-to-many relationship |
struct CoreDataCatalog {
  /// An entity of the store's model.
  struct Entity {
    /// The entity's number, in `Z_ENT` of its rows.
    let number: Int64
    /// The entity's name in `Z_PRIMARYKEY`.
    let name: String
    /// The numbers of the entity itself and of its ancestors, from the closest on.
    var lineage: [Int64]
    /// The name of the entity at the root of its hierarchy.
    var root: String
    /// The table of the hierarchy, spelled as in the database; empty if there is none.
    var table: String
    /// Whether Core Data itself owns it: persistent history, and records of CloudKit mirroring.
    var isInternal: Bool
  }

  /// The number of the first entity that Core Data itself owns.
  static let firstInternalNumber: Int64 = 16_000
  /// The maximum number of entities; models have some hundred.
  static let entityLimit = 10_000
  /// The maximum number of ancestors of an entity.
  static let depthLimit = 100
  /// The tables of the catalog itself.
  private static let ownTables: Set<String> = ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"]

  /// The store's `Z_UUID`.
  let identifier: String
  /// The entities by number.
  let entities: [Int64: Entity]
  /// The columns of each ordinary table.
  let columns: [String: [String]]
  /// The declared type of each column of each ordinary table.
  let columnTypes: [String: [String: String]]
  /// The model that the store keeps; nil if it has none, or one of other entities.
  let model: CoreDataModel?
  /// The names of the entities in the model that last wrote the store.
  let modelEntities: Set<String>
  /// The entity that a lightweight migration renamed: its name in `Z_PRIMARYKEY`, which stays, and
  /// in the model.
  ///
  /// If after pairing equal names exactly one is left on each side, they are the same entity.
  let renamedEntity: (stored: String, model: String)?
  /// The names of virtual tables, whose shadow tables have names with theirs as a prefix.
  private let virtualTables: Set<String>

  /// Reads the catalog.
  ///
  /// - Throws: ``TransferError`` for a database that isn't such a store, is damaged, or has another
  ///   layout.
  init(_ store: ForeignStore) throws {
    let (columns, columnTypes) = try Self.readColumns(store)
    // Any other SQLite database ends here.
    for table in ["Z_PRIMARYKEY", "Z_METADATA"] where columns[table] == nil {
      throw TransferError(
        code: .unreadable,
        message:
          "The database has no table \(table), so it isn't a store of Core Data or SwiftData.")
    }
    self.columns = columns
    self.columnTypes = columnTypes
    let metadata = try store.rows(
      "SELECT Z_UUID, Z_PLIST, Z_VERSION FROM Z_METADATA ORDER BY Z_VERSION DESC LIMIT 1")
    guard let row = metadata.first, case .text(let identifier) = row[0] else {
      throw TransferError(
        code: .unreadable, message: "The store has no identifier in Z_METADATA; it is damaged.")
    }
    // The only layout that was ever seen. Another one would be misread.
    guard row[2] == .integer(1) else {
      throw TransferError(
        code: .unsupported,
        message:
          "The store's Z_VERSION is not 1, a layout that is not known. Import it with a newer "
          + "version of this library.")
    }
    self.identifier = identifier
    modelEntities = Self.entityNames(row[1])
    entities = try Self.readEntities(store, columns)
    renamedEntity = Self.renamedEntity(entities, modelEntities)
    // Without hashes in the metadata the model must have the entities of `Z_PRIMARYKEY`.
    let own = Set(entities.values.filter { !$0.isInternal }.map(\.name))
    model =
      columns["Z_MODELCACHE"] == nil
      ? nil
      : try CoreDataModel.stored(in: store, entities: modelEntities.isEmpty ? own : modelEntities)
    virtualTables = try Set(
      store.rows(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL%'"
      ).compactMap { if case .text(let name) = $0[0] { name } else { nil } })
  }

  /// The columns of each table and their types, without virtual tables, which may need modules that
  /// aren't there.
  private static func readColumns(
    _ store: ForeignStore
  ) throws -> (names: [String: [String]], types: [String: [String: String]]) {
    var result: [String: [String]] = [:]
    var types: [String: [String: String]] = [:]
    try store.forEachRow(
      // `hidden` is 0 for ordinary columns; generated ones have no values of their own.
      "SELECT m.name, c.name, c.type FROM sqlite_schema AS m, pragma_table_xinfo(m.name) AS c "
        + "WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%' "
        + "AND m.name NOT LIKE 'sqlite!_%' ESCAPE '!' AND c.hidden = 0 ORDER BY m.rowid, c.cid"
    ) { row in
      guard case .text(let table) = row[0], case .text(let column) = row[1] else { return }
      result[table, default: []].append(column)
      if case .text(let type) = row[2] { types[table, default: [:]][column] = type }
    }
    return (result, types)
  }

  /// An entity's description in the store's model.
  func modelEntity(_ entity: Entity) -> CoreDataModel.Entity? {
    let name = renamedEntity?.stored == entity.name ? renamedEntity?.model : entity.name
    return name.flatMap { model?.entities[$0] }
  }

  /// The names of the model's entities, from the hashes in the metadata.
  private static func entityNames(_ value: SQLValue) -> Set<String> {
    guard case .blob(let data) = value,
      case .dictionary(let fields)? = try? PropertyList.parse(data),
      case .dictionary(let hashes)? = fields["NSStoreModelVersionHashes"]
    else { return [] }
    return Set(hashes.map(\.key))
  }

  /// Reads `Z_PRIMARYKEY`, and finds each entity's ancestors and table. Throws for cycles, unknown
  /// parents, and an entity that has had rows but has no table.
  private static func readEntities(
    _ store: ForeignStore, _ columns: [String: [String]]
  ) throws -> [Int64: Entity] {
    var names: [Int64: (name: String, parent: Int64)] = [:]
    let rows = try store.rows("SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY")
    // A crafted table could otherwise take all memory.
    guard rows.count <= entityLimit else {
      throw damaged("Z_PRIMARYKEY has more than \(entityLimit) entities.")
    }
    for row in rows {
      guard case .integer(let number) = row[0], case .text(let name) = row[1], !name.isEmpty,
        names[number] == nil
      else { throw damaged("Z_PRIMARYKEY has a row that isn't an entity.") }
      // A root has 0. NULL counts as that, too.
      let parent: Int64 = if case .integer(let parent) = row[2] { parent } else { 0 }
      names[number] = (name, parent)
    }
    var result: [Int64: Entity] = [:]
    for (number, entry) in names {
      var lineage = [number]
      var parent = entry.parent
      while parent != 0 {
        // Ancestors are followed in memory, so a cycle would never end.
        guard names[parent] != nil, !lineage.contains(parent), lineage.count < depthLimit else {
          throw damaged("The entities above \(entry.name) lead nowhere, or in a circle.")
        }
        lineage.append(parent)
        parent = names[parent]?.parent ?? 0
      }
      let root = names[lineage[lineage.count - 1]]?.name ?? entry.name
      let isInternal = number >= firstInternalNumber
      // Core Data writes table names in capitals. Tables of its own entities begin with A.
      let wanted = (isInternal ? "A" : "Z") + root.uppercased()
      let table = columns.keys.first { $0.uppercased() == wanted }
      result[number] = Entity(
        number: number, name: entry.name, lineage: lineage, root: root, table: table ?? "",
        isInternal: isInternal)
    }
    for row in rows where (row[3].integer ?? 0) > 0 {
      // Internal entities may have tables of other names, and are not imported.
      guard let number = row[0].integer, let entity = result[number], entity.table.isEmpty,
        !entity.isInternal
      else { continue }
      throw damaged("\(entity.name) has had rows, and has no table.")
    }
    return result
  }

  /// The error for a store that contradicts itself.
  static func damaged(_ reason: String) -> TransferError {
    TransferError(
      code: .unreadable,
      message: "\(reason) The store is damaged; import a backup of it. It was left as it is.")
  }

  /// The tables that have neither rows of an entity nor pairs of a relationship.
  var unknownTables: [String] {
    let known = Set(entities.values.map(\.table)).union(Self.ownTables)
    return columns.keys.filter { table in
      !known.contains(table) && CoreDataPairs(table, columns[table] ?? []) == nil
    }.sorted()
  }

  /// Whether a table is named like those of a model.
  ///
  /// Shadow tables of a spatial index (R*Tree) are, too, and have no data of their own.
  func hasModelName(_ table: String) -> Bool {
    guard table.uppercased().hasPrefix("Z") else { return false }
    return !["_node", "_parent", "_rowid"].contains { ending in
      table.hasSuffix(ending) && virtualTables.contains(String(table.dropLast(ending.count)))
    }
  }

  /// Pairs the only entity that is missing in the model with the only one that is missing in the
  /// store.
  private static func renamedEntity(
    _ entities: [Int64: Entity], _ modelEntities: Set<String>
  ) -> (stored: String, model: String)? {
    let stored = Set(entities.values.filter { !$0.isInternal }.map(\.name))
    let onlyStored = stored.subtracting(modelEntities)
    let onlyInModel = modelEntities.subtracting(stored)
    guard onlyStored.count == 1, onlyInModel.count == 1, let old = onlyStored.first,
      let new = onlyInModel.first
    else {
      return nil
    }
    return (old, new)
  }
}

// MARK: - Join tables

/// A join table, of a relationship that is to-many on both sides.
///
/// Its columns are named by the entity that the numbers in them belong to, and by the relationship
/// of the other side: in `Z_1TAGS` of books and tags, `Z_1BOOKS` has numbers of entity 1 and
/// `Z_2TAGS` of entity 2. `Z_FOK_2TAGS` has positions.
struct CoreDataPairs {
  /// A column that has row numbers of an entity, and the relationship that leads to it.
  struct Side: Hashable {
    let column: String
    let entity: Int64
    /// The relationship of the other side's entity that leads to these rows, in capitals.
    let relationship: String
    /// The column with the positions among the rows that one row of the other side leads to.
    var order: String?
  }

  /// The name of the second column of a relationship that is its own inverse.
  private static let reflexive = "REFLEXIVE"

  /// The table's name as in the database.
  let table: String
  /// The two columns of row numbers.
  let sides: [Side]
  /// Whether the relationship is its own inverse, so that each pair counts in both directions.
  let isReflexive: Bool

  /// Nil if the table's name or one of its columns isn't of a join table.
  init?(_ table: String, _ columns: [String]) {
    guard Self.numbered(table, after: "Z_") != nil else { return nil }
    var sides: [Side] = []
    var orders: [(name: String, column: String)] = []
    var isReflexive = false
    for column in columns {
      let upper = column.uppercased()
      if upper.hasPrefix("Z_FOK_") {
        orders.append((String(upper.dropFirst("Z_FOK_".count)), column))
      } else if upper == Self.reflexive {
        isReflexive = true
        sides.append(Side(column: column, entity: 0, relationship: ""))
      } else if let (number, name) = Self.numbered(upper, after: "Z_") {
        sides.append(Side(column: column, entity: number, relationship: name))
      } else {
        return nil
      }
    }
    guard sides.count == 2 else { return nil }
    // The column REFLEXIVE doesn't say whose numbers it has: those of the same entity.
    if isReflexive, let own = sides.first(where: { $0.entity != 0 }) {
      sides = sides.map {
        $0.entity == 0
          ? Side(column: $0.column, entity: own.entity, relationship: own.relationship) : $0
      }
    }
    for index in sides.indices {
      let side = sides[index]
      sides[index].order =
        orders.first {
          $0.name == "\(side.entity)\(side.relationship)" || $0.name == side.relationship
            || (isReflexive && $0.name == Self.reflexive
              && side.column.uppercased() == Self.reflexive)
        }?.column
    }
    self.table = table
    self.sides = sides
    self.isReflexive = isReflexive
  }

  /// The number and the name in `Z_12NAME`; nil for another form.
  static func numbered(_ text: String, after prefix: String) -> (Int64, String)? {
    guard text.hasPrefix(prefix) else { return nil }
    let rest = text.dropFirst(prefix.count)
    let digits = rest.prefix { $0.isASCII && $0.isNumber }
    let name = rest.dropFirst(digits.count)
    guard !name.isEmpty, let number = Int64(digits) else { return nil }
    return (number, String(name))
  }
}
