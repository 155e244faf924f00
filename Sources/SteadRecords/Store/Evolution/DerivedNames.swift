/// What a schema makes of its columns: indexes, search tables, and columns that SQLite computes.
struct DerivedNames {
  /// Columns of a table, in an order.
  struct Columns: Equatable {
    let table: String
    let columns: [String]
  }

  /// What each index is of, by its name.
  private(set) var indices: [String: Columns] = [:]
  /// What each search table is of, by its name.
  private(set) var searches: [String: Columns] = [:]
  /// By table, the columns that are computed, each with the one that it is made of.
  private(set) var generated: [String: [String: String]] = [:]

  /// For a schema that may have no types.
  init(_ schema: Schema) {
    let links = SchemaLinks(schema)
    for entity in schema.entities {
      let table = entity.root.name
      for set in entity.allConstraints(\.uniquenessConstraints) {
        indices[TableIndex.name(table, set, isUnique: true)] = Columns(table: table, columns: set)
      }
      for set in entity.allConstraints(\.indices) {
        indices[TableIndex.name(table, set, isUnique: false)] = Columns(table: table, columns: set)
      }
      var searched: [String] = []
      for property in entity.storedProperties {
        switch property {
        case let relationship as Schema.Relationship:
          switch links.storage(of: relationship, in: entity) {
          case .column(let table, let column):
            indices[TableIndex.name(table, reference: column)] = Columns(
              table: table, columns: [column])
          case .pairs(let pairs, _):
            indices["\(pairs)_target"] = Columns(table: pairs, columns: ["target"])
          case .inverse: break
          }
        case let attribute as Schema.Attribute:
          if attribute.options.contains(.spotlight) { searched.append(attribute.name) }
          for field in attribute.computedFields {
            generated[table, default: [:]]["\(attribute.name)_\(field)"] = attribute.name
          }
        default: break
        }
      }
      if !searched.isEmpty {
        searches["\(entity.name)_search"] = Columns(table: table, columns: searched)
      }
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
