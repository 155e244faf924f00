/// One side of a relationship without an inverse, before a save clears what leads to deleted objects.
///
/// Until a save succeeds, such a relationship leads there, since the deletion may still be taken back. So a save that fails
/// puts back what it has cleared: the content itself, and what the side has changed since the last save.
struct CutSide {
  let model: any PersistentModel
  let index: Int
  private let content: _SlotContent
  private let list: Int?
  /// Whether the program had changed the property. Otherwise the next save need not write it, over what another context
  /// has committed meanwhile.
  private let wasChanged: Bool

  init(_ model: any PersistentModel, _ index: Int) {
    (self.model, self.index, list) = (model, index, model.list(at: index))
    wasChanged = model._$statePointer.pointee.changes.contains(index)
    content =
      switch model.content(at: index) {
      // The delta is changed in place.
      case .toMany(let targets):
        .toMany(_Targets(loaded: targets.loaded, delta: targets.delta?.copy()))
      case let content: content
      }
  }

  /// Puts the side back, unless the program has changed it since: an observer, or the store of an app.
  fileprivate func restore(_ graph: ObjectGraph) {
    switch (content, model.content(at: index)) {
    case (.toOne, .toOne(.none)):
      graph.notifying(model, index) {
        model.setContent(content, at: index)
        model.setList(list, at: index)
      }
    case (.toMany(let held), .toMany(let targets)):
      let gone = (held.loaded ?? []).filter { isDeleted($0, graph) }
      let ids = Set(gone.map(ObjectIdentifier.init))
      let rest = (held.loaded ?? []).filter { !ids.contains(ObjectIdentifier($0)) }
      guard let loaded = targets.loaded, loaded.elementsEqual(rest, by: ===) else { return }
      graph.notifying(model, index) {
        model.updateTargets(at: index) { targets in
          // The save's list of sides has this one, whatever it changes.
          let delta = held.delta ?? ToManyDelta()
          delta.isEnqueued = true
          (targets.loaded, targets.delta) = (held.loaded, delta)
        }
      }
      if let table = graph.entity(of: model).properties[index].joinTable {
        for object in gone { graph.pending.removeLastRemoval(from: table.name, model, object) }
      }
      graph.editor.membership = nil
    default: return
    }
    if wasChanged { return }
    let state = model._$statePointer
    state.pointee.changes = state.pointee.changes.subtracting(PropertySet([index]))
  }

  private func isDeleted(_ object: AnyObject, _ graph: ObjectGraph) -> Bool {
    guard let model = object as? any PersistentModel else { return false }
    return model.has(_ModelFlags.deleted) || !graph.isHere(model)
  }
}

extension RelationshipEditor {
  /// Restores what a save that has failed cleared of relationships without an inverse. No step of undo.
  func restoreCutSides() {
    let sides = cutSides
    guard !sides.isEmpty else { return }
    cutSides = []
    isCutting = true
    defer { isCutting = false }
    for side in sides where graph.isHere(side.model) { side.restore(graph) }
  }
}
