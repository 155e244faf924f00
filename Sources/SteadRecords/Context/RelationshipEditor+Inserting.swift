extension RelationshipEditor {
  /// Inserts an object and all that its relationships reach.
  ///
  /// Invariant: afterwards every object that the relationships reach is in a context, or is one that each save
  /// refuses, and their other sides are set.
  ///
  /// - Parameter isLinked: Whether a relationship leads to it. If it cannot be inserted, each save names the
  ///   relationship until it leads elsewhere; else the next save names the object.
  func insert(_ model: any PersistentModel, isLinked: Bool = false) {
    if model.has(_ModelFlags.redirected) { return insert(model.standIn, isLinked: isLinked) }
    // Held once: each use of an unowned reference would retain it.
    let graph = graph
    let isStep = graph.undo.beginStep()
    defer { if isStep { graph.undo.endStep() } }
    // Iterative, not recursive: a chain of objects may be longer than the stack is deep. The first goes in directly: an
    // empty array needs no memory.
    var queue: [any PersistentModel] = []
    if let entity = takeIn(model, isLinked: isLinked) { connect(model, entity, &queue) }
    // By an index: taking elements off the front of an array would move the rest each time.
    var next = 0
    while next < queue.count {
      connect(queue[next], graph.entity(of: queue[next]), &queue)
      next += 1
    }
    graph.didChangePending()
  }

  /// Inserts an object that came to refer to one in this context.
  func adopt(_ model: any PersistentModel, becauseOf index: Int, _ old: _SlotContent) {
    guard graph.layout.entity(for: type(of: model)) != nil else {
      graph.pending.misuses.append(.init(error: Misuses.insertion(ofUnknown: model, graph.layout)))
      return
    }
    let isStep = graph.undo.beginStep()
    defer { if isStep { graph.undo.endStep() } }
    insert(model)
    // Recorded after the insertion, and so undone before it: the side is restored while the object is still here.
    graph.undo.recordSide(of: model, at: index, old)
  }

  /// Inserts one object; nil if it is in a context, or cannot be in this one.
  ///
  /// Links that initializers gave are made first, since their other sides are part of what is inserted.
  private func takeIn(_ model: any PersistentModel, isLinked: Bool) -> EntityLayout? {
    model.makeFirstLinks()
    let graph = graph
    let state = model._$statePointer
    if let home = state.pointee.home {
      if home !== graph {
        graph.pending.misuses.append(.init(error: Misuses.insertion(ofForeign: model)))
      } else if state.pointee.has(_ModelFlags.deleted) {
        undelete(model)
      }
      return nil
    }
    guard let entity = graph.entity(for: type(of: model)) else {
      if !isLinked {
        graph.pending.misuses.append(
          .init(error: Misuses.insertion(ofUnknown: model, graph.layout)))
      }
      return nil
    }
    state.pointee.entity = Int32(entity.index)
    state.pointee.home = graph
    // A negative number, which no row has. An object that left before it was saved keeps the one it had, by which the
    // program may know it.
    if state.pointee.rowID >= 0 {
      state.pointee.rowID = TemporaryRowID.next()
    } else {
      // Undo of this deletes it, and cuts what is restored afterwards, as where a deletion is taken back.
      graph.undo.endStepSides()
    }
    state.pointee.clear(_ModelFlags.missing)
    graph.undo.forgetAbsent(model)
    if !graph.loader.observesModels { state.pointee.clear(_ModelFlags.observed) }
    if entity.tracesReads { state.pointee.set(_ModelFlags.traced) }
    graph.pending.add(model, to: .inserted, root: entity.rootIndex, at: graph.commits.clock.next())
    // After the object is here and before its links: undo takes the links back first.
    graph.undo.recordInsertion(of: model)
    return entity
  }

  /// Cancels a deletion; relationships that it cut stay cut.
  private func undelete(_ model: any PersistentModel) {
    if graph.undo.isRecording {
      let wasUnsaved = model.has(_ModelFlags.inserted)
      graph.undo.endStepSides()
      graph.undo.record { $0.editor.deleteAgain(model, wasUnsaved: wasUnsaved) }
    }
    graph.pending.remove(model, from: .deleted)
    graph.pending.note(graph.entity(of: model).rootIndex)
  }

  /// Undoes the end of a deletion; links made during the deletion stay.
  ///
  /// - Parameter wasUnsaved: Whether the object had no row then, and was deleted only until the next save because a rule
  ///   denied it.
  private func deleteAgain(_ model: any PersistentModel, wasUnsaved: Bool) {
    guard graph.isHere(model), !model.has(_ModelFlags.deleted) else { return }
    // The deletion was saved later, and undone: the object has no row to delete.
    if model.has(_ModelFlags.inserted), !wasUnsaved { return DeleteRules(graph).delete(model) }
    // A save may end the deletion in the meantime.
    graph.undo.record { $0.editor.insert(model) }
    graph.pending.add(
      model, to: .deleted,
      root: graph.entities[Int(model._$statePointer.pointee.entity)].layout.rootIndex,
      at: graph.commits.clock.next())
    graph.didChangePending()
  }

  /// Connects what a new object refers to: inserts it, and sets its sides of the relationships.
  ///
  /// Objects that are inserted on the way go to the queue, and are connected later.
  private func connect(
    _ model: any PersistentModel, _ entity: EntityLayout, _ queue: inout [any PersistentModel]
  ) {
    let graph = graph
    for index in entity.relationships {
      if graph.merger.hasStandIns, !entity.properties[index].isForeign {
        leadToStandIns(model, index)
      }
      switch model.content(at: index) {
      case .attribute, .toOne(.none), .toOne(.row): break
      case .toOne(.model(let other)): connect(model, entity, index, to: other, &queue)
      case .toMany(let targets):
        connect(model, entity, index, toAll: targets.loaded ?? [], &queue)
      }
    }
  }

  /// Inserts the destination of a new object's to-one property, and sets the destination's side.
  ///
  /// If the inverse is to-one, the destination's former partner loses it, unless that is the new object itself.
  private func connect(
    _ model: any PersistentModel, _ entity: EntityLayout, _ index: Int,
    to other: any PersistentModel, _ queue: inout [any PersistentModel]
  ) {
    if refusesForeignTarget(other, of: model, index, keeping: .none) { return }
    if other._$statePointer.pointee.home == nil, takeIn(other, isLinked: true) != nil {
      queue.append(other)
    }
    // An object of another context stays as it is: the save refuses the link (`SaveValidator.checkHomes`).
    guard graph.isHere(other),
      let inverse = graph.inverse(of: entity.properties[index], list: model.list(at: index))
    else { return }
    let partner = inverse.isToMany ? nil : side(leadingTo: other, at: inverse.index)
    // Both sides agree already, as when the other side was set first.
    if partner?.isProperty(index, of: model) == true { return }
    apply(
      Inverses.ofReference(
        model, index, old: nil, new: Inverses.Side(model: other, inverse: inverse),
        partner: partner))
  }

  /// Inserts the members of a new object's list, and sets their sides. The whole list is recorded as added, since the
  /// row is new.
  private func connect(
    _ model: any PersistentModel, _ entity: EntityLayout, _ index: Int, toAll list: [AnyObject],
    _ queue: inout [any PersistentModel]
  ) {
    guard !list.isEmpty else { return }
    let property = entity.properties[index]
    if property.isForeign { return refuseForeignMembers(of: model, index) }
    // A row can be a member once.
    let unique = Self.withoutDuplicates(list)
    changeSide(of: model, at: index) { targets, delta in
      if unique.count != list.count { targets.loaded = unique }
      // The save takes what changed from the delta; the loaded array is a cache.
      for object in unique { delta.add(object) }
      // Pairs are made from the side that is visited first, which is not always this one.
      if property.joinTable != nil, unique.count > 1 { delta.setOrder(unique) }
    }
    let inverse = graph.inverse(of: property)
    for case let other as any PersistentModel in unique {
      if other._$statePointer.pointee.home == nil, takeIn(other, isLinked: true) != nil {
        queue.append(other)
      }
      guard graph.isHere(other) else { continue }
      logPair(property, entity, model, other, isAdded: true)
      if let inverse { attach(other, to: model, index, inverse) }
    }
  }
}
