/// Runs one stage of a migration plan on a store's copy.
struct StageRun {
  let stage: MigrationStage
  let plan: any SchemaMigrationPlan.Type
  let configuration: ModelConfiguration
  let report: MigrationReporter

  /// What the stage is called in errors and reports.
  static func name(_ stage: MigrationStage) -> String { "\(stage.from) to \(stage.to)" }

  func run() throws {
    switch stage {
    case .lightweight(_, let to), .custom(_, let to, nil, nil):
      try report(.changing)
      _ = try open(to, isCustom: false)
    case .custom(let from, let to, let willMigrate, let didMigrate):
      let old = try open(from, isCustom: false)
      if let willMigrate {
        try report(.willMigrate)
        try run(willMigrate, on: old)
      }
      try report(.changing)
      try checkDropped(old)
      let new = try open(to, isCustom: true)
      if let didMigrate {
        try report(.didMigrate)
        try run(didMigrate, on: new)
      }
      try checkRequired(new)
    }
  }

  /// What the closure has not saved is saved for it.
  private func run(_ body: (ModelContext) throws -> Void, on container: ModelContainer) throws {
    let context = ModelContext(container)
    try body(context)
    if context.hasChanges { try context.save() }
  }

  private func open(
    _ version: any VersionedSchema.Type, isCustom: Bool
  ) throws -> ModelContainer {
    var configuration = configuration
    configuration.schema = nil
    configuration.migration = isCustom ? .ofCustomStage : .ofStage
    return try ModelContainer(
      for: Schema(versionedSchema: version), migrationPlan: nil, configurations: [configuration],
      isCurrent: false
    ) { _ in nil }
  }

  // MARK: What a stage has to see to

  /// Refuses to drop values that a custom stage has not looked at.
  private func checkDropped(_ container: ModelContainer) throws {
    let new = Schema(versionedSchema: stage.to)
    let same = SchemaMatch(from: container.schema, to: new)
    let match = same.separating(SchemaDifference(same).refusals)
    var problems: [String] = []
    for entity in container.layout.entities where !container.hasUsed(entity) {
      let name = entity.name
      guard !plan.discardedData.contains(name), let store = container.store(of: entity) else {
        continue
      }
      if match.newEntities[name] == nil {
        if let count = try store.count(entity, nil) { problems.append("\(name) (\(count))") }
        continue
      }
      for property in entity.properties where match.newProperty(property.name, of: name) == nil {
        let full = "\(name).\(property.name)"
        guard let column = property.column, !plan.discardedData.contains(full),
          let count = try store.count(entity, column)
        else { continue }
        problems.append("\(full) (\(count))")
      }
    }
    guard !problems.isEmpty else { return }
    throw SwiftDataError(
      .loadIssueModelContainer,
      "The custom stage from \(Self.name(stage)) drops data that it has not read: \(problems.joined(separator: ", ")), "
        + "with the number of objects that have a value. Move it in `willMigrate`, or name it in the plan's `discardedData`."
    )
  }

  /// Refuses rows without a value of a property that is required.
  private func checkRequired(_ container: ModelContainer) throws {
    var problems: [String] = []
    for entity in container.layout.entities {
      guard let store = container.store(of: entity) else { continue }
      for property in entity.properties where !property.isOptional {
        guard case .attribute = property.kind, let column = property.column,
          let rows = try store.rowsWithout(column, of: entity)
        else { continue }
        problems.append("\(entity.name).\(property.name) in \(rows)")
      }
    }
    guard !problems.isEmpty else { return }
    throw SwiftDataError(
      .loadIssueModelContainer,
      "The custom stage from \(Self.name(stage)) leaves objects without a value of a required property: "
        + "\(problems.joined(separator: "; ")). Set it in `didMigrate`, or give it a default value."
    )
  }
}

extension ModelContainer {
  fileprivate func store(of entity: EntityLayout) -> RecordStore? {
    entity.index < storeByEntity.count ? storeByEntity[entity.index] : nil
  }

  /// Whether a context has asked for objects of an entity.
  fileprivate func hasUsed(_ entity: EntityLayout) -> Bool {
    store(of: entity)?.plans[entity.index]?.isMade ?? true
  }
}

extension RecordStore {
  private func test(_ entity: EntityLayout) -> String {
    entity.discriminator.map { " AND \"_entity\" = \($0)" } ?? ""
  }

  /// How many objects of an entity have a value in a column, or exist at all; nil for none.
  fileprivate func count(_ entity: EntityLayout, _ column: String?) throws -> Int64? {
    let value = column.map { "\($0.sqlName) IS NOT NULL" } ?? "1"
    let count = try read(.newest) { connection, _ in
      try connection.integer(
        "SELECT count(*) FROM \(entity.table.sqlName) WHERE \(value)\(test(entity))")
    }
    return count == 0 ? nil : count
  }

  /// The numbers of some rows without a value in a column; nil for none.
  fileprivate func rowsWithout(_ column: String, of entity: EntityLayout) throws -> String? {
    let rows = try read(.newest) { connection, _ in
      try connection.rows(
        "SELECT \"_id\" FROM \(entity.table.sqlName) WHERE \(column.sqlName) IS NULL\(test(entity)) "
          + "LIMIT \(SchemaMigrator.namedRowLimit)")
    }
    let numbers = rows.compactMap {
      if case .integer(let row)? = $0.first { "\(row)" } else { nil }
    }
    return numbers.isEmpty ? nil : "rows \(numbers.joined(separator: ", "))"
  }
}
