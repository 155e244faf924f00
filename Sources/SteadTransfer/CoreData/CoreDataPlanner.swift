import Foundation
import SteadRecords

/// Matches classes and properties with the entities and columns of a store, by name.
struct CoreDataPlanner {
  /// The store's entities, tables and columns.
  let catalog: CoreDataCatalog
  /// The classes that take the rows.
  let schema: Schema
  /// The exceptions to the names.
  let mapping: CoreDataMapping
  /// The copy of the store.
  let store: ForeignStore
  /// The columns of each table, by their names in capitals.
  let columns: [String: [String: String]]
  /// The join tables.
  private let pairs: [CoreDataPairs]
  /// The classes' names and those of their entities.
  private let classes: CoreDataNames

  /// Matches the classes.
  ///
  /// - Throws: ``TransferError/Code/unsupported`` for names in the mapping that don't exist, and
  ///   for two claims on one name.
  init(
    _ store: ForeignStore, _ catalog: CoreDataCatalog, _ schema: Schema,
    _ mapping: CoreDataMapping
  ) throws {
    self.store = store
    self.catalog = catalog
    self.schema = schema
    self.mapping = mapping
    // Core Data writes names in capitals, so case carries no meaning.
    columns = catalog.columns.mapValues { columns in
      Dictionary(columns.map { ($0.uppercased(), $0) }) { first, _ in first }
    }
    pairs = catalog.columns.compactMap { CoreDataPairs($0.key, $0.value) }
    classes = CoreDataNames(
      stored: catalog.entities.values.filter { !$0.isInternal }.map { entity in
        let name = Self.modelName(of: entity, catalog)
        return (name: name, identifier: catalog.modelEntity(entity)?.renamingIdentifier)
        // Dictionaries have no order, and the result of matching must not depend on one.
      }.sorted { $0.name < $1.name },
      own: schema.entities.map { (name: $0.name, originalName: $0.originalName) })
    try checkMapping()
    try checkConflicts(classes.conflicts)
  }

  /// The name of an entity in the store's model.
  private static func modelName(
    of entity: CoreDataCatalog.Entity, _ catalog: CoreDataCatalog
  ) -> String {
    guard let renamed = catalog.renamedEntity, renamed.stored == entity.name else {
      return entity.name
    }
    return renamed.model
  }

  /// Throws if two names of the container claim the same name of the store.
  private func checkConflicts(_ conflicts: [NameMatch.Conflict], of className: String? = nil) throws
  {
    guard let conflict = conflicts.first else { return }
    let names = conflict.new.map { name in className.map { "\($0).\(name)" } ?? name }
    throw unsupported(
      "\(names.joined(separator: " and ")) both claim \(conflict.old) of the store by their original names. Leave the "
        + "original name out of all but one, or name them in the mapping.")
  }

  /// Throws for names in the mapping that don't exist: a misspelt name would have no effect.
  private func checkMapping() throws {
    let classes = Set(mapping.classes.values).union(mapping.storedNames.keys)
      .union(mapping.leftOut.keys).union(mapping.externalStorage.keys)
    for name in classes.sorted() where schema.entitiesByName[name] == nil {
      throw unsupported("The mapping names the class \(name), which the container does not have.")
    }
    var entities = Set(catalog.entities.values.map(\.name))
    if let renamed = catalog.renamedEntity { entities.insert(renamed.model) }
    for name in mapping.leftOutEntities.union(mapping.classes.keys).sorted()
    where !entities.contains(name) {
      throw unsupported("The mapping names the entity \(name), which the store does not have.")
    }
    for (name, properties) in mapping.storedNames {
      let own = schema.entitiesByName[name]?.storedPropertiesByName ?? [:]
      for property in properties.keys.sorted() {
        // Of `place.city` only the property is checked here; fields are when they are looked up.
        let first = property.split(separator: ".").first.map(String.init) ?? property
        guard own[first] == nil else { continue }
        throw unsupported(
          "The mapping names the property \(name).\(property), which does not exist.")
      }
    }
  }

