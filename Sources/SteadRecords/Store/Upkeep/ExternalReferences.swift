import Foundation
import SteadSQLite

/// Finds the files of large values that the rows of a store refer to.
struct ExternalReferences {
  /// A row that refers to a file.
  struct User {
    /// The entity's index.
    let entity: Int
    let row: Int64
  }

  private let columns: [(entity: EntityLayout, column: String)]

  /// - Parameter catalog: The store's tables, if they may differ from the models'.
  init(_ store: RecordStore, _ catalog: StoreCatalog? = nil) {
    self.init(
      store.layout, entities: Set(store.layout.entities.indices.filter { store.plans[$0] != nil }),
      catalog)
  }

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
  func read(_ connection: StoreConnection) throws -> [String: [User]] {
    var result: [String: [User]] = [:]
    for (entity, column) in columns {
      let own = entity.discriminator.map { " AND \"_entity\" = \($0)" } ?? ""
      let statement = try connection.prepare(
        "SELECT \"_id\", \(column.sqlName) FROM \(entity.table.sqlName) "
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
    let array = String(decoding: try JSONEncoder().encode(names), as: UTF8.self)
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
    let existing = try StoreCatalog(connection).columns
    return result.filter { existing[$0.table]?[$0.column] != nil }
  }

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
