/// What a custom stage does to data that its new models have no place for, once `willMigrate` has run.
///
/// A model or a property that is simply gone was removed on purpose: its objects must have been looked at, or it is
/// named as discarded. A property that goes on with another type was not: its values are converted where that loses
/// nothing, and otherwise the closure must have read this very property.
struct StageData {
  private let container: ModelContainer
  private let discarded: Set<String>
  private let match: SchemaMatch
  /// The match without the properties that cannot follow.
  private let separate: SchemaMatch
  private let difference: SchemaDifference

  /// - Parameter discarded: The models and properties that may be dropped without a look.
  init(from container: ModelContainer, to new: Schema, discarded: Set<String>) {
    self.container = container
    self.discarded = discarded
    match = SchemaMatch(from: container.schema, to: new)
    difference = SchemaDifference(match)
    separate = match.separating(difference.refusals)
  }

  /// The properties whose values are converted, since the closure has not read them.
  func conversions() throws -> Set<ValueConversion.Property> {
    var result: Set<ValueConversion.Property> = []
    for conversion in ValueConversion.all(of: match, difference) {
      let property = conversion.property
      guard let old = match.oldEntities[property.entity],
        let name = match.oldProperty(property.name, of: property.entity)?.name,
        let entity = container.layout.entity(named: old.name), !wasRead(name, of: entity),
        let store = container.store(of: entity),
        try store.read(.newest, { connection, _ in try conversion.isPossible(on: connection) })
      else { continue }
      result.insert(property)
    }
    return result
  }

  /// Whether the closure has read a property of an object, or used it in a predicate.
  private func wasRead(_ name: String, of entity: EntityLayout) -> Bool {
    container.layout.entities.contains { other in
      guard other.rootIndex == entity.rootIndex, let property = other.property(named: name) else {
        return false
      }
      return other.reads?.contains(property.index) ?? true
    }
  }

  /// Throws for data that would be dropped in silence.
  func check(_ stage: MigrationStage) throws {
    let converted = try conversions()
    var problems: [String] = []
    for entity in container.layout.entities {
      guard !discarded.contains(entity.name), let store = container.store(of: entity) else {
        continue
      }
      if separate.newEntities[entity.name] == nil {
        if !container.hasUsed(entity), let count = try store.count(entity, nil) {
          problems.append("\(entity.name) (\(count))")
        }
        continue
      }
      for property in entity.properties {
        guard !isKept(property, entity, converted),
          !discarded.contains("\(entity.name).\(property.name)"), let column = property.column,
          let count = try store.count(entity, column)
        else { continue }
        problems.append("\(entity.name).\(property.name) (\(count))")
      }
    }
    guard !problems.isEmpty else { return }
    throw SwiftDataError(
      .loadIssueModelContainer,
      "The custom stage from \(StageRun.name(stage)) drops data that it has not read: \(problems.joined(separator: ", ")), "
        + "with the number of objects that have a value. Move it in `willMigrate`, or name it in the plan's `discardedData`; "
        + "without a change of the plan, in `discardedData` of the container's ModelConfiguration. A copy of the store as "
        + "it was is then kept as its `\(StoreBackup.suffix)`, unless it has more than 1 GiB.")
  }

  /// Whether the new models have a property's values, or the stage has seen to them.
  private func isKept(
    _ property: PropertyLayout, _ entity: EntityLayout,
    _ converted: Set<ValueConversion.Property>
  ) -> Bool {
    if separate.newProperty(property.name, of: entity.name) != nil { return true }
    guard let now = match.newProperty(property.name, of: entity.name),
      let model = match.newEntities[entity.name]
    else { return container.hasUsed(entity) }
    let declared = ValueConversion.Property(
      entity: model.declarer(of: now.name).name, name: now.name)
    return converted.contains(declared) || wasRead(property.name, of: entity)
  }
}

extension ModelContainer {
  /// Whether a context has asked for objects of an entity.
  fileprivate func hasUsed(_ entity: EntityLayout) -> Bool {
    store(of: entity)?.plans[entity.index]?.isMade ?? true
  }
}

extension RecordStore {
  /// How many objects of an entity have a value in a column, or exist at all; nil for none.
  fileprivate func count(_ entity: EntityLayout, _ column: String?) throws -> Int64? {
    let value = column.map { "\($0.sqlName) IS NOT NULL" } ?? "1"
    let count = try read(.newest) { connection, _ in
      try connection.integer(
        "SELECT count(*) FROM \(entity.table.sqlName) WHERE \(value)\(test(entity))")
    }
    return count == 0 ? nil : count
  }
}
