import Foundation
import SteadPreferences
import SteadRecords

/// What a store says of itself: its entities, and which tables there are.
struct CoreDataCatalog {
  /// An entity of the store's model.
  struct Entity {
    /// The number that rows and columns refer to it by.
    let number: Int64
    let name: String
    /// Itself, then the entities above it.
    var lineage: [Int64]
    /// The entity at the top of its hierarchy.
    var root: String
    /// The table of the hierarchy, as the database writes it.
    var table: String
    /// Whether it belongs to Core Data itself: history, and the records of its syncing.
    var isInternal: Bool
  }

  /// Entities from this number on are Core Data's own.
  static let firstInternalNumber: Int64 = 16_000
  private static let ownTables: Set<String> = ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"]

  /// The store's UUID, or another text that it has in its place.
  let identifier: String
  let entities: [Int64: Entity]
  /// The columns of each ordinary table.
  let columns: [String: [String]]
  /// The names of the entities in the model that last wrote the store.
  let modelEntities: Set<String>

  init(_ store: ForeignStore) throws {
    let columns = try Self.readColumns(store)
    for table in ["Z_PRIMARYKEY", "Z_METADATA"] where columns[table] == nil {
      throw TransferError(
        code: .unreadable,
        message: "The database has no table \(table), so it is no store of Core Data or SwiftData.")
    }
    self.columns = columns
    let metadata = try store.rows(
      "SELECT Z_UUID, Z_PLIST, Z_VERSION FROM Z_METADATA ORDER BY Z_VERSION DESC LIMIT 1")
    guard let row = metadata.first, case .text(let identifier) = row[0] else {
      throw TransferError(
        code: .unreadable, message: "The store has no identifier in Z_METADATA; it is damaged.")
    }
    // The only layout that was ever seen. Another one would be read wrongly.
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
  }

  private static func readColumns(_ store: ForeignStore) throws -> [String: [String]] {
    var result: [String: [String]] = [:]
    try store.forEachRow(
      "SELECT m.name, c.name FROM sqlite_schema AS m, pragma_table_xinfo(m.name) AS c "
        + "WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%' "
        + "AND m.name NOT LIKE 'sqlite!_%' ESCAPE '!' AND c.hidden = 0 ORDER BY m.rowid, c.cid"
    ) { row in
      guard case .text(let table) = row[0], case .text(let column) = row[1] else { return }
      result[table, default: []].append(column)
    }
    return result
  }

  private static func entityNames(_ value: SQLValue) -> Set<String> {
    guard case .blob(let data) = value,
      case .dictionary(let fields)? = try? PropertyList.parse(data),
      case .dictionary(let hashes)? = fields["NSStoreModelVersionHashes"]
    else { return [] }
    return Set(hashes.map(\.key))
  }

  private static func readEntities(
    _ store: ForeignStore, _ columns: [String: [String]]
  ) throws -> [Int64: Entity] {
    var names: [Int64: (name: String, parent: Int64)] = [:]
    for row in try store.rows("SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY") {
      guard case .integer(let number) = row[0], case .text(let name) = row[1], !name.isEmpty,
        names[number] == nil
      else { throw damaged("Z_PRIMARYKEY has a row that is no entity.") }
      let parent: Int64 = if case .integer(let parent) = row[2] { parent } else { 0 }
      names[number] = (name, parent)
    }
    var result: [Int64: Entity] = [:]
    for (number, entry) in names {
      var lineage = [number]
      var parent = entry.parent
      while parent != 0 {
        guard names[parent] != nil, !lineage.contains(parent) else {
          throw damaged("The entities above \(entry.name) lead nowhere, or in a circle.")
        }
        lineage.append(parent)
        parent = names[parent]?.parent ?? 0
      }
      let root = names[lineage[lineage.count - 1]]?.name ?? entry.name
      let isInternal = number >= firstInternalNumber
      let wanted = (isInternal ? "A" : "Z") + root.uppercased()
      let table = columns.keys.first { $0.uppercased() == wanted }
      result[number] = Entity(
        number: number, name: entry.name, lineage: lineage, root: root, table: table ?? "",
        isInternal: isInternal)
    }
    return result
  }

  static func damaged(_ reason: String) -> TransferError {
    TransferError(
      code: .unreadable,
      message: "\(reason) The store is damaged; import a backup of it. It was left as it is.")
  }

  /// The tables that hold neither an entity's rows nor pairs of a relationship.
  var unknownTables: [String] {
    let known = Set(entities.values.map(\.table)).union(Self.ownTables)
    return columns.keys.filter { table in
      !known.contains(table) && CoreDataPairs(table, columns[table] ?? []) == nil
    }.sorted()
  }

  /// The entity that a class's rows come from by its name alone, nil when there is none or several.
  func entity(named name: String) -> Entity? {
    let own = entities.values.filter { !$0.isInternal }
    if let exact = own.first(where: { $0.name == name }) { return exact }
    let similar = own.filter { $0.name.caseInsensitiveCompare(name) == .orderedSame }
    return similar.count == 1 ? similar.first : nil
  }

  /// The name that the model has for an entity that `Z_PRIMARYKEY` has another name for.
  ///
  /// An entity that a lightweight migration renamed keeps its old name there. When one name is left over
  /// on either side, they are the same entity.
  var renamedEntity: (stored: String, model: String)? {
    let stored = Set(entities.values.filter { !$0.isInternal }.map(\.name))
    let left = stored.subtracting(modelEntities)
    let gained = modelEntities.subtracting(stored)
    guard left.count == 1, gained.count == 1, let old = left.first, let new = gained.first else {
      return nil
    }
    return (old, new)
  }
}

/// A table of pairs: a relationship that is to-many on both sides.
struct CoreDataPairs {
  /// A column that holds row numbers of an entity, and the relationship that leads to it.
  struct Side: Hashable {
    let column: String
    let entity: Int64
    /// The name of the relationship of the other side's entity, in capitals.
    let relationship: String
    /// The column with the places among those that one row of the other side leads to.
    var order: String?
  }

  /// What a column is called that leads from an entity to itself, where a relationship is its own inverse.
  private static let reflexive = "REFLEXIVE"

  let table: String
  let sides: [Side]
  /// Whether the relationship is its own inverse, so that a pair says it for both of its rows.
  let isReflexive: Bool

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

  /// The number and the name in `Z_12NAME`.
  static func numbered(_ text: String, after prefix: String) -> (Int64, String)? {
    guard text.hasPrefix(prefix) else { return nil }
    let rest = text.dropFirst(prefix.count)
    let digits = rest.prefix { $0.isASCII && $0.isNumber }
    let name = rest.dropFirst(digits.count)
    guard !name.isEmpty, let number = Int64(digits) else { return nil }
    return (number, String(name))
  }
}
