/// Finds what has changed between two schemas, entity by entity.
///
/// A change of a property is noted at the class that declares it, since subclasses inherit it.
struct SchemaComparison {
  /// What a store follows without a plan.
  private(set) var changes: [SchemaDifference.Change] = []
  /// What a store cannot follow, each with a remedy.
  private(set) var refusals: [SchemaDifference.Change] = []
  /// Which old entity and property each new one is.
  private let match: SchemaMatch

  init(_ match: SchemaMatch) { self.match = match }

  /// Fills ``changes`` and ``refusals``, in the order of the entities and their properties.
  mutating func run() {
    refuseConflicts()
    for entity in match.old.entities where match.newEntities[entity.name] == nil {
      note(
        entity.name, nil, "The model \(entity.name) is gone, with all its rows.", losesData: true)
    }
    for entity in match.new.entities {
      guard let old = match.oldEntities[entity.name] else {
        note(entity.name, nil, "The model \(entity.name) is new.")
        continue
      }
      if old.name != entity.name {
        note(entity.name, nil, "The model \(old.name) is called \(entity.name).")
      }
      compareHierarchy(old, entity)
      // Only those that the class declares: inherited ones are compared with their superclass.
      for property in entity.properties where !property.isTransient {
        compare(property, of: entity)
      }
      noteRemoved(old, entity)
      compareConstraints(old, entity)
    }
  }

  /// Refuses two classes or properties that claim the same earlier one.
  private mutating func refuseConflicts() {
    for conflict in match.conflicts {
      refuse(
        conflict.new[0], nil,
        "\(conflict.new.joined(separator: " and ")) both claim the model \(conflict.old), by `RenamedModel`. Leave it "
          + "out of all but the one that has its rows.")
    }
    for entity in match.new.entities {
      for conflict in match.propertyConflicts[entity.name] ?? [] {
        // Subclasses inherit it.
        if let parent = entity.superentity,
          match.propertyConflicts[parent.name]?.contains(conflict) == true
        {
          continue
        }
        let names = conflict.new.map { "\(entity.name).\($0)" }.joined(separator: " and ")
        refuse(
          entity.name, conflict.new[0],
          "\(names) both claim the property \(conflict.old), by `originalName` or since they were that property before. "
            + "Leave `originalName` out of all but the one that has its values.")
      }
    }
    for split in SharedStorage(match).splits {
      refuse(split.entity, split.property, split.description, cure: .replacement)
    }
  }

  /// Adds a change that a store can follow.
  private mutating func note(
    _ entity: String, _ property: String?, _ description: String, losesData: Bool = false,
    isOfUnknownType: Bool = false, fact: String? = nil
  ) {
    changes.append(
      .init(
        entity: entity, property: property, description: description, losesData: losesData,
        fact: fact, isOfUnknownType: isOfUnknownType))
  }

  /// Adds a change that a store cannot follow.
  ///
  /// - Parameters:
  ///   - cure: What a custom stage can do about it; nil for nothing.
  ///   - fact: The change without its remedy.
  private mutating func refuse(
    _ entity: String, _ property: String?, _ description: String,
    cure: SchemaDifference.Change.Cure? = nil, fact: String? = nil
  ) {
    refusals.append(
      .init(
        entity: entity, property: property, description: description, losesData: false,
        cure: cure, fact: fact))
  }

  // MARK: Entities

  /// Compares the superclasses. Classes may move within a hierarchy, whose rows share one table.
  private mutating func compareHierarchy(_ old: Schema.Entity, _ new: Schema.Entity) {
    guard !match.isSame(old.superentity?.name, new.superentity?.name) else { return }
    let before = old.superentity.map { "a subclass of \($0.name)" } ?? "a class of its own"
    let now = new.superentity.map { "a subclass of \($0.name)" } ?? "a class of its own"
    // Rows keep their numbers, so rows of two tables cannot move into one.
    let roots = Set(new.root.family.compactMap { match.oldEntities[$0.name]?.root.name })
    let tables = Set(old.root.family.compactMap { match.newEntities[$0.name]?.root.name })
    if roots.count > 1 || tables.count > 1 {
      refuse(
        new.name, nil,
        "\(new.name) was \(before) and is \(now), and rows cannot move from one hierarchy to another. Add the class "
          + "under a new name, and move its objects in a custom stage of a migration plan."
      )
    } else {
      note(new.name, nil, "\(new.name) was \(before) and is \(now).")
    }
  }

