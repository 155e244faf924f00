/// Deletes objects by the delete rules of their relationships.
struct DeleteRules {
  let graph: ObjectGraph

  init(_ graph: ObjectGraph) { self.graph = graph }

  /// An object that a deletion comes to, and its reference that a rule has cleared on the way.
  private struct Reached {
    let model: any PersistentModel
    var cleared: Int?
    /// Whether its rules were applied before.
    var isAgain = false
  }

  /// Deletes an object by its relationships' delete rules, which are applied before this returns.
  ///
  /// Invariant: afterwards the rules hold for everything that the deletion reaches, and both sides of each
  /// relationship agree. An object with a row stays in the context, marked as deleted, until the save deletes the
  /// row. One without a row leaves at once, unless a `deny` rule concerns it: then it stays for the save to refuse.
  ///
  /// Reads objects and lists that are not loaded, as far as a rule needs them.
  ///
  /// - Parameter isByRule: Whether a rule has come to the object; nil if that is as it was before.
  func delete(_ model: any PersistentModel, isByRule: Bool? = false) {
    if model.has(_ModelFlags.redirected) { return delete(model.standIn, isByRule: isByRule) }
    if let home = model._$statePointer.pointee.home, home !== graph {
      graph.pending.misuses.append(.init(error: Misuses.deletion(ofForeign: model)))
      return
    }
    switch isByRule {
    case true? where !model.has(_ModelFlags.deleted):
      model._$statePointer.pointee.set(_ModelFlags.cascaded)
    case false?: model._$statePointer.pointee.clear(_ModelFlags.cascaded)
    default: break
    }
    let isStep = graph.undo.beginStep()
    defer { if isStep { graph.undo.endStep() } }
    // A queue instead of recursion: a chain of cascades may be longer than the stack is deep.
    // What a redo has cleared before is no change of the program's.
    var queue = [Reached(model: model, isAgain: isByRule == nil)]
    var (stored, unsaved): ([any PersistentModel], [any PersistentModel]) = ([], [])
    while let reached = queue.popLast() {
      let next = reached.model
      guard graph.isHere(next), !next.has(_ModelFlags.deleted) else { continue }
      // Rules apply to what the row leads to now, and it may be gone.
      if next.has(_ModelFlags.fault | _ModelFlags.stale) {
        graph.reader.reload(next)
        guard graph.isHere(next) else { continue }
      }
      let index = Int(next._$statePointer.pointee.entity)
      if next !== model { next._$statePointer.pointee.set(_ModelFlags.cascaded) }
      // Marked before its rules are applied, so that a cycle of cascades comes to an end.
      graph.pending.add(
        next, to: .deleted, root: graph.entities[index].layout.rootIndex,
        at: graph.commits.clock.next())
      if graph.entities[index].layout.hasRelationships {
        recordWhatNoRuleCuts(next)
        applyRules(to: reached, &queue)
      }
      if next.has(_ModelFlags.inserted) { unsaved.append(next) } else { stored.append(next) }
    }
    // Undone first, so that what the rules cut is restored between objects that are all here.
    for model in stored { graph.undo.recordDeletion(of: model) }
    // An object that was never saved needs no row deleted, unless a save must refuse to delete it. Asked now, when all
    // that the deletion takes with it is marked.
    for model in unsaved {
      if !isDenied(model) {
        cutWhatNoRuleCuts(model)
        graph.leave(model)
        let root = graph.entities[Int(model._$statePointer.pointee.entity)].layout.rootIndex
        if !graph.layout.oneWay[root].isEmpty { cutOneWayReferences(toDeleted: false) }
      }
      graph.undo.recordDeletion(of: model)
    }
    graph.didChangePending()
  }

  /// Records for undo, on both sides, the relationships that the rules `deny` and `noAction` leave as they are: the
  /// save clears them as the object leaves.
  private func recordWhatNoRuleCuts(_ model: any PersistentModel) {
    guard graph.undo.isRecording else { return }
    for property in graph.entity(of: model).properties {
      guard let rule = property.relationship?.deleteRule, rule == .deny || rule == .noAction else {
        continue
      }
      graph.undo.recordCut(of: model, at: property.index, from: nil)
      guard let inverse = graph.inverse(of: property) else { continue }
      for target in graph.reader.targets(of: model, at: property.index) {
        graph.undo.recordCut(of: target, at: inverse.index, from: model)
      }
    }
  }

