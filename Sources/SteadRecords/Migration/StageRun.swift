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
