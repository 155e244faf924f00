import Foundation

/// Keeps the way back from each change of one side of a relationship or of one attribute.
///
/// A change of a relationship is kept for each side, so that undoing restores each side with its order, and needs no
/// search for an inverse.
struct UndoRecorder {
  var manager: UndoManager? { didSet { waiting = [:] } }
  /// What undoing could not restore, since the deletion of the other object was saved in the meantime. If undo
  /// continues to that earlier deletion, it restores this, too.
  private var waiting: [ObjectIdentifier: [(ObjectGraph) -> Void]] = [:]

  var isRecording: Bool { manager?.isUndoRegistrationEnabled == true }

  func record(_ graph: ObjectGraph, _ action: @escaping (ObjectGraph) -> Void) {
    manager?.registerUndo(withTarget: graph, handler: action)
  }

  /// Keeps what is left to restore until the deletion of an object, which the action holds, is undone.
  mutating func wait(for object: AnyObject, _ action: @escaping (ObjectGraph) -> Void) {
    waiting[ObjectIdentifier(object), default: []].append(action)
  }

  /// What waited for an object, in the order in which it was undone.
  mutating func takeWaiting(for object: AnyObject) -> [(ObjectGraph) -> Void] {
    waiting.removeValue(forKey: ObjectIdentifier(object)) ?? []
  }

  mutating func removeAllActions() {
    waiting = [:]
    manager?.removeAllActions()
  }

  /// Ends what would be a run loop's turn.
  func closeGroup() {
    #if canImport(Darwin)
      // Foundation's own manager closes the groups of a run loop's turn.
    #else
      manager?.closeEventGroup()
    #endif
  }
}

extension ObjectGraph {
  // MARK: Attributes

  func willChange(_ model: any PersistentModel, at index: Int) {
    guard undo.isRecording, isHere(model), case .attribute = model.content(at: index),
      let copy = model.copySlot(at: index)
    else { return }
    undo.record(self) { $0.restoreAttribute(copy, of: model, at: index) }
  }

  private func restoreAttribute(_ copy: Any, of model: any PersistentModel, at index: Int) {
    let model = model.successor ?? model
    willChange(model, at: index)
    notifying(model, index) { model.restoreSlot(copy, at: index) }
    if isHere(model) { markChanged(model, at: index) }
  }

  // MARK: Relationships

  /// Keeps what one side of a relationship holds, or held.
  func recordSide(of model: any PersistentModel, at index: Int, _ held: _SlotContent? = nil) {
    guard undo.isRecording else { return }
    switch held ?? model.content(at: index) {
    case .attribute: return
    case .toOne(var target):
      // The object, since its row may be deleted and written again under another number.
      if case .row(let row) = target, let model = resolve(row, model, index) as? any PersistentModel
      {
        target = .model(model)
      }
      let (target, list) = (target, model.list(at: index))
      undo.record(self) { $0.restoreReference(of: model, at: index, to: target, list) }
    case .toMany(let targets):
      recordMembers(
        of: model, at: index,
        held == nil ? members(of: model, at: index) : targets.loaded ?? [])
    }
  }

  func recordMembers(of model: any PersistentModel, at index: Int, _ members: [AnyObject]) {
    guard undo.isRecording else { return }
    undo.record(self) { $0.restoreMembers(of: model, at: index, to: members) }
  }

  private func restoreReference(
    of model: any PersistentModel, at index: Int, to target: _Target, _ list: Int?
  ) {
    guard isHere(model) else { return }
    recordSide(of: model, at: index)
    var found = target
    // Its deletion was saved in the meantime.
    if case .model(let destination) = target, !isHere(destination) {
      undo.wait(for: destination) { $0.restoreReference(of: model, at: index, to: target, list) }
      found = .none
    }
    notifying(model, index) {
      model.setContent(.toOne(found), at: index)
      model.setList(list, at: index)
    }
    markChanged(model, at: index)
  }

  private func restoreMembers(
    of model: any PersistentModel, at index: Int, to members: [AnyObject]
  ) {
    guard isHere(model) else { return }
    let before = self.members(of: model, at: index)
    recordMembers(of: model, at: index, before)
    // Without those whose deletion was saved in the meantime.
    let all = members
    let members = all.filter { ($0 as? any PersistentModel).map(isHere) ?? false }
    for case let gone as any PersistentModel in all where !isHere(gone) {
      undo.wait(for: gone) { $0.restoreMembers(of: model, at: index, to: all) }
    }
    let entity = entity(of: model)
    let (old, new) = (
      Set(before.map(ObjectIdentifier.init)), Set(members.map(ObjectIdentifier.init))
    )
    notifying(model, index) {
      changeSide(of: model, at: index) { targets, delta in
        for object in before where !new.contains(ObjectIdentifier(object)) { delta.remove(object) }
        for object in members where !old.contains(ObjectIdentifier(object)) { delta.add(object) }
        delta.setOrder(members)
        targets.loaded = members
      }
    }
    let property = entity.properties[index]
    for case let target as any PersistentModel in before
    where !new.contains(ObjectIdentifier(target)) {
      logPair(property, entity, model, target, isAdded: false)
    }
    for case let target as any PersistentModel in members
    where !old.contains(ObjectIdentifier(target)) {
      logPair(property, entity, model, target, isAdded: true)
    }
    membership = nil
    markChanged(model, at: index)
  }

  // MARK: Objects

  func recordInsertion(of model: any PersistentModel) {
    guard undo.isRecording else { return }
    undo.record(self) { $0.undoInsertion(of: model) }
  }

  func recordDeletion(of model: any PersistentModel) {
    guard undo.isRecording else { return }
    // What waits is for an older deletion, and did not exist before this one.
    _ = undo.takeWaiting(for: model)
    undo.record(self) { $0.undoDeletion(of: model) }
  }

  private func undoInsertion(of model: any PersistentModel) {
    guard isHere(model) else { return }
    guard model.has(_ModelFlags.inserted) else {
      // Nothing that existed before the insertion goes with the object.
      let entity = entity(of: model)
      for index in entity.relationships { cut(model, entity.properties[index]) }
      return delete(model)
    }
    undo.record(self) { $0.insert(model) }
    leave(model)
    didChangePending()
  }

  private func undoDeletion(of model: any PersistentModel) {
    guard isHere(model) else {
      insert(model)
      for action in undo.takeWaiting(for: model) { action(self) }
      return
    }
    guard model.has(_ModelFlags.deleted) else { return }
    undo.record(self) { $0.delete(model) }
    pending.remove(model, from: .deleted)
    didChangePending()
  }
}