  /// Clears the sides that the rules `deny` and `noAction` leave, for an object without a row: nothing could refer to
  /// it in the store.
  private func cutWhatNoRuleCuts(_ model: any PersistentModel) {
    for property in graph.entity(of: model).properties {
      guard let rule = property.relationship?.deleteRule else { continue }
      // A destination that is deleted, too, does not deny the deletion, and still leads back.
      if rule == .noAction || rule == .deny { cut(model, property) }
    }
  }

  /// Whether a `deny` rule forbids the deletion while its destinations are not deleted, too.
  private func isDenied(_ model: any PersistentModel) -> Bool {
    let entity = graph.entity(of: model)
    return entity.relationships.contains { index in
      entity.properties[index].relationship?.deleteRule == .deny
        && graph.reader.targets(of: model, at: index).contains { !$0.has(_ModelFlags.deleted) }
    }
  }

  /// Applies an object's rules to its relationships, and puts what a cascade deletes into the queue.
  ///
  /// A cascade is collected before the relationship is cleared, which then no longer has its objects.
  private func applyRules(to reached: Reached, _ queue: inout [Reached]) {
    let model = reached.model
    let entity = graph.entity(of: model)
    for index in entity.relationships {
      let property = entity.properties[index]
      guard let rule = property.relationship?.deleteRule else { continue }
      if !reached.isAgain, model.has(_ModelFlags.cascaded), index != reached.cleared,
        case .toOne(.none) = model.content(at: index),
        model._$statePointer.pointee.changes.contains(index)
      {
        graph.pending.ruleEffects.addCleared(of: model, index)
      }
      switch rule {
      case .deny, .noAction: continue
      case .cascade:
        let targets = cascade(from: model, property)
        let inverse = graph.inverse(of: property)?.index
        queue += targets.map { Reached(model: $0, cleared: inverse) }
        noteEffects(of: reached, property, on: targets, isCascade: true)
        cut(model, property)
      case .nullify: nullify(reached, property)
      }
    }
  }

  private func nullify(_ reached: Reached, _ property: PropertyLayout) {
    let (model, index) = (reached.model, property.index)
    // A reference from a row is read there again. Others concern the objects that it leads to.
    if property.isToMany || property.isOneToOne
      || model._$statePointer.pointee.changes.contains(index)
    {
      noteEffects(
        of: reached, property, on: graph.reader.targets(of: model, at: index), isCascade: false)
    }
    cut(model, property)
  }

  /// Notes what a rule is about to do, which is taken back where others lead an object elsewhere before the save.
  private func noteEffects(
    of reached: Reached, _ property: PropertyLayout, on targets: [any PersistentModel],
    isCascade: Bool
  ) {
    let (model, index) = (reached.model, property.index)
    let inverse = graph.inverse(of: property).flatMap { $0.isToMany ? nil : $0.index }
    var delta: ToManyDelta?
    if case .toMany(let held) = model.content(at: index), held.delta?.isEmpty == false {
      delta = held.delta
    }
    // A pair of a deleted object goes with it, wherever else its other object is led.
    let links = !isCascade && property.isToMany && inverse == nil ? [] : targets
    // Without a to-one inverse, the delta says what the program has changed.
    let kept = inverse == nil && !reached.isAgain ? delta : nil
    if links.isEmpty, kept == nil { return }
    let isNew = model._$statePointer.pointee.rowID <= 0
    graph.pending.ruleEffects.add(
      links.map { target in
        let state = target._$statePointer
        let isOwn =
          if let inverse { state.pointee.changes.contains(inverse) } else if property.isToMany {
            delta?.hasAddedNew(target) == true
          } else {
            model._$statePointer.pointee.changes.contains(index)
          }
        return RuleEffects.Link(
          property: index, target: target, isCascade: isCascade,
          isOwn: isOwn || isNew || state.pointee.rowID <= 0,
          list: inverse.flatMap { property.isToMany ? target.list(at: $0) : nil })
      }, kept?.copy(), of: model, index)
  }

  /// What a deletion takes with it by one relationship.
  ///
  /// Loads the destinations.
  func cascade(
    from model: any PersistentModel, _ property: PropertyLayout
  ) -> [any PersistentModel] {
    let targets = graph.reader.targets(of: model, at: property.index)
    guard !property.isToMany, let inverse = graph.inverse(of: property), !inverse.isToMany else {
      return targets
    }
    // Other contexts may have led this side to an object that belongs to another owner here, or to this one by another
    // relationship with the same inverse.
    return targets.filter { graph.reader.refers($0, inverse.index, to: model, inverse.list) }
  }

