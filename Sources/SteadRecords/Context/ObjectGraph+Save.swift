import Foundation

extension ObjectGraph {
  /// Writes all pending changes in one transaction per store; on an error they stay pending.
  ///
  /// - Parameter note: More work for the same transaction, which then is durable.
  func save(noting note: ((RecordStore, Connection, SaveWriter) throws -> Void)? = nil) throws {
    guard !isSaving else { return }
    isSaving = true
    defer { isSaving = false }
    // Other processes' commits are asked for in the transaction, where that costs least.
    receiveRemoteChanges(asksStores: false)
    digestDeletions()
    guard hasChanges || !pairs.isEmpty || !reordered.isEmpty else { return forgetPending() }
    post(ModelContext.willSave, nil)
    digestDeletions()
    var writer = SaveWriter(graph: self)
    do {
      try SaveValidator(graph: self).run()
      for store in writer.stores {
        try store.write(isDurable: note != nil) {
          try writer.write(to: store, $0)
          try note?(store, $0, writer)
        }
      }
    } catch {
      writer.revert()
      throw error
    }
    // Its addresses of states are good only while its arrays keep the objects.
    withExtendedLifetime(writer) { finish(writer) }
    receiveRemoteChanges(asksStores: false)
  }

  private func finish(_ writer: SaveWriter) {
    let summary = writer.summary()
    for (model, state) in zip(writer.inserted, writer.states.inserted) {
      state.pointee.clear(_ModelFlags.pending)
      state.pointee.changes = 0
      state.pointee.object = Unmanaged.passUnretained(model)
    }
    for model in changed where model.has(_ModelFlags.changed) {
      let state = model._$statePointer
      state.pointee.clear(_ModelFlags.changed)
      state.pointee.changes = 0
    }
    forgetPending()
    for place in registry.registerNew(writer.states.inserted, traits) {
      let model = writer.inserted[place]
      let (entity, row) = (entity(of: model), model._$statePointer.pointee.rowID)
      if let winner = registered(entity, row: row) {
        if winner !== model { redirect(model, to: winner) }
      } else {
        register(model, entity: entity, row: row)
      }
    }
    dropOneWayReferences(to: writer.deleted)
    for model in writer.deleted { release(model) }
    for model in writer.vanished { release(model) }
    writer.removeUnusedFiles()
    for store in writer.stores where container.exchange.hasReceiver(of: store, beside: inbox) {
      container.exchange.post(summary.changes(in: store), from: inbox)
    }
    post(ModelContext.didSave, summary)
    if !followers.isEmpty { contextDidChange(summary.tables) }
  }

  /// Takes deleted objects out of loaded relationships that have no inverse to do it.
  private func dropOneWayReferences(to deleted: [any PersistentModel]) {
    guard layout.oneWay.contains(where: { !$0.isEmpty }) else { return }
    let roots = Set(deleted.map { entity(of: $0).rootIndex })
    let places = roots.flatMap { layout.oneWay[$0] }
    guard !places.isEmpty else { return }
    let gone = Set(deleted.map { ObjectIdentifier($0) })
    for case let owner as any PersistentModel in registry.all() {
      let index = entity(of: owner).index
      for place in places where place.entity == index {
        switch owner.content(at: place.property) {
        case .toOne(.model(let target)) where gone.contains(ObjectIdentifier(target)):
          notifying(owner, place.property) { owner.setContent(.toOne(.none), at: place.property) }
        case .toMany(var targets):
          let left = targets.loaded?.filter { !gone.contains(ObjectIdentifier($0)) }
          guard left?.count != targets.loaded?.count else { continue }
          targets.loaded = left
          notifying(owner, place.property) {
            owner.setContent(.toMany(targets), at: place.property)
          }
        default: break
        }
      }
    }
  }

  /// After an upsert two objects stand for one row: the one that was there first goes on, takes the
  /// new values, and the new one forwards to it.
  private func redirect(_ loser: any PersistentModel, to winner: any PersistentModel) {
    let entity = entity(of: winner)
    for index in entity.relationships {
      let property = entity.properties[index]
      if let inverse = property.relationship?.inverse {
        for target in targets(of: loser, property) { dropCache(of: target, at: inverse) }
      }
      if property.isToMany { winner.setContent(.toMany(_Targets()), at: index) }
    }
    notifying(winner, changes: .max) {
      winner._$statePointer.pointee.set(_ModelFlags.stale)
      reload(winner)
    }
    let state = loser._$statePointer
    state.pointee.makeExtra().successor = winner
    state.pointee.rowID = winner._$statePointer.pointee.rowID
    state.pointee.object = nil
    state.pointee.set(_ModelFlags.redirected)
  }
}

/// Checks what the store cannot: that relationships have as many destinations as they must.
struct SaveValidator {
  let graph: ObjectGraph

  func run() throws {
    guard graph.traits.contains(where: \.hasRules) else { return }
    for model in graph.inserted where model.has(_ModelFlags.inserted) { try check(model) }
    for model in graph.changed where model.has(_ModelFlags.changed) { try check(model) }
    for model in graph.deleted where model.has(_ModelFlags.deleted) { try checkDenial(model) }
  }

  private func check(_ model: any PersistentModel) throws {
    guard !model.has(_ModelFlags.deleted) else { return }
    let entity = graph.entity(of: model)
    for index in entity.relationships {
      let property = entity.properties[index]
      guard let relationship = property.relationship else { continue }
      if !property.isToMany, !property.isOptional, !hasTarget(model, index) {
        throw SwiftDataError(
          .modelValidationFailure,
          "\(entity.name).\(property.name) is required but has no \(target(property)). Set it, "
            + "make the property optional, or delete the object together with its destination.")
      }
      guard relationship.minimum > 0 || relationship.maximum > 0, property.isToMany else {
        continue
      }
      let count = graph.targets(of: model, property).count { !$0.has(_ModelFlags.deleted) }
      let maximum = relationship.maximum > 0 ? relationship.maximum : .max
      guard count >= relationship.minimum, count <= maximum else {
        let limit = maximum == .max ? "or more" : "to \(maximum)"
        throw SwiftDataError(
          .modelValidationFailure,
          "\(entity.name).\(property.name) has \(count) objects; the model allows "
            + "\(relationship.minimum) \(limit).")
      }
    }
  }

  private func target(_ property: PropertyLayout) -> String {
    property.destination.map { graph.layout.entities[$0].name } ?? "object"
  }

  private func hasTarget(_ model: any PersistentModel, _ index: Int) -> Bool {
    switch model.content(at: index) {
    case .toOne(.none): false
    case .toOne(.model(let target)):
      target._$statePointer.pointee.graph != nil && !target.has(_ModelFlags.deleted)
    default: true
    }
  }

  private func checkDenial(_ model: any PersistentModel) throws {
    let entity = graph.entity(of: model)
    for index in entity.relationships {
      let property = entity.properties[index]
      guard property.relationship?.deleteRule == .deny else { continue }
      let rest = graph.targets(of: model, property).count { !$0.has(_ModelFlags.deleted) }
      if rest > 0 {
        throw SwiftDataError(
          .deletionDenied,
          "A \(entity.name) cannot be deleted while \(property.name) holds \(rest) objects. Delete "
            + "or move them first.")
      }
    }
  }
}
