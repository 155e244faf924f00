import Foundation

/// Keeps the way back from each change of one side of a relationship or of one attribute.
///
/// A change of a relationship is kept for each side, so that undoing restores each side with its order, and needs no
/// search for an inverse.
struct UndoRecorder {
  typealias Action = (ObjectGraph) -> Void

  var manager: UndoManager? {
    didSet {
      forgetActions()
      (openSteps, hasOwnGroup) = (0, false)
    }
  }
  /// What undoing could not restore, since the deletion of the other object was saved in the meantime. If undo
  /// continues to that earlier deletion, it restores this, too.
  private var waiting: [ObjectIdentifier: [Wait]] = [:]
  /// Since the last merge, or since the one before the state that undo has reached.
  var epoch = MergeEpoch()
  /// What takes back the merge of the save under way.
  private var merge: [Action]?
  /// What the merge has changed; its first action for each place restores what was before it.
  private var mergedPlaces: Set<Place> = []
  /// Whether actions are kept for the merge.
  private var isMerging = false
  /// How many changes of the engine are under way, one inside the other.
  private var openSteps = 0
  /// Whether the open group was opened for them.
  private var hasOwnGroup = false
  /// How many saves have succeeded.
  private var saveCount = 0
  /// How many had when the action was recorded that is performed.
  fileprivate var undoneMoment: Int?

  /// A property of an object.
  private struct Place: Hashable {
    let owner: ObjectIdentifier
    let index: Int
  }

  /// One side of a relationship that waits for an object.
  private struct Wait {
    let owner: ObjectIdentifier
    let index: Int
    /// After how many saves the side was as the action makes it.
    let moment: Int
    let action: Action
  }

  var isRecording: Bool { isMerging || manager?.isUndoRegistrationEnabled == true }

  // MARK: Steps

  /// Registers an action: in the open group or, if the manager opens none itself, in a group of the engine's own.
  ///
  /// Foundation's manager raises an exception where an action is registered outside all groups.
  mutating func record(_ graph: ObjectGraph, _ action: @escaping Action) {
    if isMerging {
      merge?.append(action)
      return
    }
    let (moment, epoch) = (saveCount, epoch)
    register(graph) { graph in
      graph.perform(asOf: moment) {
        graph.returnTo(epoch)
        action(graph)
      }
    }
  }

  /// Registers that undo has come to another epoch, which is no change of an epoch's.
  mutating func recordArrival(_ graph: ObjectGraph, _ action: @escaping Action) {
    register(graph, action)
  }

  private mutating func register(_ graph: ObjectGraph, _ action: @escaping Action) {
    guard let manager else { return }
    let needsGroup = !manager.groupsByEvent && manager.groupingLevel == 0
    if needsGroup {
      manager.beginUndoGrouping()
      hasOwnGroup = openSteps > 0
    }
    manager.registerUndo(withTarget: graph, handler: action)
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
    for object: AnyObject, _ owner: AnyObject, _ index: Int, _ action: @escaping Action
  ) {
    let (object, owner) = (ObjectIdentifier(object), ObjectIdentifier(owner))
    var waits = waiting[object] ?? []
    if let earlier = waits.firstIndex(where: { $0.owner == owner && $0.index == index }) {
      // A redo comes to later states, with objects whose insertion undo takes back before it comes to the deletion.
      if manager?.isRedoing == true { return }
      waits.remove(at: earlier)
    }
    waits.append(
      Wait(owner: owner, index: index, moment: undoneMoment ?? saveCount, action: action))
    waiting[object] = waits
  }

  /// What waited for an object, in the order in which it was undone.
  mutating func takeWaiting(for object: AnyObject) -> [Action] {
    (waiting.removeValue(forKey: ObjectIdentifier(object)) ?? []).map(\.action)
  }

  /// Forgets what waits for one side of a relationship if undo has gone on to what that held before.
  mutating func forgetWaiting(_ owner: AnyObject, _ index: Int) {
    // A redo only comes to later states, from which undo comes back to what waits.
    if waiting.isEmpty || manager?.isRedoing == true { return }
    let (owner, moment) = (ObjectIdentifier(owner), undoneMoment ?? saveCount)
    for object in waiting.keys {
      // What was recorded after the save that cleared the side is later than what waits.
      waiting[object]?.removeAll {
        $0.owner == owner && $0.index == index && $0.moment >= moment
      }
    }
  }

  // MARK: Merges

  /// Keeps what is recorded until `endMerge()` as the way back over a merge of objects, not as a step.
  mutating func beginMerge() {
    guard manager != nil else { return }
    (merge, mergedPlaces, isMerging) = ([], [], true)
  }

  mutating func endMerge() { isMerging = false }

  /// Whether a change is to be recorded: of a merge, which is taken back as a whole, only the first of each place.
  mutating func isFirstChange(of model: any PersistentModel, _ index: Int) -> Bool {
    guard isMerging else { return true }
    return mergedPlaces.insert(Place(owner: ObjectIdentifier(model), index: index)).inserted
  }

  /// Makes the merge of a save that has succeeded the way back to an earlier epoch.
  mutating func endSave(succeeded: Bool) {
    defer { (merge, mergedPlaces) = (nil, []) }
    guard succeeded else { return }
    saveCount += 1
    // Nothing leads back to an epoch that has no actions.
    guard let merge, !merge.isEmpty, !isKnownUniquelyReferenced(&epoch) else { return }
    epoch = MergeEpoch(merge, after: epoch, moment: saveCount)
  }

  mutating func removeAllActions() {
    forgetActions()
    manager?.removeAllActions()
  }

  private mutating func forgetActions() { waiting = [:] }

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

  /// Performs recorded actions as of the number of saves that had succeeded when they were recorded.
  func perform(asOf moment: Int, _ actions: () -> Void) {
    let outer = undo.undoneMoment
    undo.undoneMoment = moment
    actions()
    undo.undoneMoment = outer
  }

  // MARK: Attributes

  func willChange(_ model: any PersistentModel, at index: Int) {
    // The change of a merged object is recorded as that of the object which stands for it.
    guard undo.isRecording, isHere(model), !model.has(_ModelFlags.redirected),
      case .attribute = model.content(at: index), undo.isFirstChange(of: model, index),
      let copy = model.copySlot(at: index)
    else { return }
    undo.record(self) { $0.restoreAttribute(copy, of: model, at: index) }
  }

  func restoreAttribute(_ copy: Any, of model: any PersistentModel, at index: Int) {
    let model = model.standIn
    if isHere(model) {
      makeCurrent(model)
      willChange(model, at: index)
    } else if let current = model.copySlot(at: index) {
      // Changed while it was deleted: the step stays one that can be redone.
      undo.record(self) { $0.restoreAttribute(current, of: model, at: index) }
    }
    notifying(model, index) { model.restoreSlot(copy, at: index) }
    if isHere(model) { markChanged(model, at: index) }
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
    // The object that stands for a merged one was not inserted by this.
    guard isHere(model), !model.has(_ModelFlags.redirected) else { return }
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

  func undoDeletion(of model: any PersistentModel) {
    let model = model.standIn
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
