import SteadSQLite

@testable import SteadRecords

/// A schema of class hierarchies that no classes stand for, in a few words.
struct SketchedSchema {
  struct Field {
    var name: String
    var type: any Any.Type = String?.self
    var defaultValue: (any Sendable)?
    var originalName: String?
  }

  struct Link {
    var name: String
    var destination: String
    var isMany = false
    var inverse: String?
    var isOptional = true
    var originalName: String?
  }

  struct Class {
    var name: String
    var parent: String?
    var fields: [Field] = []
    var links: [Link] = []
    var keys: [[String]] = []
  }

  /// Superclasses before their subclasses.
  var classes: [Class]

  /// Classes of the same shape, which take the places of those that there are none of.
  private static let types: [String: any PersistentModel.Type] = [
    "Base": Kennel.Pet.self, "A": Kennel.Dog.self, "B": Kennel.Cat.self, "C": Kennel.Bird.self,
    "Leaf": Kennel.Puppy.self, "Holder": Kennel.Owner.self,
  ]

  init(_ classes: Class...) { self.classes = classes }

  init(classes: [Class]) { self.classes = classes }

  /// The schema as a program's models would make it.
  var schema: Schema {
    var entities: [String: Schema.Entity] = [:]
    var metadata: [ModelMetadata] = []
    for each in classes {
      let entity = Schema.Entity(each.name, list: properties(of: each))
      entity.uniquenessConstraints = each.keys
      if let parent = each.parent.flatMap({ entities[$0] }) {
        entity.superentity = parent
        entity.superentityName = parent.name
        parent.subentities.insert(entity)
        entity.inheritedProperties = parent.inheritedProperties + parent.properties
      }
      entities[each.name] = entity
      metadata.append(Self.metadata(each.name, entity.storedProperties))
    }
    return Schema(
      entities: Array(entities.values), models: metadata, version: Schema.Version(1, 0, 0))
  }

  private func properties(of each: Class) -> [any SchemaProperty] {
    let fields: [any SchemaProperty] = each.fields.map { field in
      Schema.Attribute(
        name: field.name, originalName: field.originalName,
        options: each.keys.contains([field.name]) ? [.unique] : [], valueType: field.type,
        defaultValue: field.defaultValue)
    }
    return fields
      + each.links.map { link in
        let result = Schema.Relationship()
        result.name = link.name
        result.originalName = link.originalName ?? link.name
        result.destination = link.destination
        result.inverseName = link.inverse
        result.recorded = RecordedForm(isOptional: link.isOptional, isToOne: !link.isMany)
        return result
      }
  }

  private static func metadata(
    _ name: String, _ properties: [any SchemaProperty]
  ) -> ModelMetadata {
    ModelMetadata(
      types[name] ?? Kennel.Owner.self, name: name,
      properties: properties.enumerated().map { index, property in
        ModelMetadata.Property(
          name: property.name, keyPath: \[Int].[index], shape: PropertyShape(property.valueType),
          options: nil, defaultValue: (property as? Schema.Attribute)?.defaultValue)
      })
  }
}

/// A store of sketched schemas, one after another.
struct SketchedStore {
  let configuration: ModelConfiguration

  init(_ url: URL) { configuration = ModelConfiguration(url: url) }

  /// Opens the store, as a container does.
  @discardableResult
  func open(
    _ schema: SketchedSchema, role: MigrationRole = .none,
    converting conversions: Set<ValueConversion.Property> = []
  ) throws -> RecordStore {
    let layout = try StoreLayout(schema: schema.schema)
    var configuration = configuration
    configuration.migration = role
    configuration.conversions = conversions
    return try RecordStore(
      configuration: configuration, layout: layout, entities: Set(layout.entities.indices))
  }
}

extension RecordStore {
  /// Adds a row of a class.
  func add(_ row: Int64, of name: String, _ values: [String: SQLValue] = [:]) throws {
    guard let entity = layout.entity(named: name) else { return }
    var columns = values
    columns["_id"] = .integer(row)
    if let number = entity.discriminator { columns["_entity"] = .integer(Int64(number)) }
    let names = columns.keys.sorted()
    try write { connection in
      try connection.run(
        "INSERT INTO \(entity.table) (\(names.map(\.sqlName).joined(separator: ", "))) VALUES "
          + "(\(names.indices.map { "?\($0 + 1)" }.joined(separator: ", ")))",
        names.map { columns[$0] ?? .null })
    }
  }

  /// Adds a pair of a relationship that has a table of its own.
  func add(pair owner: Int64, _ target: Int64, of name: String, _ property: String) throws {
    guard let join = layout.entity(named: name)?.property(named: property)?.joinTable else {
      return
    }
    try write { connection in
      try connection.run(
        "INSERT INTO \(join.name) (\(join.owner), \(join.target)) VALUES (?1, ?2)",
        [.integer(owner), .integer(target)])
    }
  }

  /// What a column holds in the rows of one class alone, by their numbers.
  func values(_ column: String, of name: String) throws -> [Int64: SQLValue] {
    guard let entity = layout.entity(named: name) else { return [:] }
    let rows = try read(.newest) { connection, _ in
      try connection.rows(
        "SELECT \"_id\", \(column.sqlName) FROM \(entity.table) WHERE 1\(test(entity))")
    }
    return Dictionary(
      uniqueKeysWithValues: rows.compactMap { row in
        if case .integer(let number) = row[0] { (number, row[1]) } else { nil }
      })
  }

  /// The members of a list, by its owners' rows, as objects load them.
  func members(_ property: String, of name: String) throws -> [Int64: [Int64]] {
    guard let entity = layout.entity(named: name),
      let list = entity.property(named: property),
      case .toMany(let storage, let destination) = list.kind, let plan = plans[destination]?.plan
    else { return [:] }
    let query = ToManyQuery(storage, list.relationship?.list, plan, isSingle: true)
    var result: [Int64: [Int64]] = [:]
    for owner in try values("_id", of: name).keys {
      let rows = try read(.newest) { connection, _ in
        try connection.rows(query.sql, [.integer(owner)])
      }
      let members = rows.compactMap { if case .integer(let row)? = $0.first { row } else { nil } }
      if !members.isEmpty { result[owner] = members.sorted() }
    }
    return result
  }
}