  /// The error for a store and a mapping that leave something open.
  func unsupported(_ reason: String) -> TransferError {
    TransferError(code: .unsupported, message: "\(reason) Nothing was written.")
  }

  /// Whether the rows of an entity are not imported.
  func isLeftOut(_ entity: CoreDataCatalog.Entity) -> Bool {
    names(of: entity).contains { mapping.leftOutEntities.contains($0) }
  }

  /// The names of an entity: in `Z_PRIMARYKEY`, and in the model if it was renamed.
  private func names(of entity: CoreDataCatalog.Entity) -> [String] {
    guard let renamed = catalog.renamedEntity, renamed.stored == entity.name else {
      return [entity.name]
    }
    return [entity.name, renamed.model]
  }

  /// The class for an entity's rows; nil if there is none.
  func className(of entity: CoreDataCatalog.Entity) -> String? {
    let names = names(of: entity)
    for name in names {
      if let mapped = mapping.classes[name] { return mapped }
    }
    let stored = Self.modelName(of: entity, catalog)
    // The rule of migrations decides before the name alone does.
    if let known = classes.stored.first(where: { $0.value == stored })?.key { return known }
    // Only classes that no other entity has.
    let free = schema.entities.map(\.name).filter { classes.stored[$0] == nil }
    if let old = names.first(where: { free.contains($0) }) { return old }
    let similar = free.filter { $0.caseInsensitiveCompare(entity.name) == .orderedSame }
    return similar.count == 1 ? similar[0] : nil
  }

  /// The plan for the rows of an entity.
  func plan(_ entity: CoreDataCatalog.Entity, _ className: String) throws -> CoreDataClassPlan {
    var plan = CoreDataClassPlan(entity: entity, className: className)
    let properties = try CoreDataProperties(self, entity, className)
    for property in schema.entitiesByName[className]?.storedProperties ?? [] {
      if let relationship = property as? Schema.Relationship {
        try add(relationship, properties, to: &plan)
      } else if let attribute = property as? Schema.Attribute {
        try properties.add(attribute, to: &plan)
      }
    }
    return plan
  }

  /// The names that a property may have in the store, the most likely first; none if the store's
  /// model lacks it.
  ///
  /// Without a model, the original name comes before the name, and the name counts only if it isn't
  /// the original name of another property: that property's values are in its column.
  func storedNames(
    _ property: any SchemaProperty, of className: String, _ entity: CoreDataCatalog.Entity
  ) throws -> [String] {
    if let mapped = storedName(property.name, of: className) { return [mapped] }
    let own = (schema.entitiesByName[className]?.storedProperties ?? []).filter {
      storedName($0.name, of: className) == nil
    }
    // With a model all names are matched together, as in a migration.
    if let model = catalog.modelEntity(entity) {
      let names = CoreDataNames(
        stored: model.attributes.map { (name: $0.name, identifier: $0.renamingIdentifier) }
          + model.relationships.map { (name: $0.name, identifier: $0.renamingIdentifier) },
        own: own.map { (name: $0.name, originalName: $0.originalName) })
      try checkConflicts(names.conflicts, of: className)
      return names.stored[property.name].map { [$0] } ?? []
    }
    let isClaimed = own.contains { $0.name != property.name && $0.originalName == property.name }
    let names = isClaimed ? [] : [property.name]
    return property.originalName == property.name || property.originalName.isEmpty
      ? names : [property.originalName] + names
  }

  /// The mapping's name for a property of a class, or of the class that it is inherited from.
  func storedName(_ property: String, of className: String) -> String? {
    var current = schema.entitiesByName[className]
    while let entity = current {
      if let mapped = mapping.storedName(property, of: entity.name) { return mapped }
      current = entity.superentity
    }
    return nil
  }

  // MARK: - Relationships

