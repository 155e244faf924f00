/// Checks what the store cannot: that relationships have an allowed number of destinations, and that these belong to
/// this context and have rows that a relationship can lead to.
///
/// Changes nothing but what it loads, so that a save that it refuses leaves the context as it was.
struct SaveValidator {
  let graph: ObjectGraph

  /// Checks all changed objects that stay.
  ///
  /// - Throws: `modelValidationFailure` for a number of destinations that is not allowed, and for what a save cannot do
  ///   with a row whose number is below 1; `deletionDenied`, and the error of a destination of another context.
  func run() throws {
    for model in graph.pending.models(.deleted) where hasUnusableNumber(model) {
      throw unusableNumber(of: model, "cannot be deleted")
    }
    guard graph.concernsRelationships else { return }
    let hasRules = graph.entities.contains(where: { $0.layout.hasRules })
    for kind in [PendingChanges.Kind.inserted, .changed] {
      for model in graph.pending.models(kind) where !model.has(_ModelFlags.deleted) {
        if graph.entities[Int(model._$statePointer.pointee.entity)].layout.hasRelationships {
          try checkDestinations(of: model)
        }
        if hasRules { try check(model) }
      }
    }
    // Again: the rules that were applied since the first time may have deleted more objects.
    try checkDenials(readsRows: false)
  }

  /// Refuses deletions that a `deny` rule forbids, before anything is changed for them.
  ///
  /// What a deletion will cascade to, because it was linked after the deletion, counts as deleted: the rules have not
  /// been applied to it yet.
  ///
  /// - Parameter readsRows: Whether other contexts' commits may have linked objects that are not loaded here.
  ///
  /// - Throws: `deletionDenied`, and the error of a destination that cannot be read.
  func checkDenials(readsRows: Bool) throws {
    guard graph.entities.contains(where: { $0.layout.hasRules }) else { return }
    var going = graph.pending.models(.deleted)
    var known = Set(going.map { ObjectIdentifier($0) })
    var next = 0
    // The array grows meanwhile: what a cascade reaches may cascade further.
    while next < going.count {
      let model = going[next]
      next += 1
      if readsRows { DeleteRules(graph).forgetLists(of: model) }
      for target in cascade(from: model) where known.insert(ObjectIdentifier(target)).inserted {
        going.append(target)
      }
    }
    for model in going { try checkDenial(model, going: known) }
  }

  /// What the deletion of an object takes with it by all of its relationships.
  private func cascade(from model: any PersistentModel) -> [any PersistentModel] {
    guard graph.isHere(model) else { return [] }
    let entity = graph.entity(of: model)
    return entity.relationships.map { entity.properties[$0] }.filter {
      $0.relationship?.deleteRule == .cascade
    }.flatMap { property in
      DeleteRules(graph).cascade(from: model, property)
        + (DeleteRules(graph).newPartner(of: model, property).map { [$0.model] } ?? [])
    }
  }

  /// Refuses destinations that belong to another context, or to none, and links to rows whose numbers are below 1.
  private func checkDestinations(of model: any PersistentModel) throws {
    let entity = graph.entity(of: model)
    let isNew = model.has(_ModelFlags.inserted)
    for index in entity.relationships
    where isNew || model._$statePointer.pointee.changes.contains(index) {
      let property = entity.properties[index]
      switch model.content(at: index) {
      case .toOne(.model(let target)):
        try checkHome(of: target, model, property)
        try checkNumber(of: target, entity, property)
      case .toMany(let targets):
        // The other members are stored, and were checked as they were added.
        for object in targets.delta?.additions ?? [] {
          guard let target = object as? any PersistentModel else { continue }
          try checkHome(of: target, model, property)
          // A pair has both numbers. Without pairs the list is in its members' references to the owner.
          guard property.joinTable != nil else { continue }
          for end in [target, model] { try checkNumber(of: end, entity, property) }
        }
      default: continue
      }
    }
  }

  /// Refuses one destination, unless it is in this context or has left one (`missing`).
  private func checkHome(
    of target: any PersistentModel, _ owner: any PersistentModel, _ property: PropertyLayout
  ) throws {
    if graph.isHere(target) || target.has(_ModelFlags.missing) { return }
    throw Misuses.link(property.name, of: owner, to: target, graph.layout)
  }

  /// Refuses a link that would have the number of a row below 1: as those of new objects, it would not be stored, and
  /// the save would lose the link.
  private func checkNumber(
    of end: any PersistentModel, _ entity: EntityLayout, _ property: PropertyLayout
  ) throws {
    guard graph.isHere(end), !end.has(_ModelFlags.deleted), hasUnusableNumber(end) else { return }
    throw unusableNumber(of: end, "cannot be linked by \(entity.name).\(property.name)")
  }

