import Foundation
import SteadSQLite

extension StoreInspection {
  /// SQLite's own check of pages and indexes.
  ///
  /// Costs reading the whole file. Adds ``StoreCheck/Problem/Kind/damagedPages``, at most
  /// ``pageFindingLimit`` of them.
  mutating func checkPages() throws {
    try progress.send(.checkingPages, 0, of: nil)
    for finding in try connection.rows("PRAGMA integrity_check(\(Self.pageFindingLimit))") {
      guard case .text(let words)? = finding.first, words != "ok" else { continue }
      addProblem(.damagedPages, nil, "SQLite found damage in the file: \(words). Open a backup.")
    }
  }

  /// Compares the models with those that the store was opened with last, and these with the tables.
  ///
  /// Sets ``recorded``, by which later checks tell other models from damage. Adds
  /// ``StoreCheck/Problem/Kind/differentModels``, and what the recorded models lack in the file.
  mutating func checkModels(_ catalog: StoreCatalog) throws {
    for name in ["stead_metadata", "stead_sequence", HistoryTable.name]
    where catalog.columns[name] == nil {
      addProblem(
        .missingTable, nil,
        "The library's table \(name) does not exist. Open the store for writing, which makes it, or open a backup."
      )
    }
    guard catalog.columns["stead_metadata"] != nil else { return }
    guard let stored = try recordedModels() else { return }
    // Tables of models that this container lacks are only known from the record.
    for entity in stored.entities { checkRecorded(entity, catalog) }
    let match = SchemaMatch(from: stored, to: layout.schema)
    catalog.complete(match, as: layout)
    recorded = RecordedTables(stored)
    // A store may hold only some of a container's models.
    let names = Set(entities.map(\.name))
    let difference = SchemaDifference(match)
    for change in difference.changes + difference.refusals where names.contains(change.entity) {
      addProblem(
        .differentModels, layout.entity(named: change.entity),
        "The store was last opened with other models. \(change.description)")
    }
  }

  /// The models that the store was opened with last; nil, which is noted, if they cannot be read.
  private mutating func recordedModels() throws -> Schema? {
    do {
      if let stored = try connection.storedSchema() { return stored }
      addProblem(.differentModels, nil, "The store has no record of its models. Open a backup.")
    } catch let error as SwiftDataError where error.cause is DecodingError {
      addProblem(.differentModels, nil, error.message)
      isRecordReadable = false
    }
    return nil
  }

  /// A recorded model that the container lacks is also compared with its table.
  private mutating func checkRecorded(_ entity: Schema.Entity, _ catalog: StoreCatalog) {
    guard layout.entity(named: entity.name) == nil else { return }
    let table = entity.root.name
    guard let columns = catalog.columns[table] else {
      addProblem(
        .missingTable, nil,
        "The table \(table) of the recorded model \(entity.name) does not exist. Open a backup.")
      return
    }
    for attribute in entity.storedProperties.compactMap({ $0 as? Schema.Attribute })
    where columns[attribute.name] == nil {
      addProblem(
        .missingColumn, nil,
        "The column \(attribute.name) of the recorded model \(entity.name) does not exist. Open a backup."
      )
    }
  }

  /// Whether the table of a hierarchy can be read: anything missing is noted.
  ///
  /// - Returns: Whether its rows can be checked: the table has all columns, and its classes have
  ///   the models' numbers.
  mutating func checkTable(_ table: TableLayout, _ catalog: StoreCatalog) -> Bool {
    let root = layout.entity(named: table.name)
    // If the record of the store lacks it as well, other models explain it.
    guard let columns = catalog.columns[table.name] else {
      if isOfOtherModels(table.name, { $0.columns[table.name] == nil }) { return false }
      addProblem(
        .missingTable, root,
        "The table \(table.name) does not exist. Open the store for writing, which makes an empty one, or open a backup."
      )
      return false
    }
    var isReadable = columns["_id"] != nil
    let number = TableLayout.Column(name: "_entity", declaration: "INTEGER")
    for column in (table.isHierarchy ? [number] : []) + table.columns + table.orders {
      // The first words of the types, as in the catalog.
      let (type, found) = (column.declaration.prefix { $0 != " " }, columns[column.name])
      // A column of another type compares and sorts by other rules. Of any property with external storage, an earlier
      // version of this library made one of BLOB, which keeps each value as it is written.
      if let found, found == type || found == "BLOB" && asksForFiles(column.name, table.name) {
        continue
      }
      isReadable = false
      if isOfOtherModels(table.name, { $0.columns[table.name]?[column.name] == found }) { continue }
      addProblem(
        .missingColumn, root,
        found == nil
          ? "The table \(table.name) has no column \(column.name). Open a backup."
          : "The column \(column.name) of the table \(table.name) is not declared as \(column.declaration). Open a backup."
      )
    }
    for entity in entities where entity.table == table.name { checkPairTables(of: entity, catalog) }
    return isReadable && hasOwnNumbers(table, root)
  }

  private func asksForFiles(_ column: String, _ table: String) -> Bool {
    entities.contains { entity in
      entity.table == table && entity.properties.contains { $0.column == column && $0.asksForFiles }
    }
  }

