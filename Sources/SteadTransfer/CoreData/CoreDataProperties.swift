import SteadRecords

/// Finds the columns of one entity's properties, by the store's model if it has one.
///
/// Without a model the names alone decide, and only where no other column could be meant.
struct CoreDataProperties {
  private let planner: CoreDataPlanner
  private let entity: CoreDataCatalog.Entity
  private let className: String
  private let model: CoreDataModel.Entity?
  private let places: [String: CoreDataColumns.Place]
  /// The columns of the entity's table, by their names in capitals.
  private let columns: [String: String]

  init(
    _ planner: CoreDataPlanner, _ entity: CoreDataCatalog.Entity, _ className: String
  ) throws {
    self.planner = planner
    self.entity = entity
    self.className = className
    let columns = planner.columns[entity.table] ?? [:]
    self.columns = columns
    model = planner.catalog.modelEntity(entity)
    let types = planner.catalog.columnTypes[entity.table] ?? [:]
    let isShared = planner.catalog.entities.values.count { $0.table == entity.table } > 1
    places =
      try model.map { model in
        try CoreDataColumns(
          model, table: columns.mapValues { ($0, types[$0] ?? "") }, isShared: isShared
        ) { try Self.holdsValues($0, entity, planner.store) }.places
      } ?? [:]
  }

  private static func holdsValues(
    _ column: String, _ entity: CoreDataCatalog.Entity, _ store: ForeignStore
  ) throws -> Bool {
    let name = quotedName(column)
    let rows = try store.rows(
      "SELECT 1 FROM \(quotedName(entity.table)) WHERE Z_ENT = ?1 AND \(name) IS NOT NULL LIMIT 1",
      [.integer(entity.number)])
    return !rows.isEmpty
  }

  // MARK: Attributes

  /// Records where the values of a class's attribute are stored.
  func add(_ attribute: Schema.Attribute, to plan: inout CoreDataClassPlan) throws {
    let mapped = planner.storedName(attribute.name, of: className)
    let names = planner.storedNames(attribute, of: className)
    if let model, let found = model.attribute(named: names) {
      try add(attribute, found, to: &plan)
    } else if let model, mapped == nil {
      guard model.relationship(named: names) == nil else {
        throw planner.unsupported(
          "\(className).\(attribute.name) is an attribute, and a relationship in the store. Give it "
            + "another name, or map it.")
      }
      addMissing(attribute, to: &plan)
    } else if let column = try namedColumn(attribute.name, names, isMapped: mapped != nil) {
      append(plain(attribute, column), to: &plan)
    } else if let composite = try guessed(attribute, names) {
      append(composite, to: &plan)
    } else if let mapped {
      throw planner.unsupported(
        "The mapping names \(mapped) for \(className).\(attribute.name), which \(entity.name) does "
          + "not have.")
    } else {
      addMissing(attribute, to: &plan)
    }
  }

  private func addMissing(_ attribute: Schema.Attribute, to plan: inout CoreDataClassPlan) {
    plan.missing.append(attribute.name)
    if attribute.encoding == .uuid, hasDefault(attribute) {
      plan.missingIdentifiers.append(attribute.name)
    }
  }

  private func hasDefault(_ attribute: Schema.Attribute) -> Bool {
    !attribute.isOptional && attribute.defaultValue != nil
  }

  private func append(_ attribute: CoreDataClassPlan.Attribute, to plan: inout CoreDataClassPlan) {
    plan.claimed.insert(attribute.column.uppercased())
    plan.attributes.append(attribute)
  }

  private func append(_ composite: CoreDataClassPlan.Composite, to plan: inout CoreDataClassPlan) {
    plan.claimed.formUnion(composite.columns.map { $0.uppercased() })
    plan.composites.append(composite)
  }

  private func plain(
    _ attribute: Schema.Attribute, _ column: String
  ) -> CoreDataClassPlan.Attribute {
    .init(
      name: attribute.name, column: column, encoding: attribute.encoding,
      hasTransformer: attribute.transformerName != nil, hasDefault: hasDefault(attribute))
  }

