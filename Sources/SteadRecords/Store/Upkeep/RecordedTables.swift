/// What the tables of a store have for the models that it was opened with last.
struct RecordedTables {
  /// The columns of each table, with the first words of their types.
  private(set) var columns: [String: [String: String]] = [:]
  /// The tables of pairs.
  let pairs: Set<String>
  /// The names of the indexes of sets of properties.
  private(set) var indexes: Set<String> = []
  /// The number of each class in the hierarchy of a table.
  private(set) var classes: [String: [String: Int]] = [:]

  init(_ schema: Schema) {
    let links = SchemaLinks(schema)
    pairs = links.pairTables
    for (index, entity) in schema.entities.enumerated() {
      let table = entity.root.name
      columns[table, default: [:]]["_id"] = "INTEGER"
      if entity.isInHierarchy {
        columns[table]?["_entity"] = "INTEGER"
        classes[table, default: [:]][entity.name] = index + 1
      }
      for property in entity.storedProperties { add(property, of: entity, links) }
      for (sets, isUnique) in [(entity.uniquenessConstraints, true), (entity.indices, false)] {
        indexes.formUnion(sets.map { TableIndex.name(table, $0, isUnique: isUnique) })
      }
    }
  }

  private mutating func add(
    _ property: any SchemaProperty, of entity: Schema.Entity, _ links: SchemaLinks
  ) {
    if let attribute = property as? Schema.Attribute {
      let type = TableLayout.type(of: attribute.encoding).prefix { $0 != " " }
      columns[entity.root.name]?[attribute.name] = String(type)
    }
    guard let relationship = property as? Schema.Relationship else { return }
    switch links.storage(of: relationship, in: entity) {
    case .column(let table, let column): columns[table]?[column] = "INTEGER"
    case .inverse(let table, let column, let list):
      columns[table, default: [:]][HiddenColumn.order(of: column)] = "INTEGER"
      if list != nil { columns[table]?[HiddenColumn.list(of: column)] = "INTEGER" }
    case .pairs: break
    }
  }
}
