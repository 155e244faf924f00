/// Pairs each relationship with the property that points back.
///
/// An inverse that the source names is used as it is; several relationships may name one to-one. Otherwise one is
/// inferred if there is exactly one candidate on both sides, not both sides are to-many, and the to-one side is
/// optional. Ambiguous relationships stay one-way.
struct InverseFinder {
  /// What is wrong or ambiguous, for the container to throw or report.
  private(set) var findings = SchemaFindings()
  /// The relationships of all classes, each once, at the class that declares it.
  private let sides: [Side]
  private let models: [String: Model]
  /// Classes that the schema has replaced by others of their names.
  private let replaced: Set<ObjectIdentifier>

  private typealias Model = (entity: Schema.Entity, metadata: ModelMetadata)

  /// A relationship and the class that declares it.
  private struct Side {
    let entity: Schema.Entity
    let relationship: Schema.Relationship
    var id: ObjectIdentifier { ObjectIdentifier(relationship) }
    var name: String { "\(entity.name).\(relationship.name)" }
    var path: String { "\\\(name)" }
  }

  /// Takes the entities with their classes' descriptions.
  init(_ models: [(Schema.Entity, ModelMetadata)], replaced: Set<ObjectIdentifier> = []) {
    self.replaced = replaced
    self.models = Dictionary(
      uniqueKeysWithValues: models.map { ($0.name, (entity: $0, metadata: $1)) })
    // In an order that depends on the models alone, superclasses before their subclasses.
    sides = models.sorted { Self.isBefore($0.0, $1.0) }.flatMap { entity, _ in
      entity.properties.compactMap { $0 as? Schema.Relationship }.map {
        Side(entity: entity, relationship: $0)
      }
    }
  }

  /// The order in which the relationships of different classes count as declared.
  static func isBefore(_ one: Schema.Entity, _ other: Schema.Entity) -> Bool {
    // A superclass has a smaller depth than its subclasses. Names decide between the rest, not the
    // order in which an app happens to list its models.
    (depth(one), one.name) < (depth(other), other.name)
  }

  private static func depth(_ entity: Schema.Entity) -> Int {
    sequence(first: entity) { $0.superentity }.reduce(0) { count, _ in count + 1 }
  }

  /// Sets `inverseName` on every relationship that has an inverse.
  mutating func resolve() {
    // The order matters: the second step takes only what the first has left.
    // A relationship that is named, or names another, is no candidate for an inference.
    pairNamed()
    pairUnnamed()
  }

  // MARK: Inverses that the source names

  /// Pairs the relationships whose inverse the source names, each named inverse with its first namer.
  ///
  /// A to-one inverse may have several namers, which then share its column; a to-many inverse has one. `sides` has an
  /// order that depends on the models alone, so the numbers of shared inverses are the same in all programs.
  private mutating func pairNamed() {
    var named: [ObjectIdentifier: Side] = [:]
    for side in sides where side.relationship.inverseKeyPath != nil {
      if let inverse = namedInverse(of: side) { named[side.id] = inverse }
    }
    var namers: [ObjectIdentifier: [Side]] = [:]
    for side in sides {
      // Both sides may name each other. A side whose inverse names a third one contradicts it.
      guard let inverse = named[side.id] else { continue }
      if let other = named[inverse.id], other.id != side.id {
        refuse(
          "\(side.name) names \(inverse.path) as its inverse, which names \(other.path). Name the "
            + "inverse on one side only.")
      }
      namers[inverse.id, default: []].append(side)
    }
    for inverse in sides {
      // Through `sides`, and not through the dictionary, whose order differs from run to run.
      guard let all = namers[inverse.id] else { continue }
      inverse.relationship.inverseName = all[0].relationship.name
      // One foreign key can hold the members of several lists with a list's number next to it. A
      // list has no such place.
      let sharers = inverse.relationship.isToOneRelationship ? all[...] : all[..<1]
      for side in sharers { side.relationship.inverseName = inverse.relationship.name }
      for side in all[sharers.count...] {
        findings.notes.append(
          "\(inverse.name) is named as the inverse of \(all[0].name) and of \(side.name). A to-many "
            + "relationship is the inverse of one property, so \(side.name) is one-way. Give "
            + "\(inverse.entity.name) a separate property for it.")
      }
    }
  }

  private mutating func refuse(_ message: String) {
    findings.problems.append(SchemaProblem(.invalidInverse, message))
  }

