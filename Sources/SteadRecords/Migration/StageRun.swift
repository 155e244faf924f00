/// Runs one stage of a migration plan on a store's copy.
struct StageRun {
  let stage: MigrationStage
  let plan: any SchemaMigrationPlan.Type
  let configuration: ModelConfiguration
  let report: MigrationReporter

  /// The stage's name in errors and reports.
  static func name(_ stage: MigrationStage) -> String { "\(stage.from) to \(stage.to)" }

  /// Opens the copy with the stage's models, and runs its closures.
  ///
  /// A custom stage is opened twice: with the old models for `willMigrate`, then with the new ones for `didMigrate`.
  /// Between the two it is checked that no data is dropped which the closure has not read, see ``StageData``; at the
  /// end, that no required property is left without a value.
  func run() throws {
    switch stage {
    case .lightweight(_, let to), .custom(_, let to, nil, nil):
      try report(.changing)
      _ = try open(to, .ofStage)
    case .custom(let from, let to, let willMigrate, let didMigrate):
      let old = try open(from, .beforeCustomStage)
      // Before anything is reported about values, since no closure could resolve a conflict.
      try checkConflicts(of: to)
      if let willMigrate {
        try report(.willMigrate)
        try run(willMigrate, on: old)
      }
      try report(.changing)
      let dropped = StageData(
        from: old, to: Schema(versionedSchema: to),
        discarded: plan.discardedData.union(configuration.discardedData))
      // Before the tables change, while the values are still there to be counted.
      try dropped.check()
      let new = try open(to, .ofCustomStage, converting: dropped.conversions())
      if let didMigrate {
        try report(.didMigrate)
        try run(didMigrate, on: new)
      }
      try checkRequired(new, since: old)
    }
  }

  /// Runs a closure with a context of its own, and saves what the closure has not saved.
  private func run(_ body: (ModelContext) throws -> Void, on container: ModelContainer) throws {
    let context = ModelContext(container)
    try body(context)
    // An app's closure may end without saving.
    if context.hasChanges { try context.save() }
  }

  /// Opens the copy with the models of a version.
  ///
  /// - Parameter conversions: The properties whose values are converted to another type.
  private func open(
    _ version: any VersionedSchema.Type, _ role: MigrationRole,
    converting conversions: Set<ValueConversion.Property> = []
  ) throws -> ModelContainer {
    var configuration = configuration
    // All models of the version: a store records those of its whole container, and is compared with them.
    configuration.schema = nil
    configuration.migration = role
    configuration.conversions = conversions
    return try ModelContainer(
      for: Schema(versionedSchema: version), migrationPlan: nil, configurations: [configuration],
      isCurrent: false
    ) { _ in nil }
  }

  // MARK: - What a stage has to see to

  /// Refuses a version in which several models or properties claim the same former one. It is checked before any
  /// other rule, since no closure could resolve it.
  private func checkConflicts(of version: any VersionedSchema.Type) throws {
    guard let stored = try StoreFile(configuration).open(writable: false).storedSchema() else {
      return
    }
    let match = SchemaMatch(from: stored, to: Schema(versionedSchema: version))
    guard match.hasConflicts else { return }
    let refusals = SchemaDifference(match).refusals.filter { $0.cure == nil }
    throw SwiftDataError(
      .loadIssueModelContainer,
      "A stage of the migration plan cannot take the store to version \(version.versionIdentifier). "
        + refusals.map(\.description).joined(separator: " "))
  }

  /// Refuses rows without a value of a required property, or with a reference that has become required and leads to
  /// no row.
  private func checkRequired(_ container: ModelContainer, since old: ModelContainer) throws {
    let match = SchemaMatch(from: old.schema, to: container.schema)
    var problems: [String] = []
    for entity in container.layout.entities {
      guard let store = container.store(of: entity) else { continue }
      // An optional may be NULL, and a to-many relationship has no column.
      for property in entity.properties where !property.isOptional {
        guard !property.isToMany, let column = property.column,
          let rows = try store.rowsWithout(
            column, of: entity,
            leadingTo: match.requires(property, of: entity)
              ? property.destination.map { container.layout.entities[$0] } : nil)
        else { continue }
        problems.append("\(entity.name).\(property.name) in \(rows)")
      }
    }
    guard !problems.isEmpty else { return }
    throw SwiftDataError(
      .loadIssueModelContainer,
      "The custom stage leaves objects without a value of a required property, or with a reference to an object "
        + "that no longer exists: "
        + "\(problems.joined(separator: "; ")). Set it in `didMigrate`, or give an attribute a default value."
    )
  }
}

// MARK: - Rows of stages

extension SchemaMatch {
  /// Whether a property is required now and was optional before, or did not exist.
  fileprivate func requires(_ property: PropertyLayout, of entity: EntityLayout) -> Bool {
    !property.isOptional && oldProperty(property.name, of: entity.name)?.isOptional ?? true
  }
}