  /// Finds tables of pairs that are missing.
  private mutating func checkPairTables(of entity: EntityLayout, _ catalog: StoreCatalog) {
    for property in declaredProperties(of: entity) {
      guard let join = property.joinTable, catalog.columns[join.name] == nil,
        !isOfOtherModels(entity.table, { !$0.pairs.contains(join.name) })
      else { continue }
      addProblem(
        .missingTable, entity,
        "The table \(join.name) of the pairs of \(entity.name).\(property.name) does not exist. Open the store for "
          + "writing, which makes an empty one, or open a backup.")
    }
  }

  /// Whether a table lacks something because the store has other models by now, which is noted, and isn't damage.
  ///
  /// - Parameter isAsRecorded: Whether the table is as the recorded models need it.
  func isOfOtherModels(_ table: String, _ isAsRecorded: (RecordedTables) -> Bool) -> Bool {
    guard let recorded, isAsRecorded(recorded) else { return false }
    let names = Set(entities.filter { $0.table == table }.map(\.name))
    return result.problems.contains { problem in
      problem.kind == .differentModels && problem.entity.map(names.contains) == true
    }
  }

  /// Whether the rows of a hierarchy have the numbers that the models give the classes, in the order of all names.
  private mutating func hasOwnNumbers(_ table: TableLayout, _ root: EntityLayout?) -> Bool {
    guard table.isHierarchy, let recorded = recorded?.classes[table.name] else { return true }
    let own = layout.entities.filter { $0.table == table.name }.map { ($0.name, $0.discriminator) }
    if own.count == recorded.count, own.allSatisfy({ recorded[$0.0] == $0.1 }) { return true }
    if !isOfOtherModels(table.name, { _ in true }) {
      addProblem(
        .differentModels, root,
        "The store was last opened with other models, in which the classes of the hierarchy of \(table.name) have other numbers."
      )
    }
    return false
  }

  /// Records what leaves no numbers for new transactions, rows or pairs.
  ///
  /// Adds ``StoreCheck/Problem/Kind/exhaustedNumbers``. Another program can give a row any number,
  /// and new rows get greater ones.
  mutating func checkNumbers(_ tables: [TableLayout], _ catalog: StoreCatalog) throws {
    if catalog.columns[HistoryTable.name] != nil, try connection.lastCommit().isExhausted {
      addProblem(.exhaustedNumbers, nil, CommitLog.Point.problem)
    }
    guard catalog.columns["stead_sequence"] != nil else { return }
    for table in tables { try checkNumbers(of: table.name, layout.entity(named: table.name)) }
    for entity in entities {
      for join in entity.joined.compactMap({ entity.properties[$0].joinTable })
      where catalog.columns[join.name] != nil {
        try checkNumbers(of: join.name, entity)
      }
    }
  }

  /// Adds a problem if a table's numbers are used up.
  private mutating func checkNumbers(of table: String, _ entity: EntityLayout?) throws {
    guard try connection.lastNumber(in: table) > StoreConnection.numberLimit else { return }
    addProblem(.exhaustedNumbers, entity, StoreConnection.exhaustion(of: table))
  }

  /// Whether the indexes that a class needs are in the file.
  ///
  /// Adds ``StoreCheck/Problem/Kind/missingIndex``; of a unique one, with the rows that share a
  /// value.
  mutating func checkIndexes(of entity: EntityLayout, _ table: TableLayout) throws {
    // The indexes of references belong to the whole table, so they are checked with its root.
    var wanted: [TableIndex] = entity.rootIndex == entity.index ? table.references : []
    for properties in declaredSets(entity, \.uniqueConstraints) {
      wanted += TableIndex(properties, of: entity, isUnique: true).map { [$0] } ?? []
    }
    for properties in declaredSets(entity, \.indices) {
      wanted += TableIndex(properties, of: entity, isUnique: false).map { [$0] } ?? []
    }
    for index in wanted where try !index.exists(on: connection) {
      // A column of a to-one relationship has an index with any models.
      if !table.references.contains(index),
        isOfOtherModels(table.name, { !$0.indexes.contains(index.name) })
      {
        continue
      }
      let columns = index.columns.joined(separator: ", ")
      let missing = "\(entity.name) has no \(index.isUnique ? "unique " : "")index of \(columns)"
      let remedy = "Open the store for writing, which makes \(index.name)."
      // Rows that share a value keep the unique index from being made.
      let rows = index.isUnique ? try index.sharingRows(on: connection) : FoundRows()
      guard rows.count == 0 else {
        addProblem(
          .missingIndex, entity, rows: rows,
          "\(missing), and these share a value: \(rows). Change or delete all but one of each. \(remedy)"
        )
        continue
      }
      let risk = index.isUnique ? ", so that two rows may have one value" : ""
      addProblem(.missingIndex, entity, "\(missing)\(risk). \(remedy)")
    }
  }

  /// The sets of properties that a class does not inherit.
  private func declaredSets(
    _ entity: EntityLayout, _ path: KeyPath<EntityLayout, [[Int]]>
  ) -> [[Int]] {
    let inherited = parent(of: entity)?[keyPath: path] ?? []
    return entity[keyPath: path].filter { !inherited.contains($0) }
  }

  /// The superclass.
  func parent(of entity: EntityLayout) -> EntityLayout? {
    layout.schema.entitiesByName[entity.name]?.superentity.flatMap { layout.entity(named: $0.name) }
  }
}
