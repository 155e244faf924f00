import Foundation

/// Keeps the way back from each change of one side of a relationship or of one attribute.
///
/// A change of a relationship is kept for each side, so that undoing restores each side with its order, and needs no
/// search for an inverse.
struct UndoRecorder {
  var manager: UndoManager? {
    didSet { (waiting, insertions, openSteps, hasOwnGroup) = ([:], [:], 0, false) }
  }
  /// What undoing could not restore, since the deletion of the other object was saved in the meantime. If undo
  /// continues to that earlier deletion, it restores this, too.
  private var waiting: [ObjectIdentifier: [Wait]] = [:]
  /// The recorded insertions that were not saved yet.
  private var insertions: [ObjectIdentifier: WeakInsertion] = [:]
  /// How many changes of the engine are under way, one inside the other.
  private var openSteps = 0
  /// Whether the open group was opened for them.
  private var hasOwnGroup = false
  /// How many saves have succeeded.
  private var saveCount = 0
  /// How many had when the action was recorded that is performed.
  private var undoneMoment: Int?

  /// One side of a relationship that waits for an object.
  private struct Wait {
    let owner: ObjectIdentifier
    let index: Int
    /// After how many saves the side was as the action makes it.
    let moment: Int
    let action: (ObjectGraph) -> Void
  }

  private struct WeakInsertion {
    weak var insertion: RecordedInsertion?
  }

  var isRecording: Bool { manager?.isUndoRegistrationEnabled == true }

  // MARK: Steps

  /// Registers an action: in the open group or, if the manager opens none itself, in a group of the engine's own.
  ///
  /// Foundation's manager raises an exception where an action is registered outside all groups.
  mutating func record(_ graph: ObjectGraph, _ action: @escaping (ObjectGraph) -> Void) {
    guard let manager else { return }
    let needsGroup = !manager.groupsByEvent && manager.groupingLevel == 0
    if needsGroup {
      manager.beginUndoGrouping()
      hasOwnGroup = openSteps > 0
    }
    let moment = saveCount
    manager.registerUndo(withTarget: graph) { graph in
      let outer = graph.undo.undoneMoment
      graph.undo.undoneMoment = moment
      action(graph)
      graph.undo.undoneMoment = outer
    }
    if needsGroup, !hasOwnGroup { manager.endUndoGrouping() }
  }

  /// Begins a change whose actions are one step if no group is open.
  mutating func beginStep() { openSteps += 1 }

  mutating func endStep() {
    openSteps = max(0, openSteps - 1)
    guard openSteps == 0, hasOwnGroup else { return }
    hasOwnGroup = false
    // An observer of the manager may have closed it.
    if let manager, manager.groupingLevel > 0 { manager.endUndoGrouping() }
  }

  // MARK: What waits

  /// Keeps what is left to restore of one side of a relationship until the deletion of an object, which the action
  /// holds, is undone.
  mutating func wait(
    for object: AnyObject, _ owner: AnyObject, _ index: Int,
    _ action: @escaping (ObjectGraph) -> Void
  ) {
    let owner = ObjectIdentifier(owner)
    waiting[ObjectIdentifier(object), default: []].removeAll {
      $0.owner == owner && $0.index == index
    }
    waiting[ObjectIdentifier(object), default: []].append(
      Wait(owner: owner, index: index, moment: undoneMoment ?? saveCount, action: action))
  }

  /// What waited for an object, in the order in which it was undone.
  mutating func takeWaiting(for object: AnyObject) -> [(ObjectGraph) -> Void] {
    (waiting.removeValue(forKey: ObjectIdentifier(object)) ?? []).map(\.action)
  }

  /// Forgets what waits for one side of a relationship if undo has gone on to what that held before.
  mutating func forgetWaiting(_ owner: AnyObject, _ index: Int) {
    if waiting.isEmpty { return }
    let (owner, moment) = (ObjectIdentifier(owner), undoneMoment ?? saveCount)
    for object in waiting.keys {
      // What was recorded after the save that cleared the side is later than what waits.
      waiting[object]?.removeAll {
        $0.owner == owner && $0.index == index && $0.moment >= moment
      }
    }
  }

  // MARK: Insertions

  /// Notes an insertion whose step can still learn what its save overwrites.
  mutating func note(_ insertion: RecordedInsertion, of model: AnyObject) {
    insertions[ObjectIdentifier(model)] = WeakInsertion(insertion: insertion)
  }

  /// The step of an object's insertion; nil if it was not recorded, or is not in the stack any more.
  func insertion(of model: AnyObject) -> RecordedInsertion? {
    insertions[ObjectIdentifier(model)]?.insertion
  }

  /// To be called after a save, which gives what was inserted its row.
  mutating func endSave(succeeded: Bool) {
    for entry in insertions.values { entry.insertion?.endSave(succeeded: succeeded) }
    if succeeded {
      insertions = [:]
      saveCount += 1
    }
  }

  mutating func removeAllActions() {
    (waiting, insertions) = ([:], [:])
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
  /// Begins a change whose actions are one step of undo, unless a group is open; returns whether to end it.
  func beginStep() -> Bool {
    guard recordsUndo else { return false }
    undo.beginStep()
    return true
  }

  // MARK: Attributes

  func willChange(_ model: any PersistentModel, at index: Int) {
    guard undo.isRecording, isHere(model), case .attribute = model.content(at: index),
      let copy = model.copySlot(at: index)
    else { return }
    undo.record(self) { $0.restoreAttribute(copy, of: model, at: index) }
  }

  func restoreAttribute(_ copy: Any, of model: any PersistentModel, at index: Int) {
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

  func restoreReference(
    of model: any PersistentModel, at index: Int, to target: _Target, _ list: Int?
  ) {
    let model = model.successor ?? model
    guard isHere(model) else { return }
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
      undo.wait(for: destination, model, index) {
        $0.restoreReference(of: model, at: index, to: target, list)
      }
      found = .none
    }
    notifying(model, index) {
      model.setContent(.toOne(found), at: index)
      model.setList(list, at: index)
    }
    markChanged(model, at: index)
  }

  func restoreMembers(
    of model: any PersistentModel, at index: Int, to members: [AnyObject]
  ) {
    let model = model.successor ?? model
    guard isHere(model) else { return }
    let before = self.members(of: model, at: index)
    recordMembers(of: model, at: index, before)
    undo.forgetWaiting(model, index)
    // Without those whose deletion was saved in the meantime.
    let all = members
    let members = all.filter { ($0 as? any PersistentModel).map(isHere) ?? false }
    for case let gone as any PersistentModel in all where !isHere(gone) {
      undo.wait(for: gone, model, index) { $0.restoreMembers(of: model, at: index, to: all) }
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
    let insertion = RecordedInsertion()
    undo.note(insertion, of: model)
    undo.record(self) { $0.takeBack(insertion, of: model) }
  }

  func recordDeletion(of model: any PersistentModel) {
    guard undo.isRecording else { return }
    // What waits is for an older deletion, and did not exist before this one.
    _ = undo.takeWaiting(for: model)
    undo.record(self) { $0.undoDeletion(of: model) }
  }

  private func takeBack(_ insertion: RecordedInsertion, of model: any PersistentModel) {
    // It became an update of a row, which has its object.
    if let row = insertion.overwritten { return restore(row, of: model.successor ?? model) }
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
    // What a save has cut that was refused afterwards.
    for action in undo.takeWaiting(for: model) { action(self) }
    didChangePending()
  }
}
