import Foundation

/// Records the way back from each change of one side of a relationship or of one attribute.
///
/// A change of a relationship is recorded for each side, so that undoing restores each side with its order, and needs
/// no search for an inverse.
///
/// Invariant: a side or an attribute is recorded before it changes. The changes of one side in one step are one, from what
/// was there before the step to what came of it. So are those of what a save changes itself, which is taken back as a
/// whole: what was there before the save is restored where the first change was.
final class UndoRecorder {
  typealias Action = (ObjectGraph) -> Void

  // Unowned without a check: the engine owns this part, and nothing else keeps it.
  unowned(unsafe) let graph: ObjectGraph

  // Looked at several times in each change of a property, which a check of exclusive access would double.
  @exclusivity(unchecked) var manager: UndoManager? {
    didSet {
      graph.updateRecordsUndo()
      forgetActions()
      (taken, changedPlaces, openSides) = ([:], [], [:])
      (stepSides, partSides) = (StepSides(), [:])
      groupCounter = manager.map(UndoGroupCounter.init)
      // What was open is a group of the former manager's.
      (openSteps, hasOwnGroup, appliedReversal) = (0, false, 0)
    }
  }
  /// What undoing could not restore, because the deletion of the other object was saved in the meantime.
  private var waiting = WaitingSides()
  /// Since the last save that changed something itself, or since the one before the state that undo has reached.
  var epoch = UndoEpoch()
  /// What takes back the changes of the save under way, by their part of the save.
  private var taken: [SavePart: [Action]] = [:]
  /// The attributes that the part under way has changed; the first action for each restores what was before.
  private var changedPlaces: Set<Place> = []
  /// The sides that it has changed.
  private var partSides: [Place: RecordedSide] = [:]
  /// The sides that the step under way has changed.
  private var stepSides = StepSides()
  /// The sides of the change under way, of which is not yet known what they become.
  private var openSides: [Place: RecordedSide] = [:]
  private var groupCounter: UndoGroupCounter?
  /// The part of a save for which actions are kept.
  @exclusivity(unchecked) private var part: SavePart?
  /// How many changes of the engine are under way, one inside the other.
  private var openSteps = 0
  /// Whether the open group was opened for them.
  private var hasOwnGroup = false
  /// Grows as each save ends, also one that fails.
  private var saveCount = 0
  /// How often a store has committed a save.
  private var successCount = 0
  /// The undo or redo for which others' commits were applied.
  private var appliedReversal = 0
  /// What undo and redo have made of the sides of objects whose deletion was saved, until these are back.
  var absent = AbsentSides()
  /// How many had when the action was recorded that is performed.
  private(set) var undoneMoment: Int?
  /// How often a store had committed when it was recorded.
  private var undoneSuccess: Int?
  /// Whether that action takes back what the save after this moment changed itself.
  private var undoesSave = false

  init(_ graph: ObjectGraph) { self.graph = graph }

  /// Forgets the manager, and all that was recorded with it.
  func reset() {
    manager = nil
    (epoch, part) = (UndoEpoch(), nil)
  }

  /// What a save changes itself, in this order.
  enum SavePart {
    /// The rules of deletion, applied to what was linked to a deleted object since. They stay if the save fails.
    case rules
    /// New objects with the key of another one. A save that fails takes this back.
    case merge
  }

  /// A property of an object.
  struct Place: Hashable {
    private let owner: ObjectIdentifier
    private let index: Int

    init(_ owner: AnyObject, _ index: Int) {
      (self.owner, self.index) = (ObjectIdentifier(owner), index)
    }
  }

  /// Whether changes are recorded: as steps of the manager, or as what a save changes itself.
  var isRecording: Bool { part != nil || manager?.isUndoRegistrationEnabled == true }

  // MARK: Steps