  /// Adds a relationship to a plan.
  private func add(
    _ relationship: Schema.Relationship, _ properties: CoreDataProperties,
    to plan: inout CoreDataClassPlan
  ) throws {
    let names = try storedNames(relationship, of: plan.className, plan.entity)
    let targets = entities(ofClass: relationship.destination)
    // Row numbers are unique within a hierarchy, so the destination must be in one.
    let roots = Set(targets.map(\.root))
    // The store has no entity for the destination.
    guard let destination = roots.first else {
      plan.missing.append(relationship.name)
      return
    }
    guard roots.count == 1 else {
      throw unsupported(
        "\(plan.className).\(relationship.name) leads to entities of several hierarchies of the store."
      )
    }
    guard let storage = try storage(relationship, properties, names, of: plan, targets, destination)
    else {
      plan.missing.append(relationship.name)
      return
    }
    switch storage {
    // Claimed columns are not reported as left out.
    case .own(let reference): plan.claimed.insert(reference.column.uppercased())
    case .pairs(let table, _, let other, _): plan.claimed.insert("\(table).\(other)".uppercased())
    case .other: break
    }
    plan.relationships.append(
      .init(
        name: relationship.name, isToMany: relationship.isToOneRelationship == false,
        storage: storage,
        destination: destination))
  }

  /// Where a relationship is stored; nil if the store has nothing for it.
  ///
  /// Tried in this order: the own column of a to-one relationship, a join table, the column of the
  /// inverse, and the column that a to-many relationship without an inverse has in its
  /// destinations.
  private func storage(
    _ relationship: Schema.Relationship, _ properties: CoreDataProperties, _ names: [String],
    of plan: CoreDataClassPlan, _ targets: [CoreDataCatalog.Entity], _ destination: String
  ) throws -> CoreDataClassPlan.Relationship.Storage? {
    let table = plan.entity.table
    if relationship.isToOneRelationship, let column = try properties.column(of: relationship) {
      return .own(
        reference(column, in: table, [plan.entity.number], to: destination))
    }
    // Before the inverse: a many-to-many relationship has a join table even if its inverse is
    // missing in the class.
    if !relationship.isToOneRelationship, let pairs = pairs(names, from: plan.entity) {
      return pairs
    }
    guard let target = targets.first else { return nil }
    let numbers = Set(targets.map(\.number))
    if let inverse = inverse(of: relationship), inverse.isToOneRelationship,
      let column = try column(of: inverse, relationship.destination, in: targets)
    {
      return .other(reference(column, in: target.table, numbers, to: plan.entity.root))
    }
    // A to-many relationship without inverse has a column in the rows that it leads to, with its name.
    for name in names {
      for number in plan.entity.lineage {
        guard let column = columns[target.table]?["Z\(number)\(name.uppercased())"] else {
          continue
        }
        return .other(reference(column, in: target.table, numbers, to: plan.entity.root))
      }
    }
    return nil
  }

  /// The column of the inverse, which must be the same for all destination entities.
  private func column(
    of relationship: Schema.Relationship, _ className: String,
    in entities: [CoreDataCatalog.Entity]
  ) throws -> String? {
    let found = try entities.map {
      try CoreDataProperties(self, $0, className).column(of: relationship)
    }
    let columns = Set(found.compactMap(\.self))
    // Sibling entities may store one relationship in differently numbered columns.
    guard columns.count <= 1 else {
      throw unsupported(
        "\(className).\(relationship.name) lies in several columns: "
          + "\(columns.sorted().joined(separator: ", ")). Name one in storedNames of the mapping.")
    }
    return columns.first
  }

  /// The inverse in the container's schema.
  private func inverse(of relationship: Schema.Relationship) -> Schema.Relationship? {
    guard let name = relationship.inverseName else { return nil }
    return schema.entitiesByName[relationship.destination]?.relationshipsByName[name]
  }

