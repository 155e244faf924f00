import SteadSQLite

/// The tables and columns that a store has.
struct StoreCatalog {
  /// The columns of each table, with the first words of their types: the second word only names what a column does not
  /// convert.
  let columns: [String: [String: String]]

  init(_ connection: StoreConnection) throws {
    let rows = try connection.rows(
      "SELECT s.name, c.name, substr(c.type, 1, instr(c.type || ' ', ' ') - 1) "
        + "FROM sqlite_schema AS s, pragma_table_xinfo(s.name) AS c WHERE s.type = 'table'")
    var columns: [String: [String: String]] = [:]
    for row in rows {
      guard case .text(let table) = row[0], case .text(let name) = row[1],
        case .text(let type) = row[2]
      else { continue }
      columns[table, default: [:]][name] = type
    }
    self.columns = columns
  }

  /// Adds facts that the columns show, if an earlier version's schema lacks them and the program lacks the types.
  func complete(_ match: SchemaMatch, as layout: StoreLayout) {
    for entity in match.old.entities {
      guard let columns = columns[entity.root.name] else { continue }
      let model = match.newEntities[entity.name].flatMap { layout.entity(named: $0.name) }
      for property in entity.properties {
        let type = columns[property.name]
        switch property {
        case let attribute as Schema.Attribute
        where attribute.recorded == nil && attribute.valueType == Any.self:
          let property = match.newProperty(attribute.name, of: entity.name).flatMap {
            model?.property(named: $0.name)
          }
          guard let now = property, case .attribute(let encoding) = now.kind,
            TableLayout.type(of: encoding).hasPrefix(type ?? "-")
          else { continue }
          // A default value replaces nil.
          attribute.recorded = RecordedForm(
            isOptional: now.isOptional || now.defaultValue != nil, encoding: encoding.rawValue)
        case let relationship as Schema.Relationship
        where relationship.recorded == nil && relationship.valueType == Any.self:
          relationship.recorded = RecordedForm(isOptional: true, isToOne: type != nil)
        default: break
        }
      }
    }
  }
}

extension StoreConnection {
  /// The columns of a table that SQLite computes.
  func generatedColumns(of table: String) throws -> [String] {
    try rows("SELECT name FROM pragma_table_xinfo(?1) WHERE hidden IN (2, 3)", [.text(table)])
      .compactMap { if case .text(let name)? = $0.first { name } else { nil } }
  }
}
