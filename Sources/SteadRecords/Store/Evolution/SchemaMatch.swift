/// Matches the entities and properties of two schemas, by their names and earlier names: see ``NameMatch``.
struct SchemaMatch {
  /// The schema that the store was opened with last.
  let old: Schema
  /// The schema that it gets.
  let new: Schema
  /// The old entity of each new one that had one, by name.
  private(set) var oldEntities: [String: Schema.Entity] = [:]
  /// The new entity of each old one that has one, by name.
  private(set) var newEntities: [String: Schema.Entity] = [:]
  /// For each new entity, the old property of each stored property that had one, by name.
  private var oldProperties: [String: [String: any SchemaProperty]] = [:]

  /// The classes that claim one earlier class.
  private(set) var conflicts: [NameMatch.Conflict] = []
  /// By new entity, the properties that claim one earlier property.
  private(set) var propertyConflicts: [String: [NameMatch.Conflict]] = [:]
  /// Whether several classes or properties claim one, which no migration can follow.
  var hasConflicts: Bool { !conflicts.isEmpty || !propertyConflicts.isEmpty }

  /// Matches entities first, and then the properties of each pair of entities, inherited ones
  /// included.
  init(from old: Schema, to new: Schema) {
    self.old = old
    self.new = new
    let match = NameMatch(
      from: old.entities.map {
        NameMatch.Name($0.name, originalName: Self.originalName($0, old, new))
      },
      to: new.entities.map { NameMatch.Name($0.name, originalName: $0.originalName) })
    conflicts = match.conflicts
    for entity in new.entities {
      guard let found = match.old[entity.name].flatMap({ old.entitiesByName[$0] }) else { continue }
      oldEntities[entity.name] = found
      newEntities[found.name] = entity
      // With inherited ones: a property may have moved between the classes of a hierarchy.
      let (before, now) = (found.storedProperties, entity.storedProperties)
      let properties = NameMatch(from: Self.names(before), to: Self.names(now))
      let known = Dictionary(before.map { ($0.name, $0) }) { first, _ in first }
      oldProperties[entity.name] = properties.old.compactMapValues { known[$0] }
      if !properties.conflicts.isEmpty { propertyConflicts[entity.name] = properties.conflicts }
    }
  }

  private static func names(_ properties: [any SchemaProperty]) -> [NameMatch.Name] {
    properties.map { NameMatch.Name($0.name, originalName: $0.originalName) }
  }

  /// The earlier name that a class of the old schema was recorded with.
  ///
  /// Stores of earlier versions of this library don't record it. With the version number of the models the store was
  /// opened with them, and its classes were renamed then.
  private static func originalName(
    _ entity: Schema.Entity, _ old: Schema, _ new: Schema
  ) -> String? {
    if let known = entity.originalName { return known }
    return old.version == new.version ? new.entitiesByName[entity.name]?.originalName : nil
  }

  /// The same match, with each property that cannot be converted treated as two: one that is gone, and a new one.
  ///
  /// So a custom stage of a migration plan can read the old one and set the new one.
  func separating(_ refusals: [SchemaDifference.Change]) -> SchemaMatch {
    var result = self
    for refusal in refusals where refusal.cure == .replacement {
      guard let property = refusal.property else { continue }
      // Subclasses inherit the property.
      for entity in new.entitiesByName[refusal.entity]?.family ?? [] {
        result.oldProperties[entity.name]?[property] = nil
      }
    }
    return result
  }

  /// The old property of a new one; nil if it, or its entity, is new.
  func oldProperty(_ name: String, of entity: String) -> (any SchemaProperty)? {
    oldProperties[entity]?[name]
  }

  /// The new property of an old one, in an entity that has it or inherits it.
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

// MARK: - Names

/// Matches the names of an earlier version with those of a later one: of classes, or of the properties of one class.
///
/// The rule is Core Data's: a renaming identifier decides first, and a name counts only where nothing else claims it.
///
/// 1. A name with the renaming identifier that it already had was renamed before, and stays what it is.
/// 2. Any other renaming identifier claims what had it as its name; if nothing has, what had it as its renaming
///    identifier, so that a chain of renames may name its first link throughout.
/// 3. A name without such a claim, or whose claim finds nothing, stays what it is unless another one claims that.
/// 4. What is then new under a name that the earlier version lacks, and had renamed, is that, which leads a stage back.
///    A name that the earlier version has is another one's there, whoever had it before.
///
/// For two names that are swapped, `a` with the identifier `b` and `b` with the identifier `a`,
/// ``old`` has `b` for `a` and `a` for `b`.
package struct NameMatch {
  /// A name, with its renaming identifier if it has one.
  package struct Name {
    /// The present name.
    package let name: String
    /// The renaming identifier, if it has an effect.
    package let claim: String?

    package init(_ name: String, originalName: String?) {
      self.name = name
      // An empty identifier, or the name itself, claims nothing.
      claim = originalName.flatMap { $0.isEmpty || $0 == name ? nil : $0 }
    }
  }

  /// Several names that claim one of the earlier version.
  package struct Conflict: Hashable {
    /// The earlier name.
    package let old: String
    /// The names that claim it, in the order of their declaration.
    package let new: [String]
  }

  /// The earlier name of each that had one.
  package private(set) var old: [String: String] = [:]
  /// The claims that no rule decides, sorted by the earlier name. None of their names has an
  /// earlier one.
  package private(set) var conflicts: [Conflict] = []

  /// Matches names. Linear in their number.
  package init(from before: [Name], to now: [Name]) {
    let known = Dictionary(before.map { ($0.name, $0) }) { first, _ in first }
    let byClaim = Dictionary(grouping: before.filter { $0.claim != nil }) { $0.claim ?? "" }
    // Rules 1 and 2: claims by renaming identifiers.
    var claims: [String: [String]] = [:]
    for name in now {
      guard let claim = name.claim else { continue }
      if known[name.name]?.claim == claim {
        claims[name.name, default: []].append(name.name)
      } else if known[claim] != nil {
        claims[claim, default: []].append(name.name)
      } else if let only = Self.single(byClaim[claim]) {
        claims[only.name, default: []].append(name.name)
      }
    }
    for (earlier, claimants) in claims where claimants.count == 1 { old[claimants[0]] = earlier }
    conflicts = claims.filter { $0.value.count > 1 }.map { Conflict(old: $0.key, new: $0.value) }
      .sorted { $0.old < $1.old }
    // Contested names are taken, too: no equal name may become them.
    var taken = Set(claims.keys)
    let claimants = Set(claims.values.joined())
    let rest = now.filter { !claimants.contains($0.name) }
    // Rule 3: equal names, where no claim has taken them.
    for name in rest where known[name.name] != nil && taken.insert(name.name).inserted {
      old[name.name] = name.name
    }
    // Rule 4: a rename that is taken back.
    for name in rest where name.claim == nil && known[name.name] == nil {
      guard let only = Self.single(byClaim[name.name]), taken.insert(only.name).inserted else {
        continue
      }
      old[name.name] = only.name
    }
  }

  /// The only name of a list; nil for none or several.
  private static func single(_ names: [Name]?) -> Name? { names?.count == 1 ? names?[0] : nil }
}
