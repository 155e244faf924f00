import Foundation
import SteadRecords
import SteadSQLite

/// Finds the columns of one entity's properties, by the store's model if it has one.
///
/// Without a model the names alone decide, and only if no other column could be meant. An error
/// that asks for a name in the mapping is better than values in a wrong property.
struct CoreDataProperties {
  /// Matches the entities, and has the mapping.
  private let planner: CoreDataPlanner
  /// The entity whose table has the columns.
  private let entity: CoreDataCatalog.Entity
  /// The class whose properties they are.
  private let className: String
  /// The entity in the store's model; nil without one.
  private let model: CoreDataModel.Entity?
  /// The columns by the paths of the store's model; empty without one.
  private let resolutions: [String: CoreDataColumns.Resolution]
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
    // Siblings share a table, so a column isn't this entity's by its existence.
    let isShared = planner.catalog.entities.values.count { $0.table == entity.table } > 1
    resolutions =
      try model.map { model in
        try CoreDataColumns(
          model, table: columns.mapValues { ($0, types[$0] ?? "") }, isShared: isShared
        ) { try Self.holdsValues($0, entity, planner.store) }.resolutions
      } ?? [:]
  }

  /// Whether a row of an entity has a value in a column.
  private static func holdsValues(
    _ column: String, _ entity: CoreDataCatalog.Entity, _ store: ForeignStore
  ) throws -> Bool {
    let name = column.sqlName
    let rows = try store.rows(
      "SELECT 1 FROM \(entity.table.sqlName) WHERE Z_ENT = ?1 AND \(name) IS NOT NULL LIMIT 1",
      [.integer(entity.number)])
    return !rows.isEmpty
  }

  // MARK: - Attributes

  /// Adds an attribute to a plan, or to what is missing.
  func add(_ attribute: Schema.Attribute, to plan: inout CoreDataClassPlan) throws {
    let mapped = planner.storedName(attribute.name, of: className)
    let names = try planner.storedNames(attribute, of: className, entity)
    // The store's model decides. The columns' names do without one, and where the mapping names a
    // column.
    if let model, let found = model.attribute(named: names) {
      try add(attribute, found, to: &plan)
    } else if let model, mapped == nil {
      // A class that turned a relationship into an attribute wants something else than row numbers.
      guard model.relationship(named: names) == nil else {
        throw planner.unsupported(
          "\(className).\(attribute.name) is an attribute, and a relationship in the store. Give it "
            + "another name, or map it.")
      }
      addMissing(attribute, to: &plan)
    } else if let column = try namedColumn(attribute.name, names, isMapped: mapped != nil) {
      append(plain(attribute, column), to: &plan)
    } else if let composite = try compositeByName(attribute, names) {
      append(composite, to: &plan)
    } else if let mapped {
      throw planner.unsupported(
        "The mapping names \(mapped) for \(className).\(attribute.name), which \(entity.name) does "
          + "not have.")
    } else {
      addMissing(attribute, to: &plan)
    }
  }

  /// Records that the store has nothing for an attribute.
  private func addMissing(_ attribute: Schema.Attribute, to plan: inout CoreDataClassPlan) {
    plan.missing.append(attribute.name)
  }

  /// Whether NULL becomes the attribute's default value.
  private func hasDefault(_ attribute: Schema.Attribute) -> Bool {
    !attribute.isOptional && attribute.defaultValue != nil
  }

  /// Adds an attribute, and claims its column.
  private func append(_ attribute: CoreDataClassPlan.Attribute, to plan: inout CoreDataClassPlan) {
    plan.claimed.insert(attribute.column.uppercased())
    plan.attributes.append(attribute)
  }

  /// Adds a struct, and claims its columns.
  private func append(_ composite: CoreDataClassPlan.Composite, to plan: inout CoreDataClassPlan) {
    plan.claimed.formUnion(composite.columns.map { $0.uppercased() })
    plan.composites.append(composite)
  }

  /// An attribute with a column of its own.
  private func plain(
    _ attribute: Schema.Attribute, _ column: String
  ) -> CoreDataClassPlan.Attribute {
    .init(
      name: attribute.name, column: column, encoding: attribute.encoding,
      hasTransformer: attribute.transformerName != nil, hasDefault: hasDefault(attribute))
  }

  // MARK: - By the model

  /// Adds an attribute that the store's model describes.
  private func add(
    _ attribute: Schema.Attribute, _ found: CoreDataModel.Attribute,
    to plan: inout CoreDataClassPlan
  ) throws {
    var (stored, path) = (found, found.name)
    if let raw = found.rawValue, isPlain(attribute) {
      (stored, path) = (raw, "\(path).\(raw.name)")
    } else if found.type == .composite {
      let composite = try composite(attribute, found, path, attribute.name)
      return append(try withDefault(composite, attribute), to: &plan)
    }
    // Core Data stores both dates and numbers as numbers; reading one as the other would succeed
    // and be wrong.
    let isDate = attribute.encoding == .date
    guard stored.type == nil || isDate == (stored.type == .date) || stored.type == .transformable
    else {
      throw planner.unsupported(
        "\(className).\(attribute.name) and the store's \(found.name) are not both dates. Give the "
          + "property the store's type, or leave it out.")
    }
    append(plain(attribute, try resolvedColumn(path, attribute.name)), to: &plan)
  }

  /// A property's struct, with the value for rows without any of its fields.
  private func withDefault(
    _ composite: CoreDataClassPlan.Composite, _ attribute: Schema.Attribute
  ) throws -> CoreDataClassPlan.Composite {
    var result = composite
    result.hasDefault = hasDefault(attribute)
    result.isOptional = attribute.isOptional
    // A property that isn't optional can only have been the struct whose fields are all nil, if its
    // type has one. Decoding finds out.
    guard !attribute.isOptional, composite.form == .fields,
      let type = attribute.valueType as? any Decodable.Type
    else { return result }
    let empty = try CoreDataField.column(composite.emptyObject)
    if case .text(let text) = empty,
      (try? JSONDecoder().decode(type, from: Data(text.utf8))) != nil
    {
      result.empty = empty
    }
    return result
  }

  /// Whether a property's column can have the raw value of an enum.
  private func isPlain(_ attribute: Schema.Attribute) -> Bool {
    switch attribute.encoding {
    case .json, .composite, .opaque, .data, .external: false
    default: true
    }
  }

  /// A struct, or an enum without raw values, each of whose parts has a column.
  ///
  /// - Parameters:
  ///   - attribute: The property, or the field of its struct.
  ///   - found: Its description in the store's model.
  ///   - path: Its path in the store's model.
  ///   - property: Its path in the class, which the mapping and errors use.
  private func composite(
    _ attribute: Schema.Attribute, _ found: CoreDataModel.Attribute, _ path: String,
    _ property: String
  ) throws -> CoreDataClassPlan.Composite {
    switch attribute.encoding {
    case .composite:
      let fields = attribute.structFields
      // The type declares no fields that are known: its coding keys are not an enum. The store has
      // them under these keys.
      if fields.isEmpty { return try compositeByModel(found, path, as: property) }
      return try composite(fields, found, path, property)
    case .json:
      // A class, such as a measurement's unit, has fields, which only the store's model knows.
      // Anything else is an enum.
      return attribute.isClass
        ? try compositeByModel(found, path, as: property) : try cases(found, path, property)
    default:
      throw planner.unsupported(
        "\(className).\(property) is a struct in the store. Give the property a Codable struct with its "
          + "fields.")
    }
  }

  /// A struct whose fields the class declares.
  private func composite(
    _ fields: [Schema.Attribute], _ found: CoreDataModel.Attribute, _ path: String,
    _ property: String
  ) throws -> CoreDataClassPlan.Composite {
    var result = CoreDataClassPlan.Composite(name: lastName(property), fields: [])
    for field in fields {
      let inner = "\(property).\(field.name)"
      // The mapping comes first: errors ask for it where the model leaves a column open.
      if let mapped = planner.storedName(inner, of: className) {
        result.fields.append(leaf(field, try mappedColumn(mapped, inner)))
      } else if let part = found.fields.first(where: { $0.name == field.name }) {
        let partPath = "\(path).\(part.name)"
        if part.type != .composite {
          result.fields.append(leaf(field, try resolvedColumn(partPath, inner)))
        } else if let raw = part.rawValue, isPlain(field) {
          result.fields.append(leaf(field, try resolvedColumn("\(partPath).\(raw.name)", inner)))
        } else {
          var nested = try composite(field, part, partPath, inner)
          nested.isOptional = field.isOptional
          result.nested.append(nested)
        }
      }
    }
    return result
  }

  /// The last component of a path.
  private func lastName(_ property: String) -> String {
    property.split(separator: ".").last.map(String.init) ?? property
  }

  /// A field with a column of its own.
  private func leaf(
    _ field: Schema.Attribute, _ column: String
  ) -> CoreDataClassPlan.Attribute {
    .init(
      name: field.name, column: column, encoding: field.encoding, hasTransformer: false,
      isFloat: field.valueType == Float.self || field.valueType == Float?.self)
  }

  /// The cases of an enum without raw values: a column for the name of each, or a struct of its
  /// payload.
  private func cases(
    _ found: CoreDataModel.Attribute, _ path: String, _ property: String
  ) throws -> CoreDataClassPlan.Composite {
    var result = CoreDataClassPlan.Composite(name: lastName(property), form: .cases, fields: [])
    for part in found.fields {
      let inner = "\(path).\(part.name)"
      switch part.type {
      case .string:
        let column = try resolvedColumn(inner, "\(property).\(part.name)")
        result.fields.append(
          .init(name: part.name, column: column, encoding: .text, hasTransformer: false))
      case .composite: result.nested.append(try compositeByModel(part, inner, as: inner))
      default:
        throw planner.unsupported(
          "\(className).\(property) is a struct in the store. Give the property a Codable struct with "
            + "its fields.")
      }
    }
    return result
  }

  /// A struct whose fields and types only the store's model describes.
  private func compositeByModel(
    _ found: CoreDataModel.Attribute, _ path: String, as property: String
  ) throws -> CoreDataClassPlan.Composite {
    var result = CoreDataClassPlan.Composite(name: lastName(property), fields: [])
    for field in found.fields {
      let inner = "\(path).\(field.name)"
      if field.type == .composite, field.rawValue == nil {
        result.nested.append(try compositeByModel(field, inner, as: inner))
        continue
      }
      let stored = field.rawValue ?? field
      guard let encoding = stored.type?.encoding else {
        throw planner.unsupported("The type of \(entity.name).\(inner) in the store is not known.")
      }
      let column = try resolvedColumn(field.rawValue.map { "\(inner).\($0.name)" } ?? inner, inner)
      result.fields.append(
        .init(
          name: field.name, column: column, encoding: encoding, hasTransformer: false,
          isFloat: stored.type == .float))
    }
    return result
  }

  /// The column of a path in the store's model; throws if it isn't certain.
  private func resolvedColumn(_ path: String, _ property: String) throws -> String {
    switch resolutions[path] {
    case .column(let column)?: return column
    case .ambiguous(let reason)?: throw ambiguous(property, reason)
    case nil: throw ambiguous(property, "it has no column")
    }
  }

  /// The error for a property whose column isn't certain.
  private func ambiguous(_ property: String, _ reason: String) -> TransferError {
    planner.unsupported(
      "Which column of \(entity.name) holds \(className).\(property) is not certain: \(reason). Name "
        + "it in storedNames of the mapping.")
  }

  /// The column that the mapping names.
  private func mappedColumn(_ name: String, _ property: String) throws -> String {
    if let column = columns["Z" + name.uppercased()] { return column }
    throw planner.unsupported(
      "The mapping names \(name) for \(className).\(property), which \(entity.name) does not have.")
  }

  // MARK: - By names

  /// The column of the first name that has one; throws if it could be another property's and the
  /// mapping doesn't name it.
  private func namedColumn(
    _ property: String, _ names: [String], isMapped: Bool
  ) throws -> String? {
    for name in names {
      let base = "Z" + name.uppercased()
      guard let column = columns[base] else { continue }
      if !isMapped, model == nil { try checkAmbiguity(about: base, property) }
      return column
    }
    return nil
  }

  /// Throws if a column may belong to another property.
  ///
  /// A field of a struct has a column of the field's name alone. So a numbered column, or a struct
  /// with a field of this name, makes it uncertain whose column this is.
  private func checkAmbiguity(about base: String, _ property: String) throws {
    let attributes = planner.schema.entitiesByName[className]?.attributes ?? []
    let fields = attributes.compactMap { $0 as? Schema.CompositeAttribute }
      .filter { $0.name != property }
      .flatMap { composite in
        composite.properties.filter {
          planner.storedName("\(composite.name).\($0.name)", of: className) == nil
        }
      }
    if fields.contains(where: { "Z" + $0.name.uppercased() == base }) {
      throw ambiguous(property, "the store keeps no model, and a field of a struct has its name")
    }
    let numbered = columns.keys.filter { CoreDataColumns.isNumbered($0, base) }.compactMap {
      columns[$0]
    }
    guard let own = columns[base], !numbered.isEmpty,
      try Self.holdsValues(own, entity, planner.store)
    else { return }
    for column in numbered where try Self.holdsValues(column, entity, planner.store) {
      // The mapping gave the numbered column to another property.
      guard !isMapped(column) else { continue }
      throw ambiguous(
        property, "the store keeps no model, and \(own) and \(column) both have values")
    }
  }

  /// Whether the mapping names a column.
  private func isMapped(_ column: String) -> Bool {
    planner.mapping.storedNames.values.contains { names in
      names.values.contains { "Z" + $0.uppercased() == column.uppercased() }
    }
  }

  /// A struct without a model: fields that the mapping names, and columns named `ZPROPERTY_FIELD`.
  private func compositeByName(
    _ attribute: Schema.Attribute, _ names: [String]
  ) throws -> CoreDataClassPlan.Composite? {
    guard let composite = attribute as? Schema.CompositeAttribute else { return nil }
    let fields = try composite.properties.compactMap { field in
      let path = "\(attribute.name).\(field.name)"
      if let mapped = planner.storedName(path, of: className) {
        return leaf(field, try mappedColumn(mapped, path))
      }
      let found = names.lazy.compactMap { columns["Z\($0)_\(field.name)".uppercased()] }.first
      // A column of the field's name could be the field's, or that of another property.
      if found == nil, columns["Z" + field.name.uppercased()] != nil {
        throw ambiguous(path, "the store keeps no model that would tell")
      }
      return found.map { leaf(field, $0) }
    }
    if fields.isEmpty { return nil }
    return try withDefault(.init(name: attribute.name, fields: fields), attribute)
  }

  // MARK: - Relationships

  /// The column of a to-one relationship; nil if it has none.
  func column(of relationship: Schema.Relationship) throws -> String? {
    let names = try planner.storedNames(relationship, of: className, entity)
    let isMapped = planner.storedName(relationship.name, of: className) != nil
    if let model, let found = model.relationship(named: names) {
      // Of a one-to-one relationship, one side may have no column.
      guard !found.isToMany, columns["Z" + found.name.uppercased()] != nil else { return nil }
      return try resolvedColumn(found.name, relationship.name)
    }
    if model != nil, !isMapped { return nil }
    return try namedColumn(relationship.name, names, isMapped: isMapped)
  }
}

extension CoreDataModel.AttributeType {
  /// The encoding of a field that the class doesn't declare.
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