  // MARK: By the model

  private func add(
    _ attribute: Schema.Attribute, _ found: CoreDataModel.Attribute,
    to plan: inout CoreDataClassPlan
  ) throws {
    if found.type == .composite {
      return append(try composite(attribute, found), to: &plan)
    }
    // A number of seconds since another time would become another date.
    let isDate = attribute.encoding == .date
    guard found.type == nil || isDate == (found.type == .date) || found.type == .transformable
    else {
      throw planner.unsupported(
        "\(className).\(attribute.name) and the store's \(found.name) are not both dates. Give the "
          + "property the store's type, or leave it out.")
    }
    append(plain(attribute, try certain(found.name, attribute.name)), to: &plan)
  }

  private func composite(
    _ attribute: Schema.Attribute, _ found: CoreDataModel.Attribute
  ) throws -> CoreDataClassPlan.Composite {
    var result = CoreDataClassPlan.Composite(
      name: attribute.name, fields: [], hasDefault: hasDefault(attribute))
    guard let fields = attribute as? Schema.CompositeAttribute else {
      guard attribute.encoding == .json, found.fields.allSatisfy({ $0.type == .string }) else {
        throw planner.unsupported(
          "\(className).\(attribute.name) is a struct in the store. Give the property a Codable "
            + "struct with its fields.")
      }
      result.form = .cases
      result.fields = try found.fields.map { field in
        let path = "\(found.name).\(field.name)"
        let column = try certain(path, "\(attribute.name).\(field.name)")
        return .init(name: field.name, column: column, encoding: .text, hasTransformer: false)
      }
      return result
    }
    for field in fields.properties {
      let path = "\(attribute.name).\(field.name)"
      if let mapped = planner.storedName(path, of: className) {
        result.fields.append(leaf(field, try mappedColumn(mapped, path)))
      } else if let part = found.fields.first(where: { $0.name == field.name }) {
        if part.type == .composite {
          result.nested.append(try nested(part, "\(found.name).\(part.name)"))
        } else {
          result.fields.append(leaf(field, try certain("\(found.name).\(part.name)", path)))
        }
      }
    }
    return result
  }

  private func leaf(
    _ field: Schema.Attribute, _ column: String
  ) -> CoreDataClassPlan.Attribute {
    .init(name: field.name, column: column, encoding: field.encoding, hasTransformer: false)
  }

  /// A struct within a struct, whose fields' types only the store's model tells.
  private func nested(
    _ found: CoreDataModel.Attribute, _ path: String
  ) throws -> CoreDataClassPlan.Composite {
    var result = CoreDataClassPlan.Composite(name: found.name, fields: [])
    for field in found.fields {
      let inner = "\(path).\(field.name)"
      if field.type == .composite {
        result.nested.append(try nested(field, inner))
      } else if let encoding = field.type?.encoding {
        result.fields.append(
          .init(
            name: field.name, column: try certain(inner, inner), encoding: encoding,
            hasTransformer: false))
      } else {
        throw planner.unsupported("The type of \(entity.name).\(inner) in the store is not known.")
      }
    }
    return result
  }

  /// The column of a property or field of the store's model.
  private func certain(_ path: String, _ property: String) throws -> String {
    switch places[path] {
    case .column(let column)?: return column
    case .doubt(let reason)?: throw doubt(property, reason)
    case nil: throw doubt(property, "it has no column")
    }
  }

  private func doubt(_ property: String, _ reason: String) -> TransferError {
    planner.unsupported(
      "Which column of \(entity.name) holds \(className).\(property) is not certain: \(reason). Name "
        + "it in storedNames of the mapping.")
  }

  private func mappedColumn(_ name: String, _ property: String) throws -> String {
    if let column = columns["Z" + name.uppercased()] { return column }
    throw planner.unsupported(
      "The mapping names \(name) for \(className).\(property), which \(entity.name) does not have.")
  }