extension RecordStore {
  /// A condition for the rows of an entity's own class, to follow another condition; empty for an entity without
  /// subclasses.
  func test(_ entity: EntityLayout) -> String {
    entity.discriminator.map { " AND \"_entity\" = \($0)" } ?? ""
  }

  /// The numbers of some rows without a value in a column; nil for none.
  ///
  /// - Parameter destination: Where the column leads, if rows count whose destination no longer exists.
  fileprivate func rowsWithout(
    _ column: String, of entity: EntityLayout, leadingTo destination: EntityLayout?
  ) throws -> String? {
    let target = destination.flatMap { plans[$0.index] == nil ? nil : $0.table.sqlName }
    let missing =
      "\(column.sqlName) IS NULL"
      + (target.map { " OR \(column.sqlName) NOT IN (SELECT \"_id\" FROM \($0))" } ?? "")
    let rows = try read(.newest) { connection, _ in
      try connection.rows(
        "SELECT \"_id\" FROM \(entity.table.sqlName) WHERE (\(missing))\(test(entity)) "
          + "LIMIT \(SchemaMigrator.namedRowLimit)")
    }
    let numbers = rows.compactMap {
      if case .integer(let row)? = $0.first { "\(row)" } else { nil }
    }
    if numbers.isEmpty { return nil }
    return (numbers.count == 1 ? "row " : "rows ") + numbers.joined(separator: ", ")
  }
}

// MARK: - Data

/// Decides what a custom stage does with data that its new models cannot hold, once `willMigrate` has run.
///
/// Data must not be lost in silence, so each kind of loss has its rule:
///
/// - A model that is gone had objects: the closure must have fetched some of them.
/// - A property that goes on with another type was not meant to lose its values. They are converted if that loses
///   nothing, whatever the closure has read, since `didMigrate` may still set others. Otherwise the closure must have
///   read this very property.
/// - A property that is gone was removed on purpose if the new version adds nothing that could have been meant to
///   take its values. As in a lightweight stage the values are dropped, and the backup has them. If the version adds
///   a model or a property, the closure must have read this very property.
///
/// What the plan or the configuration names as discarded needs none of this.
struct StageData {
  private let container: ModelContainer
  /// Names such as `Trip` and `Trip.name`.
  private let discarded: Set<String>
  /// What of the old schema goes on under which name in the new one.
  private let match: SchemaMatch
  /// The match without the properties whose values cannot go on as they are.
  private let separate: SchemaMatch
  private let difference: SchemaDifference

  /// Compares the schemas.
  ///
  /// - Parameter discarded: The names of models and properties that may be dropped without having been read.
  init(from container: ModelContainer, to new: Schema, discarded: Set<String>) {
    self.container = container
    self.discarded = discarded
    match = SchemaMatch(from: container.schema, to: new)
    difference = SchemaDifference(match)
    separate = match.separating(difference.refusals)
  }

  /// The properties whose values are converted to their new type, since that is possible for each value in the store.
  func conversions() throws -> Set<ValueConversion.Property> {
    var result: Set<ValueConversion.Property> = []
    for conversion in ValueConversion.all(of: match, difference) {
      let property = conversion.property
      guard let old = match.oldEntities[property.entity],
        let entity = container.layout.entity(named: old.name),
        let store = container.store(of: entity),
        try store.read(.newest, { connection, _ in try conversion.isPossible(on: connection) })
      else { continue }
      result.insert(property)
    }
    return result
  }

  /// Throws if data would be dropped in silence.
  ///
  /// - Throws: ``SwiftDataError`` `.loadIssueModelContainer`, which names each model and property with the number of
  ///   objects that have a value.
  func check() throws {
    let lost = try lost()
    guard !lost.isEmpty else { return }
    throw SwiftDataError(
      .loadIssueModelContainer,
      "The custom stage drops data that it has not read: \(lost.joined(separator: ", ")), "
        + "with the number of objects that have a value. Move it in `willMigrate`, or name it in the plan's `discardedData`; "
        + "without a change of the plan, in `discardedData` of the container's ModelConfiguration. A copy of the store as "
        + "it was is then kept as its `\(StoreBackup.suffix)`, unless it has more than 1 GiB.")
  }

  /// The models and properties whose data would be dropped in silence, each with the number of objects.
  func lost() throws -> [String] {
    let converted = try conversions()
    let addsDestinations = addsDestinations(converted)
    var lost: [String] = []
    for entity in container.layout.entities {
      // A discarded model includes its properties.
      guard !discarded.contains(entity.name), let store = container.store(of: entity) else {
        continue
      }
      // The model is gone: a fetch of one of its objects is enough, since the closure decides what of it matters.
      if separate.newEntities[entity.name] == nil {
        if !(entity.reads?.hasObjects ?? true), let count = try store.count(entity) {
          lost.append("\(entity.name) (\(count))")
        }
        continue
      }
      for property in entity.properties {
        guard !isKept(property, entity, converted, addsDestinations),
          !discarded.contains("\(entity.name).\(property.name)"),
          let count = try store.count(property, of: entity)
        else { continue }
        lost.append("\(entity.name).\(property.name) (\(count))")
      }
    }
    return lost
  }