  /// The relationship that a side names; nil, with a problem, if it doesn't lead back.
  ///
  /// It leads back if its destination is the side's class or a superclass: a list of a superclass also has its
  /// subclasses.
  private mutating func namedInverse(of side: Side) -> Side? {
    guard let path = side.relationship.inverseKeyPath,
      let target = models[side.relationship.destination]
    else { return nil }
    let remedy =
      "Name a property of \(target.entity.name) whose type is \(side.entity.name)? or "
      + "[\(side.entity.name)]."
    // A reused class names the inverse in the class of its own version, which this schema may have
    // replaced.
    guard let property = target.metadata.property(at: path) ?? counterpart(of: path, in: target)
    else {
      refuse(
        "\(side.name) names as its inverse \(foreign(path, target.metadata)). \(remedy)")
      return nil
    }
    guard let inverse = sides.first(where: { $0.relationship.keypath == property.keyPath }) else {
      refuse(
        "\(side.name) names \\\(target.entity.name).\(property.name) as its inverse, which is a "
          + "value of type \(property.valueType), not a relationship. \(remedy)")
      return nil
    }
    // By name, since a superclass of the side may be the declared destination.
    let lineage = sequence(first: side.entity) { $0.superentity }
    guard lineage.contains(where: { $0.name == inverse.relationship.destination }) else {
      refuse(
        "\(side.name) names \(inverse.path) as its inverse, which leads to "
          + "\(inverse.relationship.destination), not to \(side.entity.name). \(remedy)")
      return nil
    }
    return canBeStored(inverse, for: side, target.entity) ? inverse : nil
  }

  /// Whether a to-one relationship can store a list that is its inverse; otherwise adds a problem.
  ///
  /// The list is stored in the to-one's column, and that cannot lead to owners of classes other than its destination.
  private mutating func canBeStored(
    _ list: Side, for side: Side, _ target: Schema.Entity
  ) -> Bool {
    guard side.relationship.isToOneRelationship, !list.relationship.isToOneRelationship,
      list.entity !== target
    else { return true }
    refuse(
      "\(side.name) names \(list.path) as its inverse, which other classes than \(target.name) inherit, and they have "
        + "no place in \(side.name). Declare \(list.relationship.name) in \(target.name), or make \(side.name) a "
        + "\(list.entity.name)?.")
    return false
  }

  /// The property of a class that has the name of the one that a key path of a replaced class leads to.
  private func counterpart(of path: AnyKeyPath, in target: Model) -> ModelMetadata.Property? {
    guard let root = type(of: path).rootType as? any PersistentModel.Type,
      replaced.contains(ObjectIdentifier(root)), case let other = ModelMetadata.of(root),
      other.name == target.metadata.name, let name = other.property(at: path)?.name
    else { return nil }
    return target.metadata.all.first { $0.name == name }
  }

  /// Describes what a key path leads to if that isn't a stored property of the destination.
  private func foreign(_ path: AnyKeyPath, _ target: ModelMetadata) -> String {
    let owner = models.values.first { $0.metadata.type == type(of: path).rootType }?.metadata
    guard let owner, owner !== target else {
      return KeyPathName.description(of: path, in: target)
    }
    let name = owner.property(at: path)?.name
    return "\(name.map { "\\\(owner.name).\($0)" } ?? "a property of \(owner.name)"), but leads to "
      + target.name
  }

  // MARK: Inverses that can be inferred

  /// Pairs relationships that are each other's only candidate. Those with several candidates stay one-way, with one
  /// note for each group of them.
  private mutating func pairUnnamed() {
    // A side that names an inverse stays out even if the naming failed: the app has asked for one
    // inverse, not for any.
    let free = sides.filter {
      $0.relationship.inverseName == nil && $0.relationship.inverseKeyPath == nil
    }
    let byEntity = Dictionary(grouping: free) { $0.entity.name }
    let candidates = Dictionary(
      uniqueKeysWithValues: free.map { side in
        // Only among the destination's own relationships: an inherited one belongs to more classes
        // than this one.
        (side.id, byEntity[side.relationship.destination, default: []].filter { fit(side, $0) })
      })
    var reported: Set<ObjectIdentifier> = []
    for side in free {
      guard let found = candidates[side.id], let inverse = found.first else { continue }
      // From both sides: two properties that both lead to a third one are each its only candidate, but not it theirs.
      if found.count == 1, candidates[inverse.id]?.count == 1 {
        side.relationship.inverseName = inverse.relationship.name
      } else if !reported.contains(side.id) {
        let group = group(around: side, candidates)
        reported.formUnion(group.map(\.id))
        addAmbiguity(group)
      }
    }
  }

