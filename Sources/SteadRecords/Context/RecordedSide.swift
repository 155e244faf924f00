/// What one side of a relationship held before a change.
///
/// Undo goes through a context's states backwards, so each side gets what it held, with its order, and no inverse is
/// searched for.
struct RecordedSide {
  enum Content {
    case reference(_Target, list: Int?)
    case members([AnyObject])
  }

  let model: any PersistentModel
  let index: Int
  let before: Content

  init(_ model: any PersistentModel, _ index: Int, _ before: Content) {
    (self.model, self.index, self.before) = (model, index, before)
  }
}

extension ObjectGraph {
  // MARK: Recording

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
      record(RecordedSide(model, index, .reference(target, list: model.list(at: index))))
    case .toMany(let targets):
      recordMembers(
        of: model, at: index,
        held == nil ? members(of: model, at: index) : targets.loaded ?? [])
    }
  }

  func recordMembers(of model: any PersistentModel, at index: Int, _ members: [AnyObject]) {
    guard undo.isRecording else { return }
    record(RecordedSide(model, index, .members(members)))
  }

  private func record(_ side: RecordedSide) {
    guard undo.isFirstChange(of: side.model, side.index) else { return }
    undo.record(self) { $0.restore(side) }
  }

  // MARK: Undo

  func restore(_ side: RecordedSide) {
    let owner = side.model.standIn
    // Its deletion was saved since. The step stays one that can be redone.
    guard isHere(owner) else { return undo.record(self) { $0.restore(side) } }
    switch side.before {
    case .reference(let target, let list): restoreReference(side, of: owner, target, list)
    case .members(let members): restoreMembers(side, of: owner, members)
    }
  }

  private func restoreReference(
    _ side: RecordedSide, of model: any PersistentModel, _ target: _Target, _ list: Int?
  ) {
    let index = side.index
    makeCurrent(model)
    recordSide(of: model, at: index)
    undo.forgetWaiting(model, index)
    // The other side is loaded while this one still leads there: the next action, which restores it, keeps it for redo.
    let property = entity(of: model).properties[index]
    if let inverse = inverse(of: property, list: model.list(at: index)), inverse.isToMany,
      let owner = destination(of: model, at: index)
    {
      _ = members(of: owner, at: inverse.index)
    }
    var found = target
    // Its deletion was saved in the meantime.
    if case .model(let destination) = target, !isHere(destination) {
      undo.wait(for: destination, model, index) { $0.restore(side) }
      found = .none
    }
    notifying(model, index) {
      model.setContent(.toOne(found), at: index)
      model.setList(list, at: index)
    }
    markChanged(model, at: index)
  }

  private func restoreMembers(
    _ side: RecordedSide, of model: any PersistentModel, _ all: [AnyObject]
  ) {
    let index = side.index
    let before = self.members(of: model, at: index)
    recordMembers(of: model, at: index, before)
    undo.forgetWaiting(model, index)
    // Without those whose deletion was saved in the meantime.
    let members = all.filter { ($0 as? any PersistentModel).map(isHere) ?? false }
    for case let gone as any PersistentModel in all where !isHere(gone) {
      undo.wait(for: gone, model, index) { $0.restore(side) }
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
}