  /// Whether another program has given an object's row a number as new objects have them.
  private func hasUnusableNumber(_ model: any PersistentModel) -> Bool {
    // A duplicate that became another object keeps its number in memory.
    model._$statePointer.pointee.rowID <= 0
      && !model.has(_ModelFlags.inserted | _ModelFlags.redirected)
  }

  private func unusableNumber(
    of model: any PersistentModel, _ problem: String
  ) -> SwiftDataError {
    let (name, row) = (graph.entity(of: model).name, model._$statePointer.pointee.rowID)
    return SwiftDataError(
      .modelValidationFailure,
      "The \(name) of row \(row) \(problem): another program has given the row a number below 1. Give it a positive number "
        + "in _id that no row has, and write that to the columns and pairs that refer to the row; ModelContainer.check() "
        + "names all such rows.")
  }

  /// Throws if a required relationship has no destination, or a list too few or too many.
  private func check(_ model: any PersistentModel) throws {
    let entity = graph.entity(of: model)
    for index in entity.relationships {
      let property = entity.properties[index]
      guard let relationship = property.relationship else { continue }
      if !property.isToMany, !property.isOptional, !hasTarget(model, index) {
        throw SwiftDataError(
          .modelValidationFailure,
          "\(entity.name).\(property.name) is required but has no \(target(property)), in the \(title(of: model)). Set "
            + "it, make the property optional, or delete the object together with its destination.")
      }
      // What cannot be read counts, too; the rows are counted once they are written.
      guard relationship.minimum > 0 || relationship.maximum > 0, property.isToMany,
        !graph.reader.incompleteLists.contains(model, entity, property)
      else { continue }
      let count = graph.reader.targets(of: model, at: index).count { !$0.has(_ModelFlags.deleted) }
      let row = model._$statePointer.pointee.rowID
      if let error = property.refusal(of: count, in: entity, row: row > 0 ? row : nil) {
        throw error
      }
    }
  }

  /// The name of the class that a relationship leads to, for a message.
  private func target(_ property: PropertyLayout) -> String {
    property.destination.map { graph.layout.entities[$0].name } ?? "object"
  }

  /// Whether a to-one property leads to an object that stays.
  private func hasTarget(_ model: any PersistentModel, _ index: Int) -> Bool {
    switch model.content(at: index) {
    case .toOne(.none): false
    case .toOne(.model(let target)):
      graph.isHere(target) && !target.has(_ModelFlags.deleted)
    case .toOne(.row(let row)): isStored(row, graph.entity(of: model).properties[index])
    default: true
    }
  }

  /// Whether the row that a reference leads to stays.
  ///
  /// One without an object here can have been deleted by another context, or by another program, which need not ask what
  /// refers to it.
  private func isStored(_ row: Int64, _ property: PropertyLayout) -> Bool {
    guard let entity = property.destination.map({ graph.layout.entities[$0] }) else { return true }
    if let model = graph.registered(entity, row: row) {
      if model.has(_ModelFlags.stale) { graph.reader.reload(model) }
      return graph.isHere(model) && !model.has(_ModelFlags.deleted)
    }
    let plan = graph.entities[entity.index].lazyPlan.plan
    let found = try? graph.reader.lookUp(in: graph.entities[entity.index].storeIndex) {
      connection in
      try connection.hasRow(row, in: plan)
    }
    // An error of the look-up does not prove that the row is gone.
    return found ?? true
  }

  /// Throws if an object that is deleted still has destinations that stay, in a relationship with the rule `deny`.
  private func checkDenial(
    _ model: any PersistentModel, going: Set<ObjectIdentifier>
  ) throws {
    let entity = graph.entity(of: model)
    for index in entity.relationships {
      let property = entity.properties[index]
      guard property.relationship?.deleteRule == .deny else { continue }
      try graph.reader.requireTargets(of: model, property)
      let partner = DeleteRules(graph).newPartner(of: model, property).map { [$0.model] } ?? []
      let rest = (graph.reader.targets(of: model, at: index) + partner).filter {
        !$0.has(_ModelFlags.deleted) && !going.contains(ObjectIdentifier($0))
      }
      guard let first = rest.first else { continue }
      let holds = rest.count == 1 ? "1 object, the" : "\(rest.count) objects, first the"
      throw SwiftDataError(
        .deletionDenied,
        "The \(title(of: model)) cannot be deleted while its \(property.name) holds \(holds) \(title(of: first)). Delete "
          + "or move \(rest.count == 1 ? "it" : "them") first.")
    }
  }

  /// An object in the words of a message: by its class, and by its row if it has one.
  private func title(of model: any PersistentModel) -> String {
    let row = model._$statePointer.pointee.rowID
    let name = graph.entity(of: model).name
    return row > 0 ? "\(name) of \(EntityReference.title(of: row))" : "new \(name)"
  }
}
