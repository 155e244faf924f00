import SteadRecords
import SteadSQLite
internal import SteadSyncProtocol

/// How the entities of a store are represented on the wire, derived from the models of this app alone.
///
/// | a store's | is on the wire |
/// |---|---|
/// | entity | a type of its name |
/// | attribute | a field of its `originalName`, or its name where it has none |
/// | to-one relationship | a field with the record's identifier, and a delete rule: that of the other side |
/// | to-many relationship that lies in its destinations' rows | nothing: it is derived |
/// | other to-many relationship | a record for each pair, of the type `Entity.relationship` |
/// | unique attributes | a unique rule |
/// | attribute with a merge rule | a field with that rule |
///
/// Wire names are permanent: a property that is renamed keeps its first name as `originalName`.
struct WireModel: Sendable {
  /// A column that is sent as a field.
  struct Field: Sendable {
    enum Kind: Sendable {
      case attribute(RowShape.Attribute)
      case reference(RowShape.Relationship)
      /// The column that names the relationship of its owner to which a row belongs, where several share a reference.
      case list
    }

    /// The field's name on the wire, which never changes.
    let name: String
    /// The column's name in the table.
    let column: String
    /// The column's index among the shape's columns.
    let columnIndex: Int
    let kind: Kind
    var merge = MergeRule.last
  }

  /// An entity with its columns as fields.
  struct Entity: Sendable {
    /// Its table, with inherited properties.
    let shape: RowShape
    var fields: [Field]
    /// The indices in `fields` by the names of properties.
    let fieldIndices: [String: [Int]]
    /// The relationships that are sent as records of their own, by the names of properties.
    let links: [String: LinkSide]
    /// The columns of unique constraints.
    let uniqueColumns: Set<String>
  }

  /// A relationship whose pairs are sent as records.
  struct Link: Sendable {
    /// The type of its records on the wire: `Entity.relationship`.
    let type: String
    /// The table of its pairs.
    let list: PairList
    /// The hierarchy of the side whose rows own the pairs.
    let ownerRoot: String
    /// The hierarchy of the other side.
    let targetRoot: String
  }

  /// One side of such a relationship.
  struct LinkSide: Sendable {
    let link: Link
    let isOwner: Bool
  }

  /// The names of a link's fields.
  static let (ownerField, targetField) = ("owner", "target")

  /// The entities by name, which is their type on the wire.
  let entities: [String: Entity]
  /// The links by type.
  let links: [String: Link]
  /// The rules of all types, for the server.
  let types: [String: EntityRules]

  /// - Throws: ``SyncError/noSuchAttribute(_:)`` for a rule that doesn't name an attribute.
  init(_ rows: StoreRows, merging merges: [ModelConfiguration.Sync.Merge] = []) throws {
    let links = Self.links(rows.shapes)
    self.links = Dictionary(uniqueKeysWithValues: links.values.map { ($0.type, $0) })
    entities = try Self.merging(merges, rows.shapes.mapValues { Self.entity($0, links) })
    var types: [String: EntityRules] = [:]
    for (name, entity) in entities { types[name] = Self.rules(entity) }
    for link in links.values {
      types[link.type] = LinkID.rules(first: Self.ownerField, second: Self.targetField)
    }
    self.types = types
  }

  /// The relationships whose pairs are sent as records, by their tables.
  private static func links(_ shapes: [String: RowShape]) -> [PairList: Link] {
    var links: [PairList: (depth: Int, link: Link)] = [:]
    for shape in shapes.values {
      for relationship in shape.relationships {
        guard case .pairs(let list, isOwner: true) = relationship.storage else { continue }
        // Subclasses inherit the relationship. The class that declares it gives the name, or else the name would change
        // with the subclasses of an app's version.
        if let known = links[list], known.depth <= shape.lineage.count { continue }
        let link = Link(
          type: "\(shape.name).\(relationship.originalName)", list: list, ownerRoot: shape.root,
          targetRoot: relationship.destinationRoot)
        links[list] = (shape.lineage.count, link)
      }
    }
    return links.mapValues(\.link)
  }