  /// Registers an action: in the open group or, if the manager opens none itself, in a group of the engine's own.
  ///
  /// Foundation's manager raises an exception where an action is registered outside all groups.
  func record(_ action: @escaping Action) {
    if let part {
      taken[part, default: []].append(action)
      return
    }
    let (moment, success, epoch) = (saveCount, successCount, epoch)
    register { graph in
      graph.undo.perform(asOf: moment, success) {
        graph.undo.returnTo(epoch)
        action(graph)
      }
    }
  }

  /// Registers that undo has come to another epoch, which is no change of an epoch's.
  func recordArrival(_ action: @escaping Action) {
    register(action)
  }

  private func register(_ action: @escaping Action) {
    guard let manager else { return }
    let needsGroup = !manager.groupsByEvent && manager.groupingLevel == 0
    if needsGroup {
      manager.beginUndoGrouping()
      hasOwnGroup = openSteps > 0
    }
    manager.registerUndo(withTarget: graph) { graph in
      graph.undo.applyCommitsOfOthers()
      action(graph)
    }
    if needsGroup, !hasOwnGroup { manager.endUndoGrouping() }
  }

  /// Applies others' commits before the first action of an undo or a redo, which would otherwise take these back with the
  /// step: a side that they have changed is here as it was before.
  private func applyCommitsOfOthers() {
    let reversal = groupCounter?.reversals ?? 0
    guard reversal != appliedReversal else { return }
    appliedReversal = reversal
    // The program's followers are called by the next turn: what they change is no part of the undo.
    graph.commits.applyCommitsOfOthers(notifiesFollowers: false)
  }

  /// Begins a change whose actions are one step of undo, unless a group is open; returns whether to end it.
  func beginStep() -> Bool {
    guard graph.recordsUndo else { return false }
    openSteps += 1
    return true
  }

  /// Ends a change that ``beginStep()`` began, and the group that was opened for it.
  func endStep() {
    openSteps = max(0, openSteps - 1)
    guard openSteps == 0 else { return }
    closeSides()
    guard hasOwnGroup else { return }
    hasOwnGroup = false
    // An observer of the manager may have closed it.
    if let manager, manager.groupingLevel > 0 { manager.endUndoGrouping() }
  }

  // MARK: Sides

  /// Records a change of a side before it is made, as one with the earlier ones of the same step, or of the same part of a
  /// save; returns the record of them all.
  ///
  /// - Parameters:
  ///   - held: What the side holds, which is only asked for where it is not known.
  ///   - isOfRow: Whether it has that from its row, unless it is marked as changed.
  @discardableResult
  func recordChange(
    of model: any PersistentModel, _ index: Int,
    _ held: @autoclosure () -> RecordedSide.Content?, isOfRow: Bool = true
  ) -> RecordedSide? {
    guard isRecording else {
      if manager != nil { endStepSides() }
      return nil
    }
    let place = Place(model, index)
    if part != nil {
      if let side = partSides[place] { return side }
      guard let held = held() else { return nil }
      let side = RecordedSide(model, index, held)
      partSides[place] = side
      record { $0.undo.restore(side) }
      return side
    }
    if !stepSides.isOf(period) { endStepSides() }
    let side: RecordedSide
    if let known = stepSides.side(at: place, in: period) {
      side = known
    } else {
      guard let held = held() else { return nil }
      let base = isOfRow ? base(of: model, at: index) : nil
      side = RecordedSide(model, index, held, base: base)
      // Of an earlier step, whose end an observer has made.
      openSides[place]?.end(with: held)
    }
    openSides[place] = side
    record(side, change: side.countChange())
    // Now, since the action may have opened the group.
    stepSides.add(side, at: place, in: period)
    return side
  }

  /// Makes the changes of sides from now on other ones than those before.
  ///
  /// Invariant: the sides that end know which of their objects the save of a pending deletion takes away.
  func endStepSides() {
    if stepSides.isEmpty { return }
    // Now, and not at each change: a list is looked through once a step, and only while something is deleted.
    if !graph.pending.isEmpty(.deleted) { for side in stepSides.all { side.addCuts() } }
    stepSides = StepSides()
  }

  private func record(_ side: RecordedSide, change: Int) {
    record { graph in
      if side.isRestored(at: change) { graph.undo.restore(side) }
    }
  }

