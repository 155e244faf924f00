import SteadSQLite

/// A trigger that writes the history of a program that is not this library.
///
/// This library's writing connections turn the file's triggers off, and write their changes themselves. A trigger only
/// calls SQLite's own functions. It cannot see where a transaction begins, so each changed row becomes a separate
/// transaction.
struct HistoryTrigger {
  /// The trigger's name, unquoted. It begins with ``HistoryTable/triggerPrefix``.
  let name: String
  /// The statement that makes the trigger, compared with the file's to the character.
  let sql: String

  /// Makes a trigger of an event of a table.
  private init(_ table: String, _ event: String, _ body: String, isBefore: Bool = false) {
    name = "\(HistoryTable.triggerPrefix)\(table)_\(isBefore ? "before_" : "")\(event.lowercased())"
    sql =
      "CREATE TRIGGER \(name.sqlName) \(isBefore ? "BEFORE" : "AFTER") \(event) "
      + "ON \(table.sqlName) BEGIN \(body) END"
  }

  /// The trigger with a statement before its own that records the row version: once the transaction's row is written,
  /// its number is no longer the next one.
  private func recordingFirst(_ statement: String) -> Self {
    Self(
      name: name, sql: sql.replacing(" BEGIN ", with: " BEGIN \(statement) ", maxReplacements: 1))
  }

  private init(name: String, sql: String) {
    self.name = name
    self.sql = sql
  }

  /// The trigger that turns each row which the others insert into a transaction.
  private init() {
    name = "\(HistoryTable.triggerPrefix)foreign"
    // RAISE(IGNORE) leaves the row out of the table, and the statement that fired the trigger continues.
    // The stamp is the present time as `EditClock` has it, or one more than the last stamp where
    // the system's clock has gone back. 2440587.5 is the Julian day on which 1970 begins. An update
    // of no recorded property adds no row.
    sql =
      """
      CREATE TRIGGER \(name) BEFORE INSERT ON \(HistoryTable.foreignName) BEGIN \
      INSERT INTO \(HistoryTable.name) (stamp, changes) SELECT \
      max(CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER) << \(EditClock.counterBits), \
      ifnull((SELECT stamp FROM \(HistoryTable.name) ORDER BY number DESC LIMIT 1), 0) + 1), \
      \(HistoryFormat.foreignText) \
      WHERE new.kind <> 1 OR new.properties <> ''; \
      SELECT RAISE(IGNORE); END
      """
  }

  /// All triggers of a store's tables.
  ///
  /// - Parameter old: The tables of row versions that they write, too.
  static func all(
    tables: [TableLayout], layout: StoreLayout, entities: Set<Int>, old: [RowVersionTable]
  ) -> [Self] {
    let held = layout.entities.filter { entities.contains($0.index) }
    let ofRows = tables.flatMap { table in
      Self.ofRows(table, held.filter { $0.table == table.name })
    }
    let noted = Dictionary(uniqueKeysWithValues: old.map { ($0.table, $0) })
    // The number of the next transaction is part of a version's key, so versions come first.
    let triggers = (ofRows + ofPairs(held)).map { trigger in
      guard let old = noted[trigger.table] else { return trigger.trigger }
      switch trigger.event {
      case "INSERT": return trigger.trigger.recordingFirst(old.recordNew)
      case "UPDATE": return trigger.trigger.recordingFirst("\(old.recordOld) \(old.recordMoved)")
      default: return trigger.trigger.recordingFirst(old.recordOld)
      }
    }
    let replacing = old.flatMap { old in
      [
        // BEFORE: afterwards the rows that are replaced are gone.
        Self(old.table, "INSERT", old.recordReplaced, isBefore: true),
        Self(old.table, "UPDATE", old.recordDisplaced, isBefore: true),
      ]
    }
    return [Self()] + triggers + replacing
  }

  /// A trigger of an event of a table.
  private struct Event {
    let table: String
    let event: String
    let trigger: HistoryTrigger

    init(_ table: String, _ event: String, _ body: String) {
      self.table = table
      self.event = event
      trigger = HistoryTrigger(table, event, body)
    }
  }

  // MARK: Rows

  /// The triggers of a hierarchy's table. An UPDATE lists the properties whose columns changed, ephemeral ones excluded.
  ///
  /// ```sql
  /// CREATE TRIGGER "stead_history_Trip_update" AFTER UPDATE ON "Trip" BEGIN
  ///   INSERT INTO stead_foreign VALUES
  ///     (1, 'Trip', new."_id", iif(new."name" IS NOT old."name", ',"name"', ''), NULL); END
  /// ```
  private static func ofRows(_ table: TableLayout, _ family: [EntityLayout]) -> [Event] {
    let note = "INSERT INTO \(HistoryTable.foreignName) VALUES"
    // Classes of a hierarchy share the table, so a property that several have is listed once.
    var seen: Set<String> = []
    let properties = family.flatMap(\.properties).filter {
      $0.column != nil && seen.insert($0.name).inserted
    }
    let preserved = PreservedColumns(properties)
    let changes = join(
      properties.filter { !$0.isEphemeral }.map { property in
        HistoryFormat.changedItem(property.name, ifChanged: (property.column ?? "").sqlName)
      })
    let names = HistoryFormat.preservedList(preserved.properties.map(\.name))
    let tombstone = "\(names), \(preserved.isEmpty ? "''" : preserved.list(of: "old."))"
    return [
      Event(table.name, "INSERT", "\(note) (0, \(name(family, "new")), new.\"_id\", NULL, NULL);"),
      Event(
        table.name, "UPDATE", "\(note) (1, \(name(family, "new")), new.\"_id\", \(changes), NULL);"),
      Event(
        table.name, "DELETE", "\(note) (2, \(name(family, "old")), old.\"_id\", \(tombstone));"),
    ]
  }

