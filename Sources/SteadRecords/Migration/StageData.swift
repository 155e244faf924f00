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