  /// Whether two relationships can be inverses of each other without being named.
  private func fit(_ side: Side, _ other: Side) -> Bool {
    let (one, two) = (side.relationship, other.relationship)
    guard one !== two, two.destination == side.entity.name else { return false }
    // A required to-one is never cleared by the other side, so it is not paired without being named. Neither are two
    // to-many sides, which may well be two relationships of their own.
    return switch (one.isToOneRelationship, two.isToOneRelationship) {
    case (false, false): false
    case (true, false): one.isOptional
    case (false, true): two.isOptional
    case (true, true): one.isOptional && two.isOptional
    }
  }

  /// All relationships that could be paired with one another.
  ///
  /// The connected component of a side in the graph of candidates, which is searched depth first.
  private func group(around side: Side, _ candidates: [ObjectIdentifier: [Side]]) -> [Side] {
    var members: Set<ObjectIdentifier> = [side.id]
    var queue = [side]
    while let next = queue.popLast() {
      for other in candidates[next.id] ?? [] where members.insert(other.id).inserted {
        queue.append(other)
      }
    }
    return sides.filter { members.contains($0.id) }
  }

  private mutating func addAmbiguity(_ group: [Side]) {
    let names = group.map(\.name)
    findings.notes.append(
      "\(names.dropLast().joined(separator: ", ")) and \(names.last ?? "") could be inverses of each "
        + "other in several ways, so each of them is one-way: setting one changes no other. Name "
        + "those that belong together, as in @Relationship(inverse: \(example(group))).")
  }

  private func example(_ group: [Side]) -> String {
    let toOne = group.first { $0.relationship.isToOneRelationship }
    return (toOne ?? group[0]).path
  }
}

extension ModelMetadata.Property {
  /// The type of the property's value.
  // From the key path, which has the declared type with its optional.
  var valueType: any Any.Type { type(of: keyPath).valueType }
}

// MARK: - Shared inverses

/// The to-one relationships that several others name as their inverse.
///
/// The to-one's column says which object has the row, and its `listColumn` in which of that
/// object's lists it is.
struct SharedInverses {
  private struct Sharer {
    let entity: Schema.Entity
    let relationship: Schema.Relationship
    /// Its index in the properties of the to-one's destination; nil where a subclass declares it.
    let property: Int?
  }

  private var sharers: [ObjectIdentifier: [Sharer]] = [:]
  private var numbers: [ObjectIdentifier: Int] = [:]

  /// Collects the relationships by the to-one that they share, and numbers those of each group.
  ///
  /// Invariant: the order is that of ``InverseFinder/isBefore(_:_:)``, which depends on the models alone. The numbers
  /// are in the store's rows, so two programs with the same models must come to the same ones.
  init(
    _ entities: [Schema.Entity], stored: [[any SchemaProperty]], _ indexByName: [String: Int]
  ) {
    for entity in entities.sorted(by: InverseFinder.isBefore) {
      for case let relationship as Schema.Relationship in entity.properties {
        guard let name = relationship.inverseName,
          let target = indexByName[relationship.destination],
          let inverse = stored[target].lazy.compactMap({ $0 as? Schema.Relationship })
            .first(where: { $0.name == name }),
          inverse.isToOneRelationship, let owner = indexByName[inverse.destination]
        else { continue }
        sharers[ObjectIdentifier(inverse), default: []].append(
          Sharer(
            entity: entity, relationship: relationship,
            property: stored[owner].firstIndex { ($0 as? Schema.Relationship) === relationship }))
      }
    }
    // A to-one with a single list needs no number.
    sharers = sharers.filter { $0.value.count > 1 }
    for group in sharers.values {
      for (number, sharer) in group.enumerated() {
        numbers[ObjectIdentifier(sharer.relationship)] = number
      }
    }
  }

  /// The relationships that share a to-one of an entity as their inverse, and that its objects can be
  /// in; nil for a relationship that isn't shared.
  func lists(of toOne: Schema.Relationship, in entity: Schema.Entity) -> [SharedList]? {
    sharers[ObjectIdentifier(toOne)].map { group in
      // A list whose members are of a sibling class can't have an object of this one.
      let lineage = Set(sequence(first: entity) { $0.superentity }.map(\.name))
      return group.enumerated().compactMap { number, sharer in
        sharer.property.flatMap {
          lineage.contains(sharer.relationship.destination)
            ? SharedList(property: $0, number: number) : nil
        }
      }
    }
  }

  /// The relationship's number among those that share its inverse.
  func number(of relationship: Schema.Relationship) -> Int? {
    numbers[ObjectIdentifier(relationship)]
  }

  /// Whether a to-one's own column cannot tell which of its lists an object is in.
  func needsColumn(_ toOne: Schema.Relationship) -> Bool {
    sharers[ObjectIdentifier(toOne)] != nil
  }
}
