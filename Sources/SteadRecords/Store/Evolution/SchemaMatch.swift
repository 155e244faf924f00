/// Which entities and properties of two schemas are the same, by their names and their earlier names.
struct SchemaMatch {
  let old: Schema
  let new: Schema
  /// The old entity of each new one that had one, by name.
  private(set) var oldEntities: [String: Schema.Entity] = [:]
  /// The new entity of each old one that has one, by name.
  private(set) var newEntities: [String: Schema.Entity] = [:]
  /// For each new entity, the old property of each stored property that had one, by name.
  private var oldProperties: [String: [String: any SchemaProperty]] = [:]

  /// - Parameter originalNames: The names that entities had in an earlier schema, by their names now.
  init(from old: Schema, to new: Schema, originalNames: [String: String] = [:]) {
    self.old = old
    self.new = new
    for entity in new.entities {
      var found = old.entitiesByName[entity.name]
      if found == nil, let name = originalNames[entity.name], new.entitiesByName[name] == nil {
        found = old.entitiesByName[name]
      }
      guard let found, newEntities[found.name] == nil else { continue }
      oldEntities[entity.name] = found
      newEntities[found.name] = entity
    }
    for entity in new.entities {
      guard let before = oldEntities[entity.name] else { continue }
      oldProperties[entity.name] = Self.properties(of: entity, in: before)
    }
  }

  private static func properties(
    of entity: Schema.Entity, in old: Schema.Entity
  ) -> [String: any SchemaProperty] {
    let known = old.storedPropertiesByName
    let properties = entity.storedProperties
    let names = Set(properties.map(\.name))
    var result: [String: any SchemaProperty] = [:]
    for property in properties {
      if let same = known[property.name] {
        result[property.name] = same
      } else if let renamed = known[property.originalName], !names.contains(property.originalName) {
        result[property.name] = renamed
      }
    }
    return result
  }

  /// The same match, with each property that cannot be converted treated as two: one that is gone, and a new one.
  ///
  /// So a custom stage of a migration plan can read the old one and set the new one.
  func separating(_ refusals: [SchemaDifference.Change]) -> SchemaMatch {
    var result = self
    for refusal in refusals where refusal.cure == .replacement {
      guard let property = refusal.property else { continue }
      for entity in new.entitiesByName[refusal.entity]?.family ?? [] {
        result.oldProperties[entity.name]?[property] = nil
      }
    }
    return result
  }

  /// What a property was; nil for a new one, or one of a new entity.
  func oldProperty(_ name: String, of entity: String) -> (any SchemaProperty)? {
    oldProperties[entity]?[name]
  }

  /// What an old property is now, in an entity that has it or inherits it.
  func newProperty(_ name: String, of oldEntity: String) -> (any SchemaProperty)? {
    guard let entity = newEntities[oldEntity], let old = oldProperties[entity.name] else {
      return nil
    }
    return entity.storedProperties.first { old[$0.name]?.name == name }
  }

  /// Whether two names are those of one entity, before and now; nil is none.
  func isSame(_ old: String?, _ new: String?) -> Bool {
    guard let old, let new else { return old == nil && new == nil }
    return oldEntities[new]?.name == old
  }
}

extension Schema.Entity {
  /// The entity at the top of the hierarchy.
  var root: Schema.Entity { superentity?.root ?? self }
  /// Whether its rows share a table with other classes' rows.
  var isInHierarchy: Bool { superentity != nil || !subentities.isEmpty }
  /// The entity and all below it.
  var family: [Schema.Entity] { [self] + subentities.flatMap(\.family) }

  /// The entity, here or above, that declares a stored property.
  func declarer(of name: String) -> Schema.Entity {
    var current = self
    while let parent = current.superentity,
      parent.storedProperties.contains(where: { $0.name == name })
    {
      current = parent
    }
    return current
  }
}