  /// Adds the properties that are gone. Only those that the class itself declared, since a superclass reports its own.
  private mutating func noteRemoved(_ old: Schema.Entity, _ new: Schema.Entity) {
    for property in old.properties where !property.isTransient {
      guard match.newProperty(property.name, of: old.name) == nil else { continue }
      note(
        new.name, property.name, "\(new.name).\(property.name) is gone, with its values.",
        losesData: true)
    }
  }

  /// Compares unique constraints and indexes, by the new names of their properties.
  private mutating func compareConstraints(_ old: Schema.Entity, _ new: Schema.Entity) {
    func renamed(_ sets: [[String]]) -> Set<[String]> {
      Set(
        sets.map { set in
          // No property has this name, so the set differs from each new one.
          set.map { match.newProperty($0, of: old.name)?.name ?? "\($0), which is gone" }
        })
    }
    let text = { (set: [String]) in set.map { "\(new.name).\($0)" }.joined(separator: " and ") }
    let unique = (renamed(old.uniquenessConstraints), Set(new.uniquenessConstraints))
    for set in unique.1.subtracting(unique.0).sorted(by: { $0.joined() < $1.joined() }) {
      note(new.name, set.count == 1 ? set[0] : nil, "\(text(set)) is unique now.")
    }
    for set in unique.0.subtracting(unique.1).sorted(by: { $0.joined() < $1.joined() }) {
      note(new.name, set.count == 1 ? set[0] : nil, "\(text(set)) is no longer unique.")
    }
    let indices = (renamed(old.indices), Set(new.indices))
    for set in indices.1.subtracting(indices.0).sorted(by: { $0.joined() < $1.joined() }) {
      note(new.name, set.count == 1 ? set[0] : nil, "\(text(set)) has an index.")
    }
    for set in indices.0.subtracting(indices.1).sorted(by: { $0.joined() < $1.joined() }) {
      note(new.name, set.count == 1 ? set[0] : nil, "\(text(set)) no longer has an index.")
    }
  }

  // MARK: Properties

  /// Compares a property that the class declares with what it was.
  private mutating func compare(_ property: any SchemaProperty, of entity: Schema.Entity) {
    guard let old = match.oldProperty(property.name, of: entity.name) else {
      return noteNew(property, of: entity)
    }
    let name = "\(entity.name).\(property.name)"
    if old.name != property.name {
      note(entity.name, property.name, "\(entity.name).\(old.name) is called \(property.name).")
    }
    switch (old, property) {
    case (let old as Schema.Attribute, let new as Schema.Attribute):
      compare(old, new, name, entity)
    case (let old as Schema.Relationship, let new as Schema.Relationship):
      compare(old, new, name, entity)
    default:
      // An attribute has become a relationship, or the other way around.
      let fact = "\(name) was \(PropertyForm(old)) and is \(PropertyForm(property))."
      refuse(
        entity.name, property.name, "\(fact) \(Self.advice)", cure: .replacement, fact: fact)
    }
  }

  /// The remedy for values of another form.
  private static let advice =
    "Convert it in a custom stage of a migration plan."

  /// Adds a new property, with the values that existing rows get.
  private mutating func noteNew(_ property: any SchemaProperty, of entity: Schema.Entity) {
    let name = "\(entity.name).\(property.name)"
    let value =
      switch property {
      case let attribute as Schema.Attribute where attribute.defaultValue != nil:
        " Existing rows get its default value."
      case let attribute as Schema.Attribute where !attribute.isOptional:
        " It is required and has no default value, so its model must have no rows."
      default: ""
      }
    let fact = "\(name), \(PropertyForm(property)), is new."
    note(entity.name, property.name, fact + value, fact: fact)
  }

