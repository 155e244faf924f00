/// What a schema makes of its columns: indexes, search tables, and columns that SQLite computes.
struct DerivedNames {
  private(set) var indices: Set<String> = []
  /// The table and the columns of each search table, by its name.
  private(set) var searches: [String: [String]] = [:]
  /// By table, the columns that are computed, each with the one that it is made of.
  private(set) var generated: [String: [String: String]] = [:]

  /// For a schema that may have no types.
  init(_ schema: Schema) {
    let links = SchemaLinks(schema)
    for entity in schema.entities {
      let table = entity.root.name
      for set in entity.allConstraints(\.uniquenessConstraints) {
        indices.insert(TableIndex.name(table, set, isUnique: true))
      }
      for set in entity.allConstraints(\.indices) {
        indices.insert(TableIndex.name(table, set, isUnique: false))
      }
      var searched: [String] = []
      for property in entity.storedProperties {
        switch property {
        case let relationship as Schema.Relationship:
          switch links.storage(of: relationship, in: entity) {
          case .column(let table, let column):
            indices.insert(TableIndex.name(table, reference: column))
          case .pairs(let pairs, _): indices.insert("\(pairs)_target")
          case .inverse: break
          }
        case let attribute as Schema.Attribute:
          if attribute.options.contains(.spotlight) { searched.append(attribute.name) }
          guard attribute.encoding == .composite else { continue }
          for field in CompositeFields.of(PropertyShape(attribute.valueType).wrapped) {
            generated[table, default: [:]]["\(attribute.name)_\(field.name)"] = attribute.name
          }
        default: break
        }
      }
      if !searched.isEmpty { searches["\(entity.name)_search"] = [table] + searched }
    }
  }

  /// Of the models that tables are made for.
  init(_ layout: StoreLayout, _ tables: [TableLayout]) {
    self.init(layout.schema)
    let wanted = Dictionary(
      uniqueKeysWithValues: tables.map { ($0.name, Set($0.generated.map(\.name))) })
    for (table, columns) in generated {
      generated[table] = columns.filter { wanted[table]?.contains($0.key) ?? false }
    }
  }
}

extension Schema.Entity {
  /// The sets of the superclasses, then its own.
  func allConstraints(_ path: KeyPath<Schema.Entity, [[String]]>) -> [[String]] {
    (superentity?.allConstraints(path) ?? []) + self[keyPath: path]
  }
}