  /// An entity on the wire. Fields are in the order of the shape's attributes and relationships.
  private static func entity(_ shape: RowShape, _ links: [PairList: Link]) -> Entity {
    var fields: [Field] = []
    var fieldIndices: [String: [Int]] = [:]
    var sides: [String: LinkSide] = [:]
    func add(_ name: String, _ column: String, _ property: String, _ kind: Field.Kind) {
      guard let columnIndex = shape.columns.firstIndex(of: column) else { return }
      fieldIndices[property, default: []].append(fields.count)
      fields.append(Field(name: name, column: column, columnIndex: columnIndex, kind: kind))
    }
    for attribute in shape.attributes {
      add(attribute.originalName, attribute.name, attribute.name, .attribute(attribute))
    }
    for relationship in shape.relationships {
      switch relationship.storage {
      case .column(_, let list):
        let name = relationship.originalName
        add(name, relationship.name, relationship.name, .reference(relationship))
        // A wire name with a number sign is no Swift name, so no property can have it.
        // Where several to-many relationships share one reference, the reference alone doesn't tell in which list an
        // object is.
        if let list { add("\(name)#list", list, relationship.name, .list) }
      case .pairs(let list, let isOwner):
        sides[relationship.name] = links[list].map { LinkSide(link: $0, isOwner: isOwner) }
      case .inverse: continue
      }
    }
    return Entity(
      shape: shape, fields: fields, fieldIndices: fieldIndices, links: sides,
      uniqueColumns: Set(shape.uniqueness.joined().map { shape.columns[$0] }))
  }

  /// Gives fields their rules; subclasses inherit those of their attributes.
  private static func merging(
    _ merges: [ModelConfiguration.Sync.Merge], _ entities: [String: Entity]
  ) throws -> [String: Entity] {
    var entities = entities
    for merge in merges {
      // A large value is only a hash on the wire, which no rule can merge.
      let isKnown = entities[merge.model]?.shape.attributes.contains {
        $0.name == merge.property && !$0.isExternal
      }
      guard isKnown == true else {
        throw SyncError.noSuchAttribute("\(merge.model).\(merge.property)")
      }
      for name in entities.keys where entities[name]?.shape.lineage.contains(merge.model) == true {
        for index in entities[name]?.fieldIndices[merge.property] ?? [] {
          entities[name]?.fields[index].merge = MergeRule(merge.rule)
        }
      }
    }
    return entities
  }

  /// What the server must know of an entity.
  private static func rules(_ entity: Entity) -> EntityRules {
    var rules = EntityRules()
    for field in entity.fields {
      if field.merge != .last { rules.fields[field.name] = FieldRule(merge: field.merge) }
      switch field.kind {
      case .reference(let relationship):
        rules.fields[field.name] = .reference(DeleteRule(relationship.inverseRule))
      case .attribute(let attribute) where attribute.isExternal: rules.fields[field.name] = .blob
      default: continue
      }
    }
    // By column: a constraint names columns, and the server knows fields.
    let names = Dictionary(
      entity.fields.map { ($0.column, $0.name) }, uniquingKeysWith: { first, _ in first })
    rules.unique = entity.shape.uniqueness.compactMap { columns in
      let fields = columns.compactMap { names[entity.shape.columns[$0]] }
      // Columns that aren't sent cannot be compared on the server.
      guard fields.count == columns.count, !fields.isEmpty else { return nil }
      return UniqueRule(fields.joined(separator: ","), fields: fields)
    }
    return rules
  }
}

extension MergeRule {
  fileprivate init(_ rule: ModelConfiguration.Sync.Merge.Rule) {
    switch rule {
    case .counter: self = .counter
    case .max: self = .max
    case .min: self = .min
    case .union: self = .union
    }
  }
}

extension DeleteRule {
  /// A model's delete rule on the wire. There is no `noAction`: a reference to nothing could not be stored in the rows
  /// of other devices.
  fileprivate init(_ rule: SteadRecords.Schema.Relationship.DeleteRule?) {
    switch rule {
    case .cascade: self = .cascade
    case .deny: self = .deny
    default: self = .nullify
    }
  }
}

extension WireModel {
  /// The schema of the sync: the rules of these models, and those of earlier versions that these have dropped. The
  /// older rule of a field stays, since a rule is permanent.
  ///
  /// Its version is the number of its declarations. So it grows with each addition without anybody counting, and is the
  /// same on every device with the same history of models.
  func schema(
    extending older: SteadSyncProtocol.Schema
  ) -> SteadSyncProtocol.Schema {
    var entities = older.entities
    // A field keeps the first rule that was ever sent: a zone accepts no other, and answers `schemaConflict`.
    for (name, rules) in types {
      var merged = entities[name] ?? EntityRules()
      for (field, rule) in rules.fields where merged.fields[field] == nil {
        merged.fields[field] = rule
      }
      for rule in rules.unique where !merged.unique.contains(where: { $0.name == rule.name }) {
        merged.unique.append(rule)
      }
      entities[name] = merged
    }
    let version = entities.values.reduce(0) { $0 + 1 + $1.fields.count + $1.unique.count }
    return SteadSyncProtocol.Schema(version: version, entities: entities)
  }
}