  private var period: StepSides.Period {
    StepSides.Period(
      groups: groupCounter?.value ?? 0, saves: saveCount, epoch: ObjectIdentifier(epoch))
  }

  /// Has each side know what the change that has ended made of it.
  private func closeSides() {
    if openSides.isEmpty { return }
    let sides = openSides.values
    openSides = [:]
    for side in sides { close(side) }
  }

  private func close(_ side: RecordedSide) {
    if let content = content(of: side.model, at: side.index) { side.end(with: content) }
  }

  // MARK: What waits

  /// Keeps what is left to restore of one side of a relationship until the deletion of an object, which the action
  /// holds, is undone.
  func wait(
    for object: AnyObject, _ owner: AnyObject, _ index: Int, _ action: @escaping Action
  ) {
    waiting.add(
      action, for: object, Place(owner, index), moment: undoneMoment ?? saveCount,
      isRedoing: manager?.isRedoing == true)
  }

  /// What waited for an object, in the order in which it was undone.
  ///
  /// - Parameter moment: Leaves what has waited since before.
  func takeWaiting(for object: AnyObject, since moment: Int = 0) -> [Action] {
    waiting.take(for: object, since: moment)
  }

  /// Forgets what waits for one side of a relationship if undo has gone on to what that held before.
  func forgetWaiting(_ owner: AnyObject, _ index: Int) {
    // A redo only comes to later states, from which undo comes back to what waits.
    if waiting.isEmpty || manager?.isRedoing == true { return }
    // What waits since the save itself is what the side held before it, and stays.
    let reached = undoneMoment.map { undoesSave ? $0 + 1 : $0 }
    waiting.forget(Place(owner, index), since: reached ?? saveCount)
  }

  /// Runs a body whose changes are recorded by nothing.
  func withoutRegistration(_ body: () -> Void) {
    endStepSides()
    manager?.disableUndoRegistration()
    defer { manager?.enableUndoRegistration() }
    body()
  }

  /// Forgets what undo has made of an object's sides while it was not here, once the program inserts it again itself.
  func forgetAbsent(_ model: any PersistentModel) {
    if undoneMoment == nil { absent.forget(model) }
  }

  // MARK: What a save changes itself

  /// Keeps what is recorded until `endPart()` as the way back over what the save changes itself.
  ///
  /// It is no step: the program did not make it, and the next undo would then take back nothing that it did. What
  /// observers change meanwhile belongs to it.
  func begin(_ part: SavePart) {
    // While what the save deletes is still here.
    endStepSides()
    // While registration is off, nothing leads back over a deletion, so what its rules cut must stay cut. A merge
    // concerns all steps from before, and turns registration off itself.
    guard let manager, part == .merge || manager.isUndoRegistrationEnabled else { return }
    self.part = part
  }

  /// Ends what ``begin(_:)`` began: the following changes are steps again.
  func endPart() {
    for side in partSides.values { close(side) }
    (part, changedPlaces, partSides) = (nil, [], [:])
  }

  /// Whether a change of an attribute is to be recorded: of what a save changes itself, only the first of each place.
  private func isFirstChange(of model: any PersistentModel, _ index: Int) -> Bool {
    part == nil || changedPlaces.insert(Place(model, index)).inserted
  }

  /// Makes what a save that has succeeded changed itself the way back to an earlier epoch.
  func endSave() {
    endEpoch((taken[.rules] ?? []) + (taken[.merge] ?? []))
    saveCount += 1
  }

  /// Notes that a store, of perhaps several of a save, has committed.
  func noteCommit() { successCount += 1 }

  /// Forgets the merge of an attempt to save that has failed, and was taken back.
  func forgetMerge() { taken[.merge] = nil }

  /// Makes what the rules of deletion have changed in a save that has failed for good, where it stays, the way back to
  /// an earlier epoch.
  ///
  /// Invariant: what is recorded from now on is later than what waits since this save, which has cleared references
  /// without an inverse before it failed.
  func endFailedSave() {
    endEpoch(taken[.rules] ?? [])
    saveCount += 1
  }

