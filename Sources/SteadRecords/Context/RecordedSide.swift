/// A recorded change of one side of a relationship.
///
/// Undo goes through a context's states backwards, so each side gets what it held, with its order, and no inverse is
/// searched for. But a merge of objects is no step: it gives one object what others were given, and takes from the other
/// sides what led to them. A state that was recorded before it does not exist any more. Of such a change only what it did
/// itself is taken back, as if the program did it: then the two sides cannot contradict each other, whatever was merged.
final class RecordedSide {
  enum Content {
    case reference(_Target, list: Int?)
    case members([AnyObject])
  }

  let model: any PersistentModel
  let index: Int
  let before: Content
  /// What the side held once it was changed; nil for as long as it does.
  var after: Content?
  /// How often objects had been merged.
  let mergeCount: Int

  init(_ model: any PersistentModel, _ index: Int, _ before: Content, mergeCount: Int) {
    (self.model, self.index, self.before, self.mergeCount) = (model, index, before, mergeCount)
  }

  /// Whether a reference is the one that the change has left.
  func hasLeft(_ target: _Target) -> Bool {
    guard case .reference(let after, _)? = after else { return true }
    switch (after, target) {
    case (.none, .none): return true
    case (.none, _), (_, .none): return false
    case (.model(let model), let target), (let target, .model(let model)): return target.is(model)
    case (.row(let row), .row(let other)): return row == other
    }
  }

  /// The objects that the change took out of the list and put into it, and whether it moved others; each stands for
  /// those that were merged into it.
  var difference: (removed: [AnyObject], added: [AnyObject], isReordered: Bool, before: [AnyObject])
  {
    let (before, after) = (Self.list(before) ?? [], Self.list(after) ?? Self.list(before) ?? [])
    let (old, new) = (Set(before.map(ObjectIdentifier.init)), Set(after.map(ObjectIdentifier.init)))
    let removed = before.filter { !new.contains(ObjectIdentifier($0)) }
    let added = after.filter { !old.contains(ObjectIdentifier($0)) }
    let stayed = before.filter { new.contains(ObjectIdentifier($0)) }
    let isReordered = !stayed.elementsEqual(
      after.filter { old.contains(ObjectIdentifier($0)) }, by: { $0 === $1 })
    return (removed, added, isReordered, before)
  }

  private static func list(_ content: Content?) -> [AnyObject]? {
    guard case .members(let list)? = content else { return nil }
    return ObjectGraph.withoutDuplicates(
      list.map { ($0 as? any PersistentModel)?.standIn ?? $0 })
  }

  /// Objects, each of which stands for those that were merged into it, and their rows.
  private struct TargetSet {
    private let objects: Set<ObjectIdentifier>
    private let rows: Set<Int64>

    init(_ all: [AnyObject]) {
      objects = Set(all.map(ObjectIdentifier.init))
      rows = Set(all.compactMap { ($0 as? any PersistentModel)?._$statePointer.pointee.rowID })
    }

    func contains(_ target: _Target) -> Bool {
      target.objectIdentifier.map(objects.contains) ?? target.row.map(rows.contains) ?? false
    }
  }

