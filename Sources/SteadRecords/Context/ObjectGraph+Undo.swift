import Foundation

extension ObjectGraph {
  /// Registers the way back from a change of one property that is about to be made.
  @usableFromInline func registerUndo(of model: any PersistentModel, at index: Int) {
    guard let undoManager, undoManager.isUndoRegistrationEnabled,
      let copy = model.copySlot(at: index)
    else { return }
    undoManager.registerUndo(withTarget: self) { graph in
      graph.apply(copy, to: model, at: index)
    }
  }

  private func apply(_ copy: Any, to model: any PersistentModel, at index: Int) {
    registerUndo(of: model, at: index)
    let old = model.content(at: index)
    notifying(model, index) { model.restoreSlot(copy, at: index) }
    switch (old, model.content(at: index)) {
    case (.toOne(let before), .toOne(let after)):
      if case .model(let target) = after {
        didSetToOne(model, index, before, target)
      } else {
        didSetToOne(model, index, before, nil)
      }
    case (.toMany(let before), .toMany(let after)):
      let models = (after.loaded ?? []).compactMap { $0 as? any PersistentModel }
      didSetToMany(model, index, before, models)
    default: break
    }
    touch(model, index: index)
  }

  func registerUndo(ofInserting model: any PersistentModel) {
    undoManager?.registerUndo(withTarget: self) { graph in graph.delete(model) }
  }

  func registerUndo(ofDeleting model: any PersistentModel) {
    undoManager?.registerUndo(withTarget: self) { graph in graph.restore(model) }
  }

  /// Takes a deleted object back, with what referred to it.
  private func restore(_ model: any PersistentModel) {
    registerUndo(ofInserting: model)
    if model._$statePointer.pointee.graph == nil {
      insert(model)
      return
    }
    undelete(model)
    let entity = entity(of: model)
    for index in entity.relationships {
      for target in targets(of: model, entity.properties[index]) {
        setInverse(of: entity.properties[index], from: model, to: target)
      }
    }
  }
}