  // MARK: By names

  /// The column of a name; throws if it could be another property's and the mapping doesn't name it.
  private func namedColumn(
    _ property: String, _ names: [String], isMapped: Bool
  ) throws -> String? {
    for name in names {
      let base = "Z" + name.uppercased()
      guard let column = columns[base] else { continue }
      if !isMapped, model == nil { try refuseDoubt(about: base, property) }
      return column
    }
    return nil
  }

  /// A field of a struct has a column of the field's name, so a numbered column, or a struct with such a
  /// field, puts in doubt whose this one is.
  private func refuseDoubt(about base: String, _ property: String) throws {
    let attributes = planner.schema.entitiesByName[className]?.attributes ?? []
    let fields = attributes.compactMap { $0 as? Schema.CompositeAttribute }
      .filter { $0.name != property }
      .flatMap { composite in
        composite.properties.filter {
          planner.storedName("\(composite.name).\($0.name)", of: className) == nil
        }
      }
    if fields.contains(where: { "Z" + $0.name.uppercased() == base }) {
      throw doubt(property, "the store keeps no model, and a field of a struct has its name")
    }
    let numbered = columns.keys.filter { CoreDataColumns.isNumbered($0, base) }.compactMap {
      columns[$0]
    }
    guard let own = columns[base], !numbered.isEmpty,
      try Self.holdsValues(own, entity, planner.store)
    else { return }
    for column in numbered where try Self.holdsValues(column, entity, planner.store) {
      guard !isMapped(column) else { continue }
      throw doubt(property, "the store keeps no model, and \(own) and \(column) both have values")
    }
  }

  private func isMapped(_ column: String) -> Bool {
    planner.mapping.storedNames.values.contains { names in
      names.values.contains { "Z" + $0.uppercased() == column.uppercased() }
    }
  }

  /// A struct's fields by the names that they have where those are told or of a form of their own.
  private func guessed(
    _ attribute: Schema.Attribute, _ names: [String]
  ) throws -> CoreDataClassPlan.Composite? {
    guard let composite = attribute as? Schema.CompositeAttribute else { return nil }
    let fields = try composite.properties.compactMap { field in
      let path = "\(attribute.name).\(field.name)"
      if let mapped = planner.storedName(path, of: className) {
        return leaf(field, try mappedColumn(mapped, path))
      }
      let found = names.lazy.compactMap { columns["Z\($0)_\(field.name)".uppercased()] }.first
      if found == nil, columns["Z" + field.name.uppercased()] != nil {
        throw doubt(path, "the store keeps no model that would tell")
      }
      return found.map { leaf(field, $0) }
    }
    return fields.isEmpty
      ? nil : .init(name: attribute.name, fields: fields, hasDefault: hasDefault(attribute))
  }

  // MARK: Relationships

  /// The column of a relationship to one row.
  func column(of relationship: Schema.Relationship) throws -> String? {
    let names = planner.storedNames(relationship, of: className)
    let isMapped = planner.storedName(relationship.name, of: className) != nil
    if let model, let found = model.relationship(named: names) {
      // Of a relationship of one to one, one side may have no column.
      guard !found.isToMany, columns["Z" + found.name.uppercased()] != nil else { return nil }
      return try certain(found.name, relationship.name)
    }
    if model != nil, !isMapped { return nil }
    return try namedColumn(relationship.name, names, isMapped: isMapped)
  }
}

extension CoreDataModel.AttributeType {
  /// What the values of a field become that has no property of its own.
  var encoding: _ColumnEncoding {
    switch self {
    case .integer16, .integer32, .integer64: .integer
    case .boolean: .boolean
    case .decimal: .decimal
    case .double, .float: .real
    case .string: .text
    case .date: .date
    case .data: .data
    case .uuid: .uuid
    case .url: .url
    case .transformable, .composite: .json
    }
  }
}
