// What the program sets that cannot be linked as it is: an object of another version's class is refused, and a merged one
// is replaced by the object that stands for it.

extension RelationshipEditor {
  /// Whether the type that a relationship has in the program is another version's class.
  func isForeign(_ owner: any PersistentModel, _ index: Int) -> Bool {
    // The reads of such a class's objects are traced, which is quicker to find out.
    owner.has(_ModelFlags.traced) && graph.entity(of: owner).properties[index].isForeign
  }

  /// Whether a relationship of another version's class was set to an object of that class, which is then dropped.
  func refusesForeignTarget(
    _ target: any PersistentModel, of owner: any PersistentModel, _ index: Int,
    keeping old: _Target
  ) -> Bool {
    guard isForeign(owner, index), graph.layout.entity(for: type(of: target)) == nil else {
      return false
    }
    let entity = graph.entity(of: owner)
    graph.pending.misuses.append(
      .init(error: Misuses.use(ofForeign: entity.properties[index], of: entity, graph.layout)))
    owner.setContent(.toOne(old), at: index)
    unchanged.note(owner, index)
    graph.didChangePending()
    return true
  }

  /// Drops the objects that the program has put into a list of another version's class: they are of a class that is not in
  /// the schema, and must not be used as those that are.
  func refuseForeignMembers(of owner: any PersistentModel, _ index: Int) {
    guard case .toMany(let targets) = owner.content(at: index) else { return }
    let entity = graph.entity(of: owner)
    if targets.loaded?.isEmpty == false {
      graph.pending.misuses.append(
        .init(error: Misuses.use(ofForeign: entity.properties[index], of: entity, graph.layout)))
    }
    let isNew = owner.has(_ModelFlags.inserted)
    owner.setContent(.toMany(_Targets(loaded: isNew ? [] : nil)), at: index)
    unchanged.note(owner, index)
    graph.didChangePending()
  }

  /// Applies to the object that stands for a merged one what the program did to the merged one.
  func forward(
    _ loser: any PersistentModel, to successor: any PersistentModel, _ index: Int
  ) {
    // Otherwise a later read of the row would replace what is set here.
    if graph.isHere(successor) { graph.reader.makeCurrent(successor) }
    let old = successor.content(at: index)
    let new = loser.content(at: index)
    successor.setContent(new, at: index)
    switch (old, new) {
    // The object that stands for it has left the context: it is linked as any object without a context is.
    case _ where !graph.isHere(successor): return linkLoosely(successor, index, old, new)
    case (.toOne(let old), .toOne(.model(let target))):
      didSetToOne(successor, index, old, target)
    case (.toOne(let old), .toOne): didSetToOne(successor, index, old, nil)
    case (.toMany(let old), .toMany): didSetToMany(successor, index, old)
    default: break
    }
    graph.didChange(successor, at: index)
  }

  /// Sets the other sides of a relationship of an object that stands for a merged one and has left the context.
  private func linkLoosely(
    _ model: any PersistentModel, _ index: Int, _ old: _SlotContent, _ new: _SlotContent
  ) {
    switch (old, new) {
    case (.toOne(let old), .toOne(.model(let target))):
      LooseLinks.didReplace(old, with: target, model, index)
    case (.toOne(let old), .toOne): LooseLinks.didReplace(old, with: nil, model, index)
    case (.toMany(let old), .toMany(let new)):
      LooseLinks.didReplace(old, with: new.loaded ?? [], model, index)
    default: break
    }
  }

  /// Replaces merged objects, in a relationship that the program has set, by the objects that stand for them: a
  /// merged one has no row of its own to refer to.
  func leadToStandIns(_ owner: any PersistentModel, _ index: Int) {
    switch owner.content(at: index) {
    case .toOne(.model(let target)) where target.has(_ModelFlags.redirected):
      owner.setContent(.toOne(.model(target.standIn)), at: index)
    case .toMany(let targets):
      guard let loaded = targets.loaded,
        let destination = graph.entity(of: owner).properties[index].destination
      else { return }
      let entity = graph.layout.entities[destination]
      guard loaded.contains(where: { entity.model($0).has(_ModelFlags.redirected) }) else { return }
      let list = loaded.map { entity.model($0).standIn as AnyObject }
      owner.setContent(.toMany(_Targets(loaded: list, delta: targets.delta)), at: index)
    default: break
    }
  }
}
