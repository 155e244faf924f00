import SteadSQLite

/// The files of large values that the rows of a store refer to.
struct ExternalReferences {
  /// A row that refers to a file.
  struct User {
    /// The entity's index.
    let entity: Int
    let row: Int64
  }

  private let columns: [(entity: EntityLayout, column: String)]

  /// - Parameter catalog: What the store has, if its tables may differ from the models'.
  init(_ store: RecordStore, _ catalog: StoreCatalog? = nil) {
    self.init(
      store.layout, entities: Set(store.layout.entities.indices.filter { store.plans[$0] != nil }),
      catalog)
  }

  init(_ layout: StoreLayout, entities: Set<Int>, _ catalog: StoreCatalog? = nil) {
    var columns: [(entity: EntityLayout, column: String)] = []
    for entity in layout.entities where entities.contains(entity.index) {
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

  /// The names of all files that the store needs: of its rows, and of what rows were before, where that is kept.
  func readAll(_ connection: StoreConnection) throws -> Set<String> {
    var names = Set(try read(connection).keys)
    let old = Dictionary(
      uniqueKeysWithValues: try OldRows(connection: connection).tables().map { ($0.table, $0) })
    for (entity, column) in columns {
      guard let table = old[entity.table], table.columns.contains(column) else { continue }
      let rows = try connection.rows(
        "SELECT DISTINCT \(column.sqlName) FROM \(table.name.sqlName) "
          + "WHERE typeof(\(column.sqlName)) = 'text'")
      for row in rows { if case .text(let name) = row[0] { names.insert(name) } }
    }
    return names
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
