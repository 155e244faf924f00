import SteadSQLite

/// The numbers that a store's tables have given out before a migration, which gives none of them out again.
///
/// A migration takes away rows and pairs without a save, and drops and renames tables. An identifier is the name of a class
/// and a number, so numbers belong to names: a class that is dropped leaves an entry in `stead_sequence` under its own name,
/// and the table that has a class of that name later goes on from there.
///
/// Costs a look-up for each table, and an entry for each name that a class or a table of pairs has had.
struct GivenNumbers {
  /// The schema before the migration.
  private let old: Schema
  /// The greatest number that each table, of rows or of pairs, has given out, by its old name.
  private let last: [String: Int64]

  /// Reads the numbers, before anything is changed.
  ///
  /// - Parameter existing: The columns of each table that the store has.
  init(
    _ connection: StoreConnection, _ match: SchemaMatch, _ existing: [String: [String: String]]
  ) throws {
    old = match.old
    let tables = Set(old.entities.map(\.root.name)).union(SchemaLinks(old).pairTables)
    var last: [String: Int64] = [:]
    for table in tables where existing[table] != nil {
      last[table] = try connection.lastNumber(in: table)
    }
    self.last = last
  }

  /// Retires the numbers, after everything else.
  ///
  /// Invariant: afterwards the next number of each table is greater than all that the table gave out under its old name,
  /// and than all that objects of its classes had when a class of that name was in another table. So no member's place is
  /// a number that is still to come, and an identifier that somebody has kept leads to its object or to none.
  func retire(
    _ names: TableNames, _ layout: StoreLayout, on connection: StoreConnection
  ) throws {
    for (table, number) in last.sorted(by: { $0.key < $1.key }) where number > 0 {
      var heirs: Set<String> = [names.tables[table] ?? table]
      // With the names that its classes have lost, which another class may have now or later.
      for entity in old.entities where entity.root.name == table {
        heirs.insert(layout.entity(named: entity.name)?.table ?? entity.name)
      }
      for heir in heirs.sorted() { try connection.retire(number, table: heir) }
    }
    // A subclass may have the name of a class that was dropped from another table.
    for entity in layout.entities where entity.name != entity.table {
      let number = try connection.integer(
        "SELECT CAST(last AS INTEGER) FROM stead_sequence WHERE name = ?1", [.text(entity.name)])
      if let number { try connection.retire(number, table: entity.table) }
    }
  }
}
