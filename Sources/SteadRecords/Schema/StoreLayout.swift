import Synchronization

/// How a store's tables represent a schema. Immutable, made once per container.
final class StoreLayout: @unchecked Sendable {
  // Sendable: all stored properties are immutable after init, and the cache of traced key paths in
  // `EntityLayout` has its own lock.
  let schema: Schema
  /// By name. An entity's index is its place here, 1 less than its discriminator if it has one.
  let entities: [EntityLayout]
  /// Whether each entity records which of its properties are read, for custom stages of a migration plan.
  let recordsReads: Bool
  /// For each root entity, the relationships that lead to its hierarchy and have no inverse.
  let oneWay: [[OneWayRelationship]]
  /// For each root entity, the relationships that lead to its hierarchy and that its rule leaves as they
  /// are when an object is deleted.
  let danglingReferences: [[OneWayRelationship]]
  /// The relationships with a limited number of members.
  let memberLimits: [MemberLimit]
  /// The names of the required to-one relationships in each hierarchy, by the index of its root.
  let requiredReferences: [Set<String>]
  /// The roots of the hierarchies of which a class has relationships.
  let rootsWithRelationships: Set<Int>
  /// The roots of the hierarchies of which a class has unique constraints.
  let rootsWithKeys: Set<Int>
  private let byType: [ObjectIdentifier: EntityLayout]
  private let byName: [String: EntityLayout]

  /// Lays out a schema.
  ///
  /// What a deletion or a save has to search for is computed here, by the root of the hierarchy: a deletion knows a row
  /// and its table, and any class of the hierarchy may be what a relationship leads to.
  ///
  /// - Throws: `SchemaProblem` for models that contradict each other, all contradictions of one step as one error.
  init(schema: Schema, recordsReads: Bool = false) throws {
    self.schema = schema
    self.recordsReads = recordsReads
    // Before the tables are laid out, which relies on distinct names and on inverses that lead
    // back.
    try schema.findings.check()
    let entities = try StoreLayoutBuilder(schema: schema, recordsReads: recordsReads).build()
    self.entities = entities
    oneWay = OneWayRelationship.byDestination(entities) { property in
      property.relationship?.inverse == nil
    }
    danglingReferences = OneWayRelationship.byDestination(entities) { property in
      property.inverses(in: entities).contains { $0.relationship?.deleteRule == .noAction }
    }
    memberLimits = MemberLimit.all(entities)
    requiredReferences = entities.map { root in
      Set(
        entities.filter { $0.rootIndex == root.index }.flatMap(\.properties)
          .filter(\.isRequiredReference).map(\.name))
    }
    rootsWithRelationships = Set(entities.filter(\.hasRelationships).map(\.rootIndex))
    rootsWithKeys = Set(entities.filter(\.isConstrained).map(\.rootIndex))
    byType = Dictionary(uniqueKeysWithValues: entities.map { (ObjectIdentifier($0.type), $0) })
    byName = Dictionary(uniqueKeysWithValues: entities.map { ($0.name, $0) })
  }

  /// The entity of exactly this class; nil for another version's class of the same name.
  func entity(for type: any PersistentModel.Type) -> EntityLayout? {
    byType[ObjectIdentifier(type)]
  }

  func entity(named name: String) -> EntityLayout? { byName[name] }

  /// The entity with this discriminator in the hierarchy of `root`.
  func entity(discriminator: Int, root: Int) -> EntityLayout? {
    // The number comes from a row, which another program may have written.
    guard entities.indices.contains(discriminator - 1) else { return nil }
    let entity = entities[discriminator - 1]
    return entity.rootIndex == root ? entity : nil
  }
}

// MARK: - Relationships without an inverse

/// A relationship without an inverse on its destination: a deletion has to search for what refers to the object.
struct OneWayRelationship: Sendable {
  let entity: Int
  let property: Int

  static func byDestination(
    _ entities: [EntityLayout], where isWanted: (PropertyLayout) -> Bool
  ) -> [[OneWayRelationship]] {
    var result: [[OneWayRelationship]] = Array(repeating: [], count: entities.count)
    for entity in entities {
      for index in entity.relationships {
        let property = entity.properties[index]
        guard let destination = property.destination, isWanted(property) else { continue }
        // By the root: a relationship to a superclass may lead to a row of any subclass.
        result[entities[destination].rootIndex].append(
          OneWayRelationship(entity: entity.index, property: index))
      }
    }
    return result
  }
}

// MARK: - Limits on members

/// A to-many relationship with a least or a greatest number of members.
struct MemberLimit: Sendable {
  /// The topmost class of the hierarchy that has the relationship.
  let owner: EntityLayout
  let property: PropertyLayout
  let storage: ToManyStorage
  /// The class of its members.
  let destination: EntityLayout