  /// Whether a property's values go on, need not go on, or have been read.
  private func isKept(
    _ property: PropertyLayout, _ entity: EntityLayout,
    _ converted: Set<ValueConversion.Property>, _ addsDestinations: Bool
  ) -> Bool {
    if separate.newProperty(property.name, of: entity.name) != nil || isKeptByInverse(property) {
      return true
    }
    // Whatever the closure did with it: reading shows that it knew of the values.
    if wasRead(property.name, of: entity) { return true }
    guard let now = match.newProperty(property.name, of: entity.name),
      let model = match.newEntities[entity.name]
    else { return !addsDestinations }
    return converted.contains(Self.declared(now.name, in: model))
  }

  /// Whether a relationship's links go on as those of its inverse.
  private func isKeptByInverse(_ property: PropertyLayout) -> Bool {
    let layout = container.layout
    guard let destination = property.destination else { return false }
    // Of several lists over one reference each has links of its own.
    let inverses = property.inverses(in: layout.entities)
    return !inverses.isEmpty
      && inverses.allSatisfy {
        separate.newProperty($0.name, of: layout.entities[destination].name) != nil
      }
  }

  /// Whether the new version has a model or a property that the old one lacks, which could have been meant to take
  /// values.
  private func addsDestinations(_ converted: Set<ValueConversion.Property>) -> Bool {
    match.new.entities.contains { entity in
      guard separate.oldEntities[entity.name] != nil else { return true }
      return entity.storedProperties.contains { property in
        if separate.oldProperty(property.name, of: entity.name) != nil { return false }
        // A new inverse shows the links of a relationship that goes on.
        if let relationship = property as? Schema.Relationship,
          let inverse = relationship.inverseName,
          separate.oldProperty(inverse, of: relationship.destination) != nil
        {
          return false
        }
        return !converted.contains(Self.declared(property.name, in: entity))
      }
    }
  }

  /// A property by the class that declares it, as conversions name it.
  private static func declared(
    _ name: String, in entity: Schema.Entity
  ) -> ValueConversion.Property {
    ValueConversion.Property(entity: entity.declarer(of: name).name, name: name)
  }

  // MARK: - What the closure has read

  /// Whether the closure has read a property of an object, or used it in a predicate, an order or an aggregate. A
  /// relationship's links can be read from either side.
  private func wasRead(_ name: String, of entity: EntityLayout) -> Bool {
    let layout = container.layout
    guard let property = entity.property(named: name) else { return false }
    if wasReadItself(name, of: entity) { return true }
    guard let destination = property.destination else { return false }
    return property.inverses(in: layout.entities).contains {
      wasReadItself($0.name, of: layout.entities[destination])
    }
  }

  /// Whether a property was read of an object of any class that shares its declaration. Reads are recorded with an
  /// object's own class, so those of superclasses and subclasses count, too.
  private func wasReadItself(_ name: String, of entity: EntityLayout) -> Bool {
    let declarer = declarer(of: name, in: entity)
    return container.layout.entities.contains { other in
      guard other.rootIndex == entity.rootIndex, let property = other.property(named: name),
        self.declarer(of: name, in: other) == declarer
      else { return false }
      return other.reads?.contains(property.index) ?? true
    }
  }

  /// The name of the class that declares a property: two subclasses may each declare one of the same name.
  private func declarer(of name: String, in entity: EntityLayout) -> String? {
    container.schema.entitiesByName[entity.name]?.declarer(of: name).name
  }
}

extension RecordStore {
  /// The number of objects of an entity; nil for none.
  fileprivate func count(_ entity: EntityLayout) throws -> Int64? {
    try count("SELECT count(*) FROM \(entity.table.sqlName) WHERE 1\(test(entity))")
  }

  /// The number of objects of an entity that have a value or links of a property; nil for none, and for a
  /// relationship that is stored on the other side.
  fileprivate func count(_ property: PropertyLayout, of entity: EntityLayout) throws -> Int64? {
    if let column = property.column {
      return try count(
        "SELECT count(*) FROM \(entity.table.sqlName) "
          + "WHERE \(column.sqlName) IS NOT NULL\(test(entity))")
    }
    guard let pairs = property.joinTable else { return nil }
    return try count(
      "SELECT count(*) FROM \(entity.table.sqlName) WHERE \"_id\" IN "
        + "(SELECT \(pairs.owner.sqlName) FROM \(pairs.name.sqlName))\(test(entity))")
  }

  private func count(_ sql: String) throws -> Int64? {
    let count = try read(.newest) { connection, _ in try connection.integer(sql) }
    return count == 0 ? nil : count
  }
}