  /// Compares an attribute's type and options.
  ///
  /// A change that depends on the values is only noted here: the rows are checked before the migration, and the
  /// schemas alone cannot tell.
  private mutating func compare(
    _ old: Schema.Attribute, _ new: Schema.Attribute, _ name: String, _ entity: Schema.Entity
  ) {
    switch (AttributeChange(from: old, to: new)) {
    case .none: break
    case .same:
      note(
        entity.name, new.name, "\(typeChange(old, new, name)); values stay as they are.",
        isOfUnknownType: AttributeChange.isOfOneName(old, new))
    case .checked:
      note(
        entity.name, new.name, "\(typeChange(old, new, name)); every value must fit the new type.",
        isOfUnknownType: AttributeChange.isOfOneName(old, new))
    case .inlined:
      note(
        entity.name, new.name, "\(name) is no longer stored in files of its own.", losesData: true)
    case .externalized: note(entity.name, new.name, "\(name) may be stored in files of its own.")
    case .refused:
      refuse(
        entity.name, new.name,
        "\(name) was \(PropertyForm(old)) and is \(PropertyForm(new)), and values are not converted. \(Self.advice)",
        cure: .replacement, fact: "\(name) was \(PropertyForm(old)) and is \(PropertyForm(new)).")
    }
    // Apart from the type, since one version may change both. nil that becomes a default value is
    // lost, which is worth a backup.
    if old.isOptional, !new.isOptional {
      if new.defaultValue == nil {
        refuse(
          entity.name, new.name,
          "\(name) was optional and is required, and has no default value for rows without one. Give it a default "
            + "value, or a value in a custom stage of a migration plan.", cure: .values,
          fact: "\(name) was optional and is required.")
      } else {
        note(
          entity.name, new.name,
          "\(name) was optional and is required; nil becomes its default value.", losesData: true)
      }
    } else if !old.isOptional, new.isOptional {
      note(entity.name, new.name, "\(name) was required and is optional.")
    }
    compareOptions(old, new, name, entity)
  }

  /// What an attribute's type was and is, without the end of the sentence.
  private func typeChange(
    _ old: Schema.Attribute, _ new: Schema.Attribute, _ name: String
  ) -> String {
    guard let before = old.structure, let now = new.structure,
      AttributeChange.isOfOneName(old, new)
    else { return "\(name) was \(PropertyForm(old)) and is \(PropertyForm(new))" }
    let changes = now.changes(from: before)
    let details = changes.isEmpty ? "" : " (\(changes.joined(separator: ", ")))"
    return "\(PropertyShape(new.valueType).wrapped), the type of \(name), has changed\(details)"
  }

  /// Compares the options, except those that have been compared as constraints or as the encoding.
  private mutating func compareOptions(
    _ old: Schema.Attribute, _ new: Schema.Attribute, _ name: String, _ entity: Schema.Entity
  ) {
    let ignored: Set<String> = ["unique", "externalStorage", "transformable", "codable"]
    let before = Set(old.options.map(\.name)).subtracting(ignored)
    let now = Set(new.options.map(\.name)).subtracting(ignored)
    for option in now.subtracting(before).sorted() {
      note(entity.name, new.name, "\(name) has the option \(option).")
    }
    for option in before.subtracting(now).sorted() {
      note(entity.name, new.name, "\(name) no longer has the option \(option).")
    }
  }

  /// Compares where a relationship leads, how many objects it has, its delete rule and its inverse.
  ///
  /// Another destination is refused: a row's number means another object in another table.
  private mutating func compare(
    _ old: Schema.Relationship, _ new: Schema.Relationship, _ name: String,
    _ entity: Schema.Entity
  ) {
    guard match.isSame(old.destination, new.destination) else {
      let fact = "\(name) led to \(old.destination) and leads to \(new.destination)."
      return refuse(
        entity.name, new.name, "\(fact) \(Self.advice)", cure: .replacement, fact: fact)
    }
    // Links that change their form count as data that may be lost, so that a backup is made.
    switch (old.isToOneRelationship, new.isToOneRelationship) {
    case (true, false):
      note(
        entity.name, new.name, "\(name) led to one object and leads to several.", losesData: true)
    case (false, true):
      note(
        entity.name, new.name,
        "\(name) led to several objects and leads to one; no object may still have several.",
        losesData: true)
    default: break
    }
    if old.isToOneRelationship, new.isToOneRelationship, old.isOptional, !new.isOptional {
      note(
        entity.name, new.name,
        "\(name) was optional and is required; every object must have one.")
    }
    if old.deleteRule != new.deleteRule {
      note(
        entity.name, new.name,
        "The delete rule of \(name) was \(old.deleteRule) and is \(new.deleteRule).")
    }
    compareInverses(old, new, name, entity)
  }

