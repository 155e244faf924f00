// What an engine leaves behind when its context ends.

extension ObjectGraph {
  /// Drops everything when the context ends; objects still held keep their values.
  ///
  /// New objects leave. Changed and deleted ones lose their pending changes only: they keep their home, through which
  /// they still load relationships.
  func abandon() {
    editor.abandon()
    merger.abandon()
    separate(pending.models(.inserted), from: pending.models(.changed))
    for model in pending.models(.inserted) { leave(model) }
    for kind in [PendingChanges.Kind.changed, .deleted] {
      for model in pending.models(kind) { settle(model) }
    }
    pending.removeAll()
    // Objects that lead to each other would keep each other alive, and with them this engine.
    dropCaches()
    loader.forgetBatches()
    undo.reset()
  }

  /// Has new objects, which are never saved now, and stored ones no longer lead to each other: a stored object holds this
  /// engine, and with it the store.
  ///
  /// A required reference of a new object to a stored one stays. Then nothing but such references leads to that new object:
  /// a cycle of new ones would hold it.
  private func separate(_ new: [any PersistentModel], from changed: [any PersistentModel]) {
    cutLinks(of: changed) { !isStored($0) }
    cutLinks(of: new, to: isStored)
    let anchored = new.filter { model in
      entity(of: model).relationships.contains { index in
        guard case .toOne(.model(let target)) = model.content(at: index) else { return false }
        return isStored(target)
      }
    }
    let ids = Set(anchored.map { ObjectIdentifier($0) })
    if !ids.isEmpty { cutLinks(of: new) { ids.contains(ObjectIdentifier($0)) } }
  }

  private func isStored(_ object: AnyObject) -> Bool {
    guard let model = object as? any PersistentModel, isHere(model) else { return false }
    return model._$statePointer.pointee.rowID > 0
  }

  /// Clears what leads to some objects, on this side alone, and not required references.
  private func cutLinks(of models: [any PersistentModel], to isCut: (AnyObject) -> Bool) {
    for model in models where entity(of: model).hasRelationships {
      for index in entity(of: model).relationships where !isRequired(model, index) {
        switch model.content(at: index) {
        case .toOne(.model(let target)) where isCut(target):
          model.setContent(.toOne(.none), at: index)
        case .toMany(let targets):
          guard let loaded = targets.loaded, loaded.contains(where: isCut) else { continue }
          model.setContent(.toMany(_Targets(loaded: loaded.filter { !isCut($0) })), at: index)
        default: break
        }
      }
    }
  }
}