  /// The name of a row's entity, as SQL.
  private static func name(_ family: [EntityLayout], _ row: String) -> String {
    guard family.contains(where: { $0.discriminator != nil }) else {
      return literal(family.first?.name ?? "")
    }
    let cases = family.map { "WHEN \($0.discriminator ?? 0) THEN \(literal($0.name))" }
    // A row of no known class is recorded without a name, and a reader leaves it out.
    return "CASE \(row).\"_entity\" \(cases.joined(separator: " ")) ELSE '' END"
  }

  /// A string as an SQL literal.
  private static func literal(_ text: String) -> String {
    "'\(text.replacing("'", with: "''"))'"
  }

  /// Concatenates terms as a balanced tree, since SQLite limits the depth of an expression.
  ///
  /// A model may have as many properties as ``_RowReader`` takes, which a chain of terms would nest
  /// too deeply.
  private static func join(_ terms: [String]) -> String {
    var terms = terms.isEmpty ? ["''"] : terms
    while terms.count > 1 {
      terms = stride(from: 0, to: terms.count, by: 2).map { index in
        index + 1 < terms.count ? "(\(terms[index]) || \(terms[index + 1]))" : terms[index]
      }
    }
    return terms[0]
  }

  // MARK: Pairs

  /// A side of a table of pairs: its column, and the relationship of the rows in it.
  private struct Side: Hashable {
    /// The table of pairs.
    let table: String
    /// The column with the numbers of this side's rows.
    let column: String
    /// The relationship that shows the pairs on this side.
    let property: String
    /// The index of the hierarchy's root, whose table has the rows.
    let root: Int

    /// The SQL that records an update of a side's row.
    func note(_ row: String, _ family: [EntityLayout], _ table: String, where test: String? = nil)
      -> String
    {
      "INSERT INTO \(HistoryTable.foreignName) SELECT 1, \(name(family, "t")), t.\"_id\", "
        + "\(HistoryFormat.changedItem(property)), NULL FROM \(table.sqlName) AS t WHERE t.\"_id\" = \(row).\(column)"
        + (test.map { " AND \($0)" } ?? "") + ";"
    }
  }

  /// The triggers of tables of pairs: each change is an update of the rows on both sides that have a relationship there.
  private static func ofPairs(_ held: [EntityLayout]) -> [Event] {
    var sides: [String: [Side]] = [:]
    for entity in held {
      for property in entity.joined.map({ entity.properties[$0] }) {
        guard let join = property.joinTable else { continue }
        let side = Side(
          table: join.name, column: join.owner, property: property.name, root: entity.rootIndex)
        // Subclasses inherit the relationship, and it is recorded once.
        if sides[join.name]?.contains(side) != true { sides[join.name, default: []].append(side) }
      }
    }
    return sides.sorted { $0.key < $1.key }.flatMap { table, sides in
      func notes(_ row: String, where test: (Side) -> String? = { _ in nil }) -> String {
        sides.map { side in
          let family = held.filter { $0.rootIndex == side.root }
          return side.note(row, family, family.first?.table ?? "", where: test(side))
        }.joined(separator: " ")
      }
      // An UPDATE may lead a pair to another row. The row that it leaves has changed, too.
      let moved = notes("old") { "old.\($0.column) IS NOT new.\($0.column)" }
      return [
        Event(table, "INSERT", notes("new")), Event(table, "DELETE", notes("old")),
        Event(table, "UPDATE", notes("new") + " " + moved),
      ]
    }
  }
}

// MARK: - Preserved values

/// The columns of an entity, or of several in one table, whose values the history preserves when a row is deleted.
struct PreservedColumns {
  /// The properties, in the order of their columns in the table.
  let properties: [PropertyLayout]

  /// Picks the properties that are preserved and have a column.
  init(_ properties: [PropertyLayout]) {
    self.properties = properties.filter { $0.isPreserved && $0.column != nil }
  }

  var isEmpty: Bool { properties.isEmpty }

  var set: PropertySet { PropertySet(properties.map(\.index)) }

  /// SQL for a JSON array of the values as SQL literals.
  ///
  /// - Parameter row: What the columns' names are prefixed with.
  func list(of row: String = "") -> String {
    HistoryFormat.valueList(properties.map { row + ($0.column ?? "").sqlName })
  }
}
