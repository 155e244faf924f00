// Insertions and deletions.

extension UndoRecorder {
  /// Records the way back from an insertion.
  func recordInsertion(of model: any PersistentModel) {
    guard isRecording else { return }
    record { $0.undo.undoInsertion(of: model) }
  }

  /// Records the way back from a deletion.
  func recordDeletion(of model: any PersistentModel) {
    guard isRecording else { return }
    // What waits is for an older deletion, and did not exist before this one. Undo that deletes an object, since it was
    // inserted again, is on the way back to that older deletion.
    if manager?.isUndoing != true { _ = takeWaiting(for: model) }
    let effects = graph.pending.ruleEffects.effects(of: model)
    record { $0.undo.undoDeletion(of: model, effects) }
  }

  /// Undoes an insertion: an object without a row leaves, one that was saved since is deleted.
  private func undoInsertion(of model: any PersistentModel) {
    // The object that stands for a merged one was not inserted by this.
    guard graph.isHere(model), !model.has(_ModelFlags.redirected) else { return }
    guard model.has(_ModelFlags.inserted) else {
      // Nothing that existed before the insertion goes with the object.
      let entity = graph.entity(of: model)
      for index in entity.relationships { DeleteRules(graph).cut(model, entity.properties[index]) }
      return DeleteRules(graph).delete(model)
    }
    record { graph in
      graph.editor.insert(model)
      // Its sides are restored by the actions of this redo that follow.
      _ = graph.undo.takeWaiting(for: model, since: graph.undo.undoneMoment ?? 0)
    }
    graph.pending.note(graph.entity(of: model).rootIndex)
    graph.leave(model)
    graph.didChangePending()
  }

  /// What is restored of a list of an object that is back: not what leads elsewhere by now.
  private func withoutMembersOfOthers(_ side: RecordedSide) -> RecordedSide {
    let property = graph.entity(of: side.model).properties[side.index]
    guard case .members(let members) = side.before, let inverse = graph.inverse(of: property),
      !inverse.isToMany
    else { return side }
    let left = members.filter { object in
      guard let member = object as? any PersistentModel, graph.isHere(member),
        let owner = graph.reader.destination(of: member, at: inverse.index)
      else { return true }
      return owner === side.model
    }
    return left.count == members.count
      ? side : RecordedSide(side.model, side.index, .members(left), after: side.after(nil))
  }

  /// Adds an object that is back to the list that its reference leads to, and that went on without it.
  private func addToList(_ side: RecordedSide) {
    let property = graph.entity(of: side.model).properties[side.index]
    guard case .reference = side.before,
      let owner = graph.reader.destination(of: side.model, at: side.index),
      let inverse = graph.inverse(of: property, list: side.model.list(at: side.index)),
      inverse.isToMany
    else { return }
    graph.editor.apply([.add(side.model, to: owner, inverse.index)])
  }

  /// Redoes a deletion, after the sides that its rules had cleared.
  private func deleteAgain(_ model: any PersistentModel, _ effects: RuleEffects.Effects?) {
    // First, since the deletion adds to them, and the undo that it records needs all.
    graph.pending.ruleEffects.restore(effects)
    DeleteRules(graph).delete(model, isByRule: nil)
  }

  /// Undoes a deletion: one that is pending is cancelled, after a save the object is inserted again, as a new row.
  /// Then what waited for it is restored.
  ///
  /// - Parameter effects: What its rules have done.
  func undoDeletion(
    of model: any PersistentModel, _ effects: RuleEffects.Effects? = nil
  ) {
    let model = model.standIn
    // Redo goes forward to a state in which the object was inserted again. What waits for the undo of an older deletion
    // was not yet there, and goes on waiting.
    let moment = manager?.isRedoing == true ? undoneMoment ?? 0 : 0
    guard graph.isHere(model) else {
      // With its row gone without a save of this context, another one has deleted it, too.
      if isUnsavedStep, model._$statePointer.pointee.rowID > 0 { return }
      graph.editor.insert(model)
      // First what its sides held as it was deleted: the actions of the same step lead on from there.
      for side in absent.take(model) {
        restore(withoutMembersOfOthers(side))
        addToList(side)
      }
      for action in takeWaiting(for: model, since: moment) { action(graph) }
      return
    }
    guard model.has(_ModelFlags.deleted) else { return }
    endStepSides()
    record { $0.undo.deleteAgain(model, effects) }
    graph.pending.remove(model, from: .deleted)
    graph.pending.note(graph.entity(of: model).rootIndex)
    graph.pending.ruleEffects.forget(model)
    // What a save has cut that was refused afterwards.
    for action in takeWaiting(for: model, since: moment) { action(graph) }
    graph.didChangePending()
  }
}