  /// The join table of a to-many relationship.
  private func pairs(
    _ names: [String], from entity: CoreDataCatalog.Entity
  ) -> CoreDataClassPlan.Relationship.Storage? {
    for name in names.map({ $0.uppercased() }) {
      for pair in pairs {
        // Each of the two columns may be the one of the row itself.
        for (own, other) in [(0, 1), (1, 0)].map({ (pair.sides[$0.0], pair.sides[$0.1]) })
        where other.relationship == name && entity.lineage.contains(own.entity) {
          return .pairs(
            table: pair.table, own: own.column, other: other.column, isReflexive: pair.isReflexive)
        }
      }
    }
    return nil
  }

  /// The column with the positions for a column of a join table.
  func order(of column: String, in table: String) -> String? {
    pairs.first { $0.table == table }?.sides.first { $0.column == column }?.order
  }

  /// A foreign-key column with the columns that belong to it.
  private func reference(
    _ column: String, in table: String, _ entities: Set<Int64>, to destination: String
  ) -> CoreDataClassPlan.Reference {
    let own = columns[table] ?? [:]
    let name = String(column.uppercased().dropFirst())
    // `Z4_PARENT` has the entity of the row whose number is in `ZPARENT`.
    let entityColumn = own.first { CoreDataPairs.numbered($0.key, after: "Z")?.1 == "_\(name)" }
    let order = own.first { key, _ in
      guard key.hasPrefix("Z_FOK_") else { return false }
      let rest = key.dropFirst("Z_FOK_".count)
      // `Z_FOK_PARENT`, or with the number of an entity.
      return rest == name || rest.drop(while: \.isNumber) == name[...]
    }
    return CoreDataClassPlan.Reference(
      table: table, column: column, entities: entities, entityColumn: entityColumn?.value,
      orderColumn: order?.value, destination: destination)
  }

  /// The entities whose rows become instances of a class or of its subclasses, also if they are
  /// left out: links to their rows have to be recognized.
  private func entities(ofClass name: String) -> [CoreDataCatalog.Entity] {
    catalog.entities.values.filter { entity in
      guard !entity.isInternal, let className = className(of: entity) else { return false }
      var current = schema.entitiesByName[className]
      while let found = current {
        if found.name == name { return true }
        current = found.superentity
      }
      return false
    }.sorted { $0.number < $1.number }
  }
}

// MARK: - Names

/// Matches the names of a store with those of a container. A renaming identifier decides before a
/// name, on both sides, as in a migration.
///
/// Names that differ only in case match, unless both sides have them as they are.
struct CoreDataNames {
  /// The store's name of each name of the container that has one.
  let stored: [String: String]
  /// Names of the store that several names of the container claim.
  let conflicts: [NameMatch.Conflict]

  /// - Parameters:
  ///   - stored: The names in the store, with their renaming identifiers as far as its model has them.
  ///   - own: The names in the container, with their original names.
  init(
    stored: [(name: String, identifier: String?)], own: [(name: String, originalName: String?)]
  ) {
    let known = Set(own.flatMap { [$0.name, $0.originalName ?? $0.name] })
    let similar = Dictionary(grouping: known) { $0.uppercased() }
    // `NameMatch` compares exactly, so names of the store are first spelled as in the container
    // where that is unambiguous.
    func spelled(_ name: String) -> String {
      if known.contains(name) { return name }
      let others = similar[name.uppercased()] ?? []
      return others.count == 1 ? others[0] : name
    }
    let match = NameMatch(
      from: stored.map {
        NameMatch.Name(spelled($0.name), originalName: $0.identifier.map(spelled))
      },
      to: own.map { NameMatch.Name($0.name, originalName: $0.originalName) })
    let names = Dictionary(stored.map { (spelled($0.name), $0.name) }) { first, _ in first }
    self.stored = match.old.compactMapValues { names[$0] }
    conflicts = match.conflicts
  }
}
