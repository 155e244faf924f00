extension SaveRun {
  /// Makes the context's state that of the committed rows.
  ///
  /// Invariant: afterwards nothing is pending, each written object is registered under its row and clean, and each
  /// deleted one has left. Cannot fail, since the rows are committed.
  ///
  /// Objects are cleaned before they are registered, and registered before references to deleted ones are dropped,
  /// which looks at registered objects. Rows are read again last, when nothing is pending that the read would have to
  /// keep.
  ///
  /// - Returns: What was saved, if an observer may ask for it.
  func finish(_ result: SaveResult) -> SaveSummary? {
    // The plan's arrays keep the objects alive in which its states lie.
    let summary = withExtendedLifetime(result) { makeCurrent(result) }
    // Now, since it takes the lock of each store again.
    for store in opened { graph.stores[store].trimIfDue() }
    return summary
  }

  /// Does what ``finish(_:)`` describes; the caller keeps the plan's objects alive.
  ///
  /// Invariant: no step reads a row before all objects are registered, which would make a second object of it.
  private func makeCurrent(_ result: SaveResult) -> SaveSummary? {
    let plan = result.plan
    // Asked for while the objects are still the context's.
    var summary = SaveNotification.didSave.mayHaveObservers ? result.summary : nil
    for index in result.stores where summary != nil && graph.stores[index].keepsHistory {
      let name = graph.stores[index].identity.identifier
      summary?.historyTokens[name] = DefaultHistoryToken(
        store: name, number: graph.commits.inbox.number(of: index))
    }
    // This save has read the rows for links that other contexts have committed. There are no further ones until their
    // next commit.
    let hadNews = graph.commits.hasNews
    graph.commits.hasNews = false
    graph.saver.autosaveFailed = false
    if !graph.commits.followers.isEmpty {
      for root in result.roots { graph.commits.followers.note(graph.layout.entities[root].table) }
    }
    // While it is known what was changed.
    for model in result.vanished { graph.reader.reportLostChanges(of: model) }
    clean(plan.states.inserted, plan.inserted)
    for (model, state) in zip(plan.inserted, plan.states.inserted) {
      // Before `register`: for an entry, the registry returns the object that its state points to.
      state.pointee.object = Unmanaged.passUnretained(model)
    }
    clean(plan.states.updated, plan.updated)
    let deleted = graph.pending.models(.deleted)
    let overwritten = register(result)
    // After `register`, which may have made an original forward to the object that its row had.
    graph.merger.endMerging()
    graph.editor.dropReferences(to: deleted)
    var leaves: [SavePlan.State] = []
    for model in deleted {
      let state = model._$statePointer
      if !graph.entities[Int(state.pointee.entity)].layout.hasRelationships,
        state.pointee.extra?.isObserved != true
      {
        // Nothing to clear and nobody to notify: all of these leave under one lock.
        leaves.append(state)
        continue
      }
      graph.notifying(model, nil) { graph.reader.clearRelationships(of: model) }
      graph.pending.remove(model)
      graph.loader.release(model)
    }
    graph.loader.release(leaves)
    // Their rows were gone when the save came to update them.
    for model in result.vanished { graph.reader.depart(model) }
    graph.pending.removeAll()
    graph.editor.cutSides = []
    graph.undo.endSave()
    // Owners are not pending any more, so their members may be freed.
    graph.editor.membership = nil
    graph.editor.unchanged = Unchanged()
    if hadNews { forgetMergedLists(plan.sides) }
    renew(result.otherRows, and: overwritten)
    // The commit is made: no rollback can bring back a row that refers to one of them.
    result.removeUnusedFiles()
    graph.releaseContext()
    return summary
  }

  /// Has lists of pairs be read again that another context may have changed, too. In the store the members of both follow
  /// each other in the order in which they came there; here the own ones have the places that they had before.
  private func forgetMergedLists(_ sides: [SavePlan.Side]) {
    for side in sides where side.property.joinTable != nil && graph.isHere(side.owner) {
      let index = side.property.index
      guard case .toMany(let targets) = side.owner.content(at: index), targets.loaded != nil else {
        continue
      }
      graph.notifying(side.owner, index) { side.owner.setContent(.toMany(_Targets()), at: index) }
    }
  }

  /// Reads objects again whose rows the save changed although nothing changed them here: partners that another
  /// context had given to an object of this save, and objects that new ones of the same unique values have overwritten.
  private func renew(_ rows: [Int: Set<Int64>], and overwritten: [any PersistentModel]) {
    var models = overwritten
    for (root, rows) in rows {
      models += graph.loader.registry.markStale(root: root, rows: rows).compactMap {
        graph.registered(graph.layout.entities[root], row: $0)
      }
    }
    if !models.isEmpty { graph.commits.readAgain(models) }
  }

  /// Makes saved objects clean. Those without relationships by their states alone, so that no object is retained.
  private func clean(_ states: [SavePlan.State], _ models: [any PersistentModel]) {
    // Once, and not for each object.
    let (graph, entities) = (graph, graph.entities)
    for (place, state) in states.enumerated() {
      if entities[Int(state.pointee.entity)].layout.hasRelationships {
        graph.settle(models[place])
      } else {
        graph.pending.remove(state)
      }
    }
  }

  /// Registers the new objects. One whose row has an object already, after an upsert, forwards to that object from
  /// now on.
  ///
  /// Invariant: afterwards each row has one registered object, and no loaded relationship has another one for it:
  /// after an upsert, loaded relationships are dropped, since any may have the new object.
  ///
  /// - Returns: The objects whose values are not those of their rows.
  private func register(_ result: SaveResult) -> [any PersistentModel] {
    var overwritten: [any PersistentModel] = []
    let plan = result.plan
    let conflicts = graph.loader.registry.registerNew(plan.states.inserted) {
      graph.entities[Int($0.pointee.entity)].layout.rootIndex
    }
    for place in conflicts {
      let model = plan.inserted[place]
      let (entity, row) = (graph.entity(of: model), model._$statePointer.pointee.rowID)
      // nil if the object of the row is going away: then the entry is taken over.
      if let winner = graph.registered(entity, row: row) {
        if winner !== model {
          redirect(model, to: winner)
          overwritten.append(winner)
        }
      } else {
        graph.loader.register(model, entity: entity, row: row)
      }
    }
    guard !result.upserted.isEmpty else { return overwritten }
    // Objects that referred to one of several objects for a row refer to the one that stays.
    for case let model as any PersistentModel in graph.loader.registry.all() {
      for index in graph.entity(of: model).relationships {
        if case .toMany(let targets) = model.content(at: index), targets.loaded != nil {
          graph.notifying(model, index) { model.setContent(.toMany(_Targets()), at: index) }
        } else {
          graph.dropCache(of: model, at: index)
        }
      }
      if result.upserted.contains(ObjectIdentifier(model)) {
        model._$statePointer.pointee.set(_ModelFlags.stale)
        overwritten.append(model)
      }
    }
    return overwritten
  }

  /// After an upsert two objects stand for one row: the one that existed first stays and takes the new values, and the
  /// new one forwards to it.
  private func redirect(_ loser: any PersistentModel, to winner: any PersistentModel) {
    graph.notifying(winner, nil) { winner._$statePointer.pointee.set(_ModelFlags.stale) }
    let state = loser._$statePointer
    state.pointee.makeExtra().successor = winner
    // Its identifier is that of the row from now on.
    state.pointee.rowID = winner._$statePointer.pointee.rowID
    // Its `deinit` then leaves the registry alone, whose entry is the winner's.
    state.pointee.object = nil
    state.pointee.set(_ModelFlags.redirected)
    graph.merger.hasStandIns = true
  }
}