  /// The limited relationships of some classes, each once: subclasses inherit theirs.
  static func all(_ entities: [EntityLayout]) -> [MemberLimit] {
    var limits: [MemberLimit] = []
    // Superclasses first, which have fewer properties than their subclasses.
    for entity in entities.sorted(by: { $0.properties.count < $1.properties.count }) {
      for index in entity.relationships {
        let property = entity.properties[index]
        guard let relationship = property.relationship,
          relationship.minimum > 0 || relationship.maximum > 0,
          case .toMany(let storage, let destination) = property.kind,
          !limits.contains(where: { $0.isInherited(as: property, by: entity) })
        else { continue }
        limits.append(
          MemberLimit(
            owner: entity, property: property, storage: storage,
            destination: entities[destination]))
      }
    }
    return limits
  }

  /// The SELECT that counts the members of one owner's row, in that row's store.
  ///
  /// ```sql
  /// SELECT count(*) FROM "Stop" AS m WHERE m."trip" = ?1
  /// ```
  var count: String {
    // A table has the rows of all classes of its hierarchy, and a list may be of one of them.
    let members = destination.table.sqlName
    let own = destination.ownRows("m")
    switch storage {
    case .inverse(let toOne):
      let inverse = destination.properties[toOne]
      let sql =
        "SELECT count(*) FROM \(members) AS m "
        + "WHERE m.\((inverse.column ?? inverse.name).sqlName) = ?1\(own)"
      guard let list = property.relationship?.list, let column = inverse.listColumn else {
        return sql
      }
      // NULL is list 0, as for the rows that were written before the column was added.
      return sql + " AND ifnull(m.\(column.sqlName), 0) = \(list)"
    case .join(let table, let owner, let target):
      return "SELECT count(*) FROM \(table.sqlName) AS p JOIN \(members) AS m "
        + "ON m.\"_id\" = p.\(target) WHERE p.\(owner) = ?1\(own)"
    }
  }

  private func isInherited(as other: PropertyLayout, by entity: EntityLayout) -> Bool {
    owner.rootIndex == entity.rootIndex && property.keyPath == other.keyPath
      && property.name == other.name
  }
}

extension PropertyLayout {
  /// Why a save refuses a number of members; nil if the model allows it.
  ///
  /// - Parameter row: The owner's row, if no object of it is loaded.
  func refusal(of count: Int, in entity: EntityLayout, row: Int64? = nil) -> SwiftDataError? {
    guard let relationship, relationship.minimum > 0 || relationship.maximum > 0 else {
      return nil
    }
    // 0 means no limit, as in SwiftData.
    let maximum = relationship.maximum > 0 ? relationship.maximum : .max
    if count >= relationship.minimum, count <= maximum { return nil }
    let limit = maximum == .max ? "or more" : "to \(maximum)"
    let suffix = row.map { " of row \($0)" } ?? ""
    return SwiftDataError(
      .modelValidationFailure,
      "\(entity.name).\(name)\(suffix) has \(count == 1 ? "1 object" : "\(count) objects"); the model allows "
        + "\(relationship.minimum) \(limit). Add or remove objects before the save, or delete the \(entity.name), too."
    )
  }

  /// Whether each object must lead to another one by this property.
  var isRequiredReference: Bool {
    if case .toOne = kind { !isOptional } else { false }
  }
}

// MARK: - Models without a container

/// The layouts of models that belong to no container: a class and all that its relationships reach.
///
/// Inverses are kept in step before objects are inserted anywhere. A class's layout is made once in a process; later
/// calls cost a lock and a look-up. A subclass that no relationship reaches is not part of it.
enum LooseLayout {
  private struct Cache {
    var byType: [ObjectIdentifier: StoreLayout?] = [:]
    /// Classes that reach each other share one layout.
    var byModels: [Set<ObjectIdentifier>: StoreLayout?] = [:]
  }

  private static let cache = Mutex(Cache())

  /// The layout of a class; nil when its models contradict each other, which a container reports.
  static func layout(for type: any PersistentModel.Type) -> StoreLayout? {
    let key = ObjectIdentifier(type)
    if let found = cache.withLock({ $0.byType[key] }) { return found }
    // What a class reaches is found first: classes that reach each other share one layout, which
    // may exist.
    var builder = SchemaBuilder()
    builder.add([type])
    let models = Set(builder.models.map { ObjectIdentifier($0.type) })
    let found = cache.withLock { $0.byModels[models] }
    // Made outside the lock: default values are the app's code, and may come back here. Of two threads the first wins.
    let layout = found ?? (try? StoreLayout(schema: Schema([type])))
    return cache.withLock { cache in
      let first = cache.byModels[models] ?? layout
      cache.byModels[models] = .some(first)
      // A failure is kept, too: nil means that the models contradict each other, and asking again
      // would cost the same.
      cache.byType[key] = .some(first)
      return first
    }
  }
}

/// A class that is not in the container's schema, in words.
///
/// Where a version declares a class anew, code that names the other version's class of that name compiles, and is hard
/// to tell from the right one. So both are named.
struct UnknownClass {
  let problem: String
  let remedy: String

  init(_ type: any PersistentModel.Type, in layout: StoreLayout) {
    if let own = layout.entity(named: Schema.entityName(for: type))?.type, own != type {
      problem =
        "\(String(reflecting: type)) is not in the container's schema, which has \(String(reflecting: own)) by that name"
      remedy = "Use that class"
    } else {
      problem = "\(type) is not in the container's schema"
      remedy = "Name the type when the container is made"
    }
  }
}