  private func endEpoch(_ actions: [Action]) {
    taken = [:]
    // Each recorded action holds its epoch. If none holds the current one, nothing can return to it.
    guard !actions.isEmpty, !isKnownUniquelyReferenced(&epoch) else { return }
    epoch = UndoEpoch(actions, after: epoch, moment: saveCount)
  }

  /// Empties the manager's stacks, with the program's own actions, and forgets what waits.
  func removeAllActions() {
    forgetActions()
    // The old epoch's actions may hold objects, and no recorded action returns to it any more.
    epoch = UndoEpoch()
    manager?.removeAllActions()
  }

  private func forgetActions() { (waiting, absent) = (WaitingSides(), AbsentSides()) }

  /// Ends what would be a run loop's turn.
  func closeGroup() {
    #if canImport(Darwin)
      // Foundation's own manager closes the groups of a run loop's turn.
    #else
      manager?.closeEventGroup()
    #endif
  }
}

extension UndoRecorder {
  /// Performs recorded actions as of the number of saves that had succeeded when they were recorded.
  ///
  /// - Parameters:
  ///   - success: How often a store had committed.
  ///   - isOfSave: Whether they take back what the save after this moment changed itself.
  func perform(
    asOf moment: Int, _ success: Int? = nil, isOfSave: Bool = false, _ actions: () -> Void
  ) {
    // Nested: on the way to an earlier epoch, what a save changed is taken back as of that save.
    let outer = (undoneMoment, undoneSuccess, undoesSave)
    (undoneMoment, undoneSuccess, undoesSave) = (moment, success, isOfSave)
    // One change, whatever an observer changes meanwhile.
    openSteps += 1
    actions()
    endStep()
    (undoneMoment, undoneSuccess, undoesSave) = outer
  }

  // MARK: Attributes

  /// Records an attribute before it changes. Costs a copy of the value.
  func willChange(_ model: any PersistentModel, at index: Int) {
    // The change of a merged object is recorded as that of the object which stands for it.
    guard isRecording, graph.isHere(model), !model.has(_ModelFlags.redirected),
      case .attribute = model.content(at: index), isFirstChange(of: model, index),
      let copy = model.copySlot(at: index)
    else { return }
    let base = base(of: model, at: index)
    record { $0.undo.restoreAttribute(copy, of: model, at: index, base: base) }
  }

  /// Restores an attribute, of the object that stands for a merged one if it was merged since.
  ///
  /// - Parameter base: As in ``RecordedSide/base``.
  func restoreAttribute(
    _ copy: Any, of original: any PersistentModel, at index: Int, base: Int? = nil
  ) {
    let model = original.standIn
    if graph.isHere(model) {
      graph.reader.makeCurrent(model)
      willChange(model, at: index)
    } else if let current = model.copySlot(at: index) {
      // Changed while it was deleted: the step stays one that can be redone.
      record { $0.undo.restoreAttribute(current, of: model, at: index) }
    }
    graph.notifying(model, index) { model.restoreSlot(copy, at: index) }
    guard graph.isHere(model) else { return }
    graph.markChanged(model, at: index)
    if model === original, isUnsaved(base, of: model) { graph.returnToRow(model, at: index) }
  }

  /// Whether no save has written what is undone.
  var isUnsavedStep: Bool { undoneSuccess == successCount }

  /// What ``RecordedSide/base`` is of a change that is about to be made.
  private func base(of model: any PersistentModel, at index: Int) -> Int? {
    let state = model._$statePointer
    guard part == nil, state.pointee.rowID > 0, !state.pointee.changes.contains(index) else {
      return nil
    }
    return successCount
  }

  /// Whether undo of a first change leads back to what the row has: nothing was saved since.
  func isUnsaved(_ base: Int?, of model: any PersistentModel) -> Bool {
    base == successCount && graph.isHere(model) && !model.has(_ModelFlags.inserted)
  }
}
