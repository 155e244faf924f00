/// Takes back the effects of rules on objects that others have led elsewhere. No step of undo.
struct RuleReview {
  private let graph: ObjectGraph

  private init(_ graph: ObjectGraph) { self.graph = graph }

  /// Takes back what has to be after others' commits.
  ///
  /// Costs a query for each relationship of a deleted object that the commits may concern.
  ///
  /// Called while commits are applied, whose rows' objects are stale.
  static func run(_ graph: ObjectGraph) {
    if graph.pending.isEmpty(.deleted) { return }
    let review = RuleReview(graph)
    var effects = graph.pending.ruleEffects
    let gone = effects.update(
      // By this context or, with its row gone, by another one.
      isActive: { $0.has(_ModelFlags.deleted) || !graph.isHere($0) },
      isTouched: { $0.has(_ModelFlags.stale) || !graph.isHere($0) }, stored: review.stored)
    graph.pending.ruleEffects = effects
    if gone.isEmpty { return }
    graph.undo.withoutRegistration { review.takeBack(gone) }
    graph.didChangePending()
  }

  /// Which of some objects the store links to a deleted one by a relationship; nil if that cannot be read.
  private func stored(
    _ all: [any PersistentModel], by index: Int, of deleted: any PersistentModel
  ) -> Set<ObjectIdentifier>? {
    let targets = all.filter(graph.isHere)
    guard graph.isHere(deleted) else { return [] }
    let property = graph.entity(of: deleted).properties[index]
    if property.isToMany, graph.inverse(of: property)?.isToMany ?? true {
      return graph.reader.storedMembers(of: deleted, at: index).map {
        Set($0.map(ObjectIdentifier.init))
      }
    }
    guard let inverse = graph.inverse(of: property), !inverse.isToMany else {
      guard let stored = try? graph.reader.storedReferences(of: [deleted], property) else {
        return nil
      }
      let row = stored.first?.value.row
      return Set(
        targets.filter { $0._$statePointer.pointee.rowID == row }.map { ObjectIdentifier($0) })
    }
    let row = deleted._$statePointer.pointee.rowID
    var found: Set<ObjectIdentifier> = []
    // Objects of a hierarchy's classes have the reference in the same column.
    guard let first = targets.first,
      let stored = try? graph.reader.storedReferences(
        of: targets, graph.entity(of: first).properties[inverse.index])
    else { return nil }
    for target in targets {
      guard let reference = stored[target._$statePointer.pointee.rowID], reference.row == row,
        inverse.list == nil || reference.list == nil || reference.list == inverse.list
      else { continue }
      found.insert(ObjectIdentifier(target))
    }
    return found
  }

  private func takeBack(_ gone: [(RuleEffects.Effects, RuleEffects.Link)]) {
    let staying = graph.pending.ruleEffects.unreached(graph.pending.models(.deleted))
    for model in staying {
      graph.pending.remove(model, from: .deleted)
      graph.pending.note(graph.entity(of: model).rootIndex)
    }
    for (effect, link) in gone where !link.target.has(_ModelFlags.deleted) {
      returnReference(of: effect.deleted, link)
    }
    var queue = staying
    while let model = queue.popLast() { queue += restoreSides(of: model) }
  }

  /// Gives the relationships of an object that stays what they held; returns new objects that are inserted again.
  private func restoreSides(of model: any PersistentModel) -> [any PersistentModel] {
    let effects = graph.pending.ruleEffects.effects(of: model)
    graph.pending.ruleEffects.forget(model)
    var returning: [any PersistentModel] = []
    for link in effects?.links ?? [] {
      if link.isOwn {
        if link.target._$statePointer.pointee.home == nil,
          link.target._$statePointer.pointee.rowID < 0
        {
          graph.editor.insert(link.target)
          returning.append(link.target)
        }
        lead(model, link)
      } else if !link.target.has(_ModelFlags.deleted) {
        returnReference(of: model, link)
      }
    }
    for property in graph.entity(of: model).properties {
      guard let rule = property.relationship?.deleteRule, rule == .cascade || rule == .nullify
      else { continue }
      if !property.isToMany {
        if effects?.cleared.contains(property.index) == true { continue }
        returnReference(of: model, at: property.index)
      } else if graph.inverse(of: property)?.isToMany ?? true {
        restorePairs(of: model, property, effects?.lists[property.index])
      }
    }
    return returning
  }

  /// Leads two objects to each other again as the program had them.
  private func lead(_ model: any PersistentModel, _ link: RuleEffects.Link) {
    let property = graph.entity(of: model).properties[link.property]
    guard graph.isHere(link.target), !link.target.has(_ModelFlags.deleted) else { return }
    if !property.isToMany { return set(model, property.index, to: link.target, link.list) }
    if let inverse = graph.inverse(of: property), !inverse.isToMany {
      set(link.target, inverse.index, to: model, link.list)
    }
  }

  private func set(
    _ model: any PersistentModel, _ index: Int, to target: any PersistentModel, _ list: Int?
  ) {
    // The program may have led it elsewhere since.
    guard case .toOne(.none) = model.content(at: index) else { return }
    graph.notifying(model, index) { model.setContent(.toOne(.model(target)), at: index) }
    graph.editor.didSetToOne(model, index, .none, target)
    if list != nil { model.setList(list, at: index) }
    graph.markChanged(model, at: index)
  }

  /// Gives the other side of a link what its row has.
  private func returnReference(of model: any PersistentModel, _ link: RuleEffects.Link) {
    guard
      let inverse = graph.inverse(of: graph.entity(of: model).properties[link.property]),
      !inverse.isToMany, graph.isHere(link.target)
    else { return }
    if graph.isHere(model) {
      graph.forgetChanges(of: link.target, in: model, at: link.property)
    }
    returnReference(of: link.target, at: inverse.index)
  }

  /// Gives a reference that a rule has cleared what its row has.
  private func returnReference(of model: any PersistentModel, at index: Int) {
    guard case .toOne(.none) = model.content(at: index),
      model._$statePointer.pointee.changes.contains(index)
    else { return }
    let property = graph.entity(of: model).properties[index]
    guard let stored = try? graph.reader.storedReferences(of: [model], property) else { return }
    graph.returnToStored(model, property, stored.first?.value, isReview: true)
  }

  /// Gives a list without a to-one inverse what its rows have, with what the program had changed of it.
  private func restorePairs(
    of model: any PersistentModel, _ property: PropertyLayout, _ delta: ToManyDelta?
  ) {
    let index = property.index
    guard let stored = graph.reader.storedMembers(of: model, at: index) else { return }
    let wanted = delta?.applied(to: stored) ?? stored
    let members = (stored + wanted).compactMap { $0 as? any PersistentModel }
    for member in members {
      graph.forgetChanges(of: member, in: model, at: index)
      if let inverse = graph.inverse(of: property) {
        graph.forgetChanges(of: model, in: member, at: inverse.index)
      }
    }
    graph.editor.forgetPairs(property, model, members)
    graph.editor.membership = nil
    guard delta != nil, case .toMany(let old) = model.content(at: index) else { return }
    let here = wanted.filter {
      ($0 as? any PersistentModel).map { graph.isHere($0) && !$0.has(_ModelFlags.deleted) } ?? false
    }
    graph.notifying(model, index) {
      model.setContent(.toMany(_Targets(loaded: here, delta: old.delta)), at: index)
    }
    graph.editor.didSetToMany(
      model, index, _Targets(loaded: stored, delta: old.delta))
    graph.markChanged(model, at: index)
  }
}
