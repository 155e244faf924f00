import SteadSQLite

/// The rows of one table as they were before transactions changed them; the table is drawn in RecordStore.md.
///
/// Triggers write it: the file's triggers for plain SQL, and temporary ones on this library's writing connection, which
/// has the file's triggers off. So it has every change of a row, whatever made it, and a row's first entry after a
/// transaction holds the row as of that transaction.
struct OldRowTable {
  /// What the names of these tables begin with.
  static let prefix = "stead_old_"
  /// The key in `stead_metadata` of the transaction after which all changes have old rows.
  static let startKey = "old_rows"
  /// The bits of an entry's number that count the entries of one transaction: at most 2³² in a table. The rest is the
  /// transaction's number: at most 2³¹.
  static let entryBits: Int64 = 32

  /// The table that the rows belong to, unquoted.
  let table: String
  /// Its columns, unquoted, without `_id` and without those that SQLite computes.
  let columns: [String]
  /// The columns of each of its unique indexes.
  let keys: [[String]]

  var name: String { Self.prefix + table }

  /// The number of the first entry that a transaction can have.
  static func firstEntry(of transaction: Int64) -> Int64 { transaction << entryBits }

  /// The tables of a store's entities and of their pairs.
  static func all(tables: [TableLayout], layout: StoreLayout, entities: Set<Int>) -> [Self] {
    let held = layout.entities.filter { entities.contains($0.index) }
    var result = tables.map { table in
      let family = held.filter { $0.table == table.name }
      let keys = family.flatMap { entity in
        entity.uniqueConstraints.map { $0.compactMap { entity.properties[$0].column } }
      }
      return Self(
        table: table.name,
        columns: (table.isHierarchy ? ["_entity"] : [])
          + (table.columns + table.orders).map(\.name),
        keys: Set(keys).sorted { $0.lexicographicallyPrecedes($1) })
    }
    var seen: Set<String> = []
    for join in held.flatMap({ entity in
      entity.joined.compactMap { entity.properties[$0].joinTable }
    })
    where seen.insert(join.name).inserted {
      result.append(
        Self(
          table: join.name, columns: ["owner", "target", "owner_order", "target_order"],
          keys: [["owner", "target"]]))
    }
    return result
  }

  // MARK: SQL

  /// The statement that creates the table. The columns have no type, so that values stay unconverted.
  var creation: String {
    "CREATE TABLE \(name.sqlName) (\"_stead_entry\" INTEGER PRIMARY KEY, "
      + "\"_stead_row\" INTEGER NOT NULL, \"_stead_was\" INTEGER NOT NULL"
      + columns.map { ", \($0.sqlName)" }.joined() + ")"
  }

  var columnList: String { columns.map(\.sqlName).joined(separator: ", ") }

  private var head: String {
    "INSERT INTO \(name.sqlName) (\"_stead_entry\", \"_stead_row\", \"_stead_was\""
  }

  /// The number of the next entry: of the transaction that is open.
  private var next: String {
    "max(ifnull((SELECT max(\"_stead_entry\") FROM \(name.sqlName)), 0), "
      + "(SELECT max(number) FROM \(HistoryTable.name)) + 1 << \(Self.entryBits)) + 1"
  }

  private var fullHead: String { head + columns.map { ", \($0.sqlName)" }.joined() + ")" }

  /// Notes what a changed or deleted row was.
  var noteOld: String {
    let values = columns.map { ", old.\($0.sqlName)" }.joined()
    return "\(fullHead) VALUES (\(next), old.\"_id\", 1\(values));"
  }

  /// Notes that an inserted row was not.
  var noteNew: String { "\(head)) VALUES (\(next), new.\"_id\", 0);" }

  /// Notes that a row that gets another number did not exist.
  var noteMoved: String {
    "\(head)) SELECT \(next), new.\"_id\", 0 WHERE new.\"_id\" <> old.\"_id\";"
  }

  /// Notes the rows that an insert replaces, where it is one that replaces.
  var noteReplaced: String {
    note(where: "\"_id\" = new.\"_id\"") + keys.map { " " + note(where: match($0)) }.joined()
  }

  /// Notes the rows that an update replaces, where it is one that replaces.
  var noteDisplaced: String {
    note(where: "\"_id\" = new.\"_id\" AND new.\"_id\" <> old.\"_id\"")
      + keys.map { " " + note(where: match($0) + " AND \"_id\" <> old.\"_id\"") }.joined()
  }

  private func match(_ key: [String]) -> String {
    key.map { "\($0.sqlName) = new.\($0.sqlName)" }.joined(separator: " AND ")
  }

  /// One row at most, since the numbers of two would be the same.
  private func note(where condition: String) -> String {
    "\(fullHead) SELECT \(next), \"_id\", 1\(columns.map { ", \($0.sqlName)" }.joined()) "
      + "FROM \(table.sqlName) WHERE \(condition) LIMIT 1;"
  }

  // MARK: Triggers of the connection that writes

  private static let events = ["insert", "update", "delete"]

  /// Has the connection's own changes noted, though it has the file's triggers off.
  func makeTemporaryTriggers(on connection: StoreConnection) throws {
    try dropTemporaryTriggers(on: connection)
    for (event, note) in zip(Self.events, [noteNew, noteOld, noteOld]) {
      try connection.execute(
        "CREATE TEMP TRIGGER \("\(name)_\(event)".sqlName) AFTER \(event) ON \(table.sqlName) "
          + "BEGIN \(note) END")
    }
  }

  func dropTemporaryTriggers(on connection: StoreConnection) throws {
    for event in Self.events {
      try connection.execute("DROP TRIGGER IF EXISTS temp.\("\(name)_\(event)".sqlName)")
    }
  }
}
