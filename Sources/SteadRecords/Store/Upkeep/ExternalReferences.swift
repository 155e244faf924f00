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

  /// - Parameter catalog: What the store has, where its tables may not be those of the models.
  init(_ store: RecordStore, _ catalog: StoreCatalog? = nil) {
    var columns: [(entity: EntityLayout, column: String)] = []
    for entity in store.layout.entities where store.plans[entity.index] != nil {
      for property in entity.properties {
        guard case .attribute(.external) = property.kind, let column = property.column,
          catalog == nil || catalog?.columns[entity.table]?[column] != nil
        else { continue }
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
}