  /// Whether a relationship and its new inverse had the same storage before, so that they cannot contradict each other.
  private func isOnePlace(
    _ old: Schema.Relationship, _ inverse: String, _ destination: String, _ entity: Schema.Entity
  ) -> Bool {
    guard let owner = match.oldEntities[entity.name], let target = match.oldEntities[destination],
      let back = match.oldProperty(inverse, of: destination) as? Schema.Relationship
    else { return false }
    let links = SchemaLinks(match.old)
    return links.storage(of: old, in: owner).column == links.storage(of: back, in: target).column
  }

  /// Compares the inverses. A new inverse is refused if it had a storage of its own, whose pairs may contradict this one's.
  private mutating func compareInverses(
    _ old: Schema.Relationship, _ new: Schema.Relationship, _ name: String,
    _ entity: Schema.Entity
  ) {
    let before = old.inverseName
    let now = new.inverseName.flatMap { match.oldProperty($0, of: new.destination)?.name }
    if new.inverseName == nil, let before {
      note(entity.name, new.name, "\(before) no longer leads back from \(name).")
    } else if let inverse = new.inverseName, before == nil || now != before {
      // An inverse that is new has no links that could contradict these.
      if now == nil || isOnePlace(old, inverse, new.destination, entity) {
        note(entity.name, new.name, "\(inverse) leads back from \(name).")
      } else {
        refuse(
          entity.name, new.name,
          "\(inverse) now leads back from \(name), and both were stored separately: they may contradict each "
            + "other. Add both under new names, and set them in a custom stage of a migration plan."
        )
      }
    }
  }
}

// MARK: - Shared columns and tables

/// Finds columns and tables of pairs that classes of one hierarchy share, and that a migration would have to split or merge.
struct SharedStorage {
  /// A property whose values cannot go where the match takes them.
  struct Split {
    let entity: String
    let property: String
    let description: String
  }

  /// What would have to be split or merged, in the order of the entities.
  private(set) var splits: [Split] = []

  /// A property of a class, with where it is or was stored.
  private struct Member {
    let entity: String
    let property: String
    let place: String
    var name: String { "\(entity).\(property)" }
  }

  /// Compares where each property was stored with where it is stored now. Two properties of one
  /// place before must be of one place now, and two of one column now must have been of one column.
  init(_ match: SchemaMatch) {
    var (after, before): ([String: Member], [String: Member]) = ([:], [:])
    for entity in match.new.entities {
      guard let old = match.oldEntities[entity.name] else { continue }
      for property in entity.storedProperties {
        guard let was = match.oldProperty(property.name, of: entity.name) else { continue }
        let (source, target) = (Self.place(was, old), Self.place(property, entity))
        func member(_ place: String) -> Member {
          Member(entity: entity.name, property: property.name, place: place)
        }
        let goesOn = addMember(&after, source.key, member(target.name)) { one, other in
          "\(one) and \(other) were stored in one place, as \(old.name).\(was.name), and are two now. Rename both, or give "
            + "one of them its values in a custom stage of a migration plan."
        }
        // Pairs are copied to new tables, but columns of one name are one column.
        guard goesOn, TableNames.isColumn(property), TableNames.isColumn(was) else { continue }
        _ = addMember(&before, target.key, member(source.name)) { one, other in
          "\(one) and \(other) share a column, since they belong to one class hierarchy, and were stored in two. Give one of "
            + "them another name, or its values in a custom stage of a migration plan."
        }
      }
    }
  }

  /// Records a member of a place with its other place; false, with a split, if a member before it has another one.
  private mutating func addMember(
    _ members: inout [String: Member], _ key: String, _ member: Member,
    _ description: (_ one: String, _ other: String) -> String
  ) -> Bool {
    guard let other = members[key] else {
      members[key] = member
      return true
    }
    // Classes that shared the place agree on where it goes.
    if other.place == member.place { return true }
    splits.append(
      Split(
        entity: member.entity, property: member.property,
        description: description(other.name, member.name)))
    return false
  }

  /// The column or table of a property: its name within the hierarchy, and a key that is unique in the schema.
  private static func place(
    _ property: any SchemaProperty, _ entity: Schema.Entity
  ) -> (name: String, key: String) {
    if TableNames.isColumn(property) {
      return (property.name, "\(entity.root.name) \(property.name)")
    }
    let name = "\(entity.declarer(of: property.name).name).\(property.name)"
    return (name, name)
  }
}