  /// A list without what the change has put into it, and with what it has taken out.
  func takenBack(from list: [_Target]) -> [_Target] {
    let difference = difference
    let added = TargetSet(difference.added)
    let kept = list.filter { !added.contains($0) }
    let held = Set(kept.compactMap(\.objectIdentifier))
    let rows = Set(kept.compactMap(\.row))
    let back = difference.removed.compactMap { object -> _Target? in
      guard let model = object as? any PersistentModel, !held.contains(ObjectIdentifier(model)),
        !rows.contains(model._$statePointer.pointee.rowID)
      else { return nil }
      return .model(model)
    }
    return kept + back
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
      record(model, index, .reference(target, list: model.list(at: index)))
    case .toMany(let targets):
      recordMembers(
        of: model, at: index,
        held == nil ? members(of: model, at: index) : targets.loaded ?? [])
    }
  }

  func recordMembers(of model: any PersistentModel, at index: Int, _ members: [AnyObject]) {
    guard undo.isRecording else { return }
    record(model, index, .members(members))
  }

  private func record(_ model: any PersistentModel, _ index: Int, _ before: RecordedSide.Content) {
    let side = noted(model, index, before)
    undo.record(self) { $0.takeBack(side) }
  }

  /// A change that is about to be made.
  func noted(
    _ model: any PersistentModel, _ index: Int, _ before: RecordedSide.Content
  ) -> RecordedSide {
    let side = RecordedSide(model, index, before, mergeCount: undo.mergeCount)
    if hasUniqueKeys { undo.note(side) }
    return side
  }

  /// To be called before objects are merged, in memory or by a save: what was recorded is no way back from then on.
  func endSides() {
    guard undo.manager != nil else { return }
    for side in undo.beginMerge() {
      let (model, index) = (side.model, side.index)
      switch model.content(at: index) {
      case .attribute: break
      case .toOne(var target):
        // The object, as in `recordSide`.
        if case .row(let row) = target, isHere(model),
          let found = resolve(row, model, index) as? any PersistentModel
        {
          target = .model(found)
        }
        side.after = .reference(target, list: model.list(at: index))
      case .toMany(let targets):
        // A new object may have a row's number already, whose list it must not load.
        let isNew = !isHere(model) || model.has(_ModelFlags.inserted)
        let members = targets.loaded ?? targets.delta?.applied(to: []) ?? []
        side.after = .members(isNew ? members : self.members(of: model, at: index))
      }
    }
  }

  // MARK: Undo

  /// - Parameter awaited: An object that was deleted when the change was taken back before, and is here again.
  func takeBack(_ side: RecordedSide, awaited: (any PersistentModel)? = nil) {
    let isMerged = side.mergeCount != undo.mergeCount
    if isMerged {
      for insertion in undo.updates(of: side.model, since: side.mergeCount) { insertion.keep(side) }
    }
    let owner = side.model.standIn
    guard isHere(owner) else { return }
    if isMerged { makeCurrent(owner) }
    switch side.before {
    case .reference(let target, let list):
      if isMerged { return takeBackReference(side, of: owner, target, list, awaited != nil) }
      restoreReference(side, of: owner, target, list)
    case .members(let members):
      if isMerged { return takeBackMembers(side, of: owner, awaited) }
      restoreMembers(side, of: owner, members)
    }
  }

  private func restoreReference(
    _ side: RecordedSide, of model: any PersistentModel, _ target: _Target, _ list: Int?
  ) {
    let index = side.index
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
      undo.wait(for: destination, model, index) { $0.takeBack(side, awaited: destination) }
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
      undo.wait(for: gone, model, index) { $0.takeBack(side, awaited: gone) }
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

  // MARK: Undo of what was done before a merge

  private func takeBackReference(
    _ side: RecordedSide, of owner: any PersistentModel, _ target: _Target, _ list: Int?,
    _ hasWaited: Bool
  ) {
    let index = side.index
    undo.forgetWaiting(owner, index)
    let property = entity(of: owner).properties[index]
    let current = destination(of: owner, at: index)
    // What the merge has put there is not what the step did.
    let isLeft =
      current == nil
      ? hasWaited || side.hasLeft(.none) || leavesGone(side)
      : !hasWaited && side.hasLeft(current.map { .model($0) } ?? .none)
    guard isLeft else { return }
    var new: (any PersistentModel)?
    switch target {
    case .none: break
    case .row(let row): new = resolve(row, owner, index) as? any PersistentModel
    case .model(let model):
      new = model.standIn
      if let gone = new, !isHere(gone) {
        undo.wait(for: gone, owner, index) { $0.takeBack(side, awaited: gone) }
        new = nil
      }
    }
    let inverse = inverse(of: property, list: list)
    // It may have come to another object by the merge.
    if let found = new, let inverse, !inverse.isToMany,
      let other = destination(of: found, at: inverse.index), other !== owner
    {
      new = nil
    }
    if new == nil, property.isRequiredReference { return }
    if let new, let inverse, list != nil { return lead(new, inverse, to: owner) }
    setReference(of: owner, index, new)
  }

  /// Whether a change has led a reference to an object whose deletion was saved since.
  private func leavesGone(_ side: RecordedSide) -> Bool {
    guard case .reference(.model(let target), _)? = side.after else { return false }
    return !isHere(target.standIn)
  }

  private func takeBackMembers(
    _ side: RecordedSide, of owner: any PersistentModel, _ awaited: (any PersistentModel)?
  ) {
    let index = side.index
    undo.forgetWaiting(owner, index)
    let property = entity(of: owner).properties[index]
    let current = members(of: owner, at: index)
    var difference = side.difference
    // All else was taken back before. A save clears what leads to a deleted object after it has merged others, so the list may
    // have had the object when the merge began.
    if let returned = awaited?.standIn {
      difference.removed = difference.before.filter { $0 === returned }
      (difference.added, difference.isReordered) = ([], false)
    }
    let update = undo.update(by: side.model)
    let added = difference.added.filter { object in
      // What it was merged into had it as well.
      guard let update, let member = object as? any PersistentModel else { return true }
      return !update.had(member, at: index)
    }
    let leaving = Set(added.map(ObjectIdentifier.init))
    var result = current.filter { !leaving.contains(ObjectIdentifier($0)) }
    let staying = Set(result.map(ObjectIdentifier.init))
    let back = difference.removed.filter { object in
      guard let member = object as? any PersistentModel else { return false }
      guard isHere(member) else {
        undo.wait(for: member, owner, index) { $0.takeBack(side, awaited: member) }
        return false
      }
      return !staying.contains(ObjectIdentifier(member)) && isFree(member, for: owner, property)
    }
    if difference.isReordered || !difference.removed.isEmpty {
      let all = staying.union(back.map(ObjectIdentifier.init))
      let known = Set(difference.before.map(ObjectIdentifier.init))
      result =
        difference.before.filter { all.contains(ObjectIdentifier($0)) }
        + result.filter { !known.contains(ObjectIdentifier($0)) }
    }
    setMembers(of: owner, index, result)
  }

  /// Whether an object may come back into a list: it is not, by the merge, in another one that has it alone.
  private func isFree(
    _ member: any PersistentModel, for owner: any PersistentModel, _ property: PropertyLayout
  ) -> Bool {
    guard let inverse = inverse(of: property), !inverse.isToMany else { return true }
    return destination(of: member, at: inverse.index) == nil
      || refers(member, inverse.index, to: owner, inverse.list)
  }
}
