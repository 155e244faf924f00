import Foundation
import SteadSQLite

/// Finds the files of large values that the rows of a store refer to.
///
/// ``read(_:)`` names rows, for reports, and knows the columns of these models alone.
/// ``readAll(_:)`` and ``unused(among:_:)`` decide what is kept. So they also look at the columns
/// of the models that the store has now, and ``readAll(_:)`` at earlier versions of rows.
struct ExternalReferences {
  /// A row that refers to a file.
  struct User {
    /// The entity's index.
    let entity: Int
    let row: Int64
  }

  /// The columns of external attributes, each with the class whose rows are looked at.
  private let columns: [(entity: EntityLayout, column: String)]

  /// - Parameter catalog: The store's tables, if they may differ from the models'.
  init(_ store: RecordStore, _ catalog: StoreCatalog? = nil) {
    self.init(
      store.layout, entities: Set(store.layout.entities.indices.filter { store.plans[$0] != nil }),
      catalog)
  }

  /// - Parameter catalog: The store's tables; columns that they lack are left out. nil if they are
  ///   the models'.
  init(_ layout: StoreLayout, entities: Set<Int>, _ catalog: StoreCatalog? = nil) {
    var columns: [(entity: EntityLayout, column: String)] = []
    for entity in layout.entities where entities.contains(entity.index) {
      // Other models may have ended the hierarchy.
      let hasClasses = catalog == nil || catalog?.columns[entity.table]?["_entity"] != nil
      guard hasClasses || entity.discriminator == nil else { continue }
      for (_, column) in entity.externalColumns
      where catalog == nil || catalog?.columns[entity.table]?[column] != nil {
        columns.append((entity, column))
      }
    }
    self.columns = columns
  }

  /// Each file by its name, with the rows that refer to it.
  ///
  /// Costs a scan of the tables that have such columns.
  func read(_ connection: StoreConnection) throws -> [String: [User]] {
    var result: [String: [User]] = [:]
    for (entity, column) in columns {
      let own = entity.discriminator.map { " AND \"_entity\" = \($0)" } ?? ""
      let statement = try connection.prepare(
        "SELECT \"_id\", \(column.sqlName) FROM \(entity.table.sqlName) "
          // Text is the name of a file. Small values are bytes in the column.
          + "WHERE typeof(\(column.sqlName)) = 'text'\(own)")
      while try statement.step() {
        let user = User(entity: entity.index, row: statement.integer(0))
        result[statement.text(1), default: []].append(user)
      }
    }
    return result
  }

  /// The names of all files that the store needs: for its rows, and for earlier versions of them.
  func readAll(_ connection: StoreConnection) throws -> Set<String> {
    var names: Set<String> = []
    let old = Dictionary(
      uniqueKeysWithValues: try RowVersions(connection: connection).tables().map { ($0.table, $0) })
    // An old row may be the last one to name a file, which `asOf` and `restore` then read.
    for column in try storedColumns(connection) {
      try names.formUnion(Self.names(in: column.table, column.column, connection))
      guard let table = old[column.table], table.columns.contains(column.column) else { continue }
      try names.formUnion(Self.names(in: table.name, column.column, connection))
    }
    return names
  }

  /// Those of some files that no row refers to. Costs one scan of each column, whatever the number of files.
  func unused(among names: [String], _ connection: StoreConnection) throws -> Set<String> {
    var unused = Set(names)
    // One parameter for any number of names, so that the SQL stays the same.
    let array = String(decoding: try JSONEncoder().encode(names), as: UTF8.self)
    // Once a row of each file is found, the other columns are not read.
    for column in try storedColumns(connection) where !unused.isEmpty {
      let used = try connection.rows(
        "SELECT DISTINCT \(column.column.sqlName) FROM \(column.table.sqlName) "
          // Of a value in the row, only its type is read.
          + "WHERE typeof(\(column.column.sqlName)) = 'text' "
          + "AND \(column.column.sqlName) IN (SELECT value FROM json_each(?1))",
        [.text(array)])
      for case .text(let name)? in used.map(\.first) { unused.remove(name) }
    }
    return unused
  }

  /// A column that holds names of files.
  private struct Column: Hashable {
    let table: String
    let column: String
  }

  /// The columns of these models, and of those that the store has now: another process may have migrated it since this
  /// one opened it, and these models then lack what it has added.
  private func storedColumns(_ connection: StoreConnection) throws -> Set<Column> {
    var result = Set(columns.map { Column(table: $0.entity.table, column: $0.column) })
    for entity in try connection.storedSchema()?.entities ?? [] {
      for case let attribute as Schema.Attribute in entity.storedProperties
      where attribute.encoding == .external {
        result.insert(Column(table: entity.root.name, column: attribute.name))
      }
    }
    guard !result.isEmpty else { return [] }
    // Of both schemas, what the file has at this moment.
    let existing = try StoreCatalog(connection).columns
    return result.filter { existing[$0.table]?[$0.column] != nil }
  }

  /// The names in one column, each once.
  private static func names(
    in table: String, _ column: String, _ connection: StoreConnection
  ) throws -> Set<String> {
    let rows = try connection.rows(
      "SELECT DISTINCT \(column.sqlName) FROM \(table.sqlName) WHERE typeof(\(column.sqlName)) = 'text'"
    )
    return Set(rows.compactMap { if case .text(let name) = $0[0] { name } else { nil } })
  }
}

extension EntityLayout {
  /// The properties whose large values are stored in files, with their columns.
  var externalColumns: [(property: PropertyLayout, column: String)] {
    properties.compactMap { property in
      guard case .attribute(.external) = property.kind else { return nil }
      return property.column.map { (property, $0) }
    }
  }
}