  /// Removes an object from one of its relationships, on both sides.
  ///
  /// A to-one destination that is not loaded is only loaded if its own row may have to change, or if it may be gone.
  func cut(_ model: any PersistentModel, _ property: PropertyLayout) {
    let index = property.index
    if property.isToMany {
      let before = graph.reader.members(of: model, at: index)
      guard !before.isEmpty else { return }
      graph.notifying(model, index) { model.updateTargets(at: index) { $0.loaded = [] } }
      graph.editor.didReplaceMembers(of: model, at: index, before, with: [])
      graph.markChanged(model, at: index)
      return
    }
    guard case .toOne(var target) = model.content(at: index) else { return }
    if case .none = target { return }
    let mayBeLeft = property.mayBeLeft(in: graph.layout.entities)
    if case .row = target,
      mayBeLeft || graph.reader.concerns(property.relationship?.deleteRule, property)
    {
      if let found = graph.reader.destination(of: model, at: index) {
        target = .model(found)
      } else if mayBeLeft || graph.reader.isUnreadable(target, property) {
        // What a deletion has left leads nowhere, and this context does not take it away. What cannot be read is there,
        // and the save must find it.
        return
      }
    }
    graph.notifying(model, index) { model.setContent(.toOne(.none), at: index) }
    graph.editor.didSetToOne(model, index, target, nil)
    graph.markChanged(model, at: index)
  }

  /// Applies delete rules again, to objects that this context or other contexts' commits have since linked to deleted
  /// objects.
  ///
  /// Invariant: afterwards no object that stays leads to a deleted one by a relationship that a rule clears. Repeats
  /// until no deletion is added, since what a cascade reaches may have been linked, too. A part of a save, and no step of
  /// undo.
  ///
  /// - Parameter readsRows: Whether other contexts' commits may have linked objects that are not loaded here.
  /// - Throws: The error of an object that a rule concerns and that cannot be read: a save that took it for missing
  ///   would leave its row behind.
  func applyRulesAgain(readsRows: Bool) throws {
    guard graph.concernsRelationships else {
      return try graph.undo.keepOneWayLinks(to: graph.pending.models(.deleted))
    }
    graph.undo.begin(.rules)
    defer { graph.undo.endPart() }
    var isDone = false
    while !isDone {
      let deleted = graph.pending.models(.deleted)
      for model in deleted
      where graph.entities[Int(model._$statePointer.pointee.entity)].layout.hasRelationships {
        var queue: [Reached] = []
        // Members that others have added are in the rows, and not in the list that is loaded here.
        if readsRows { forgetLists(of: model) }
        let entity = graph.entity(of: model)
        for index in entity.relationships where graph.isHere(model) {
          try graph.reader.requireTargets(of: model, entity.properties[index])
        }
        applyRules(to: Reached(model: model, isAgain: true), &queue)
        if readsRows { leaveNewPartners(of: model, &queue) }
        for target in queue { delete(target.model, isByRule: true) }
      }
      // A pass that deletes nothing more was the last one.
      isDone = graph.pending.models(.deleted).count == deleted.count
    }
    // Loads by queries, so before anything is cut.
    try graph.undo.keepOneWayLinks(to: graph.pending.models(.deleted))
    graph.editor.isCutting = true
    defer { graph.editor.isCutting = false }
    cutOneWayReferences(toDeleted: true)
  }

  /// Keeps what a save is about to clear, for ``RelationshipEditor/restoreCutSides()``.
  private func keepCut(_ model: any PersistentModel, _ index: Int) {
    graph.editor.cutSides.append(CutSide(model, index))
  }

  private func isHere(_ object: AnyObject) -> Bool {
    (object as? any PersistentModel).map(graph.isHere) ?? false
  }

  /// Applies the rules of one-to-one relationships to the objects that other contexts have led to a deleted one.
  private func leaveNewPartners(
    of model: any PersistentModel, _ queue: inout [Reached]
  ) {
    let entity = graph.entity(of: model)
    for index in entity.relationships {
      let property = entity.properties[index]
      guard let rule = property.relationship?.deleteRule, rule == .cascade || rule == .nullify,
        let partner = newPartner(of: model, property)
      else { continue }
      noteEffects(
        of: Reached(model: model, isAgain: true), property, on: [partner.model],
        isCascade: rule == .cascade)
      graph.editor.apply([.refer(partner.model, partner.inverse.index, to: nil)])
      if rule == .cascade { queue.append(Reached(model: partner.model)) }
    }
  }

  /// The object that another context has led to a deleted one, whose own side this context had changed before, so that
  /// it does not lead there; nil if the store has none.
  func newPartner(
    of model: any PersistentModel, _ property: PropertyLayout
  ) -> Inverses.Side? {
    let state = model._$statePointer
    guard graph.commits.hasNews, graph.isHere(model), property.isOneToOne,
      !model.has(_ModelFlags.inserted),
      state.pointee.changes.contains(property.index),
      let stored = try? graph.reader.storedReferences(of: [model], property).first?.value,
      let inverse = graph.inverse(of: property, list: stored.list), !inverse.isToMany,
      let destination = property.destination,
      let partner = try? graph.reader.object(graph.layout.entities[destination], row: stored.row),
      graph.isHere(partner), !partner.has(_ModelFlags.deleted),
      graph.reader.refers(partner, inverse.index, to: model, inverse.list)
    else { return nil }
    return Inverses.Side(model: partner, inverse: inverse)
  }

  /// Forgets the loaded lists of a deleted object, so that they are read from the rows at their next use, without the
  /// members that the program has removed.
  ///
  /// What a rule has removed counts again if others have linked it again.
  func forgetLists(of model: any PersistentModel) {
    if model.has(_ModelFlags.inserted) { return }
    let effects = graph.pending.ruleEffects.effects(of: model)
    for property in graph.entity(of: model).properties where property.isToMany {
      guard let rule = property.relationship?.deleteRule,
        case .toMany(let targets) = model.content(at: property.index)
      else { continue }
      if graph.inverse(of: property)?.isToMany == false {
        // Its own reference says whether an object is a member.
        targets.delta?.forgetRemovals(but: nil)
      } else if rule == .cascade {
        // Of nullify, all pairs go with the object.
        targets.delta?.forgetRemovals(but: effects?.lists[property.index])
      }
      model.updateTargets(at: property.index) { $0.loaded = nil }
    }
  }

  /// Removes objects that are gone, or going, from changed objects' relationships without an inverse, since no inverse
  /// does it.
  private func cutOneWayReferences(toDeleted: Bool) {
    guard graph.concernsRelationships else { return }
    for kind in [PendingChanges.Kind.inserted, .changed] {
      for model in graph.pending.models(kind) where !model.has(_ModelFlags.deleted) {
        let entity = graph.entity(of: model)
        for index in entity.relationships {
          cutReferences(of: model, entity.properties[index], toDeleted: toDeleted)
        }
      }
    }
  }

  /// Clears one relationship of an object where it leads to objects that have left the context, and, if it has no
  /// inverse, to deleted ones.
  ///
  /// Invariant: no list that is written afterwards has such an object, nor has its delta or its pairs. With an
  /// inverse, the deleted object's own rule clears the relationship.
  private func cutReferences(
    of model: any PersistentModel, _ property: PropertyLayout, toDeleted: Bool
  ) {
    // Outside a save a deletion may still be taken back, and relationships without an inverse then still lead there.
    let keepsDeleted = !toDeleted || property.relationship?.inverse != nil
    func isGone(_ target: any PersistentModel) -> Bool {
      if target._$statePointer.pointee.home == nil { return target.has(_ModelFlags.missing) }
      return !keepsDeleted && target.has(_ModelFlags.deleted)
    }
    switch model.content(at: property.index) {
    // A required reference stays, so that a save that is refused for it has changed nothing.
    case .toOne(.model(let target)) where isGone(target) && !property.isRequiredReference:
      // In a save the deletion's own step restores it.
      if !toDeleted { graph.undo.recordSide(of: model, at: property.index) }
      if toDeleted, graph.isHere(target) { keepCut(model, property.index) }
      graph.notifying(model, property.index) {
        model.setContent(.toOne(.none), at: property.index)
      }
      graph.markChanged(model, at: property.index)
    case .toMany(let targets):
      guard let loaded = targets.loaded else { return }
      let gone = loaded.filter { ($0 as? any PersistentModel).map(isGone) ?? false }
      guard !gone.isEmpty else { return }
      // A set, so that a list with many deleted members takes linear time.
      let ids = Set(gone.map(ObjectIdentifier.init))
      if !toDeleted {
        graph.undo.recordMembers(of: model, at: property.index, loaded)
      } else if gone.contains(where: isHere) {
        keepCut(model, property.index)
      }
      graph.notifying(model, property.index) {
        graph.editor.changeSide(of: model, at: property.index) { targets, delta in
          for object in gone { delta.remove(object) }
          targets.loaded?.removeAll { ids.contains(ObjectIdentifier($0)) }
        }
      }
      for case let target as any PersistentModel in gone {
        graph.editor.logPair(property, graph.entity(of: model), model, target, isAdded: false)
      }
      graph.markChanged(model, at: property.index)
    default: break
    }
  }
}
