import Foundation

/// Keeps the way back from each change of one side of a relationship or of one attribute.
///
/// A change of a relationship is kept for each side, so that undoing restores each side with its order, and needs no
/// search for an inverse.
struct UndoRecorder {
  var manager: UndoManager? {
    didSet {
      forgetActions()
      (openSteps, hasOwnGroup) = (0, false)
    }
  }
  /// What undoing could not restore, since the deletion of the other object was saved in the meantime. If undo
  /// continues to that earlier deletion, it restores this, too.
  private var waiting: [ObjectIdentifier: [Wait]] = [:]
  /// The recorded insertions of each object: several if it was deleted and came back by undo.
  private var insertions: [ObjectIdentifier: [WeakInsertion]] = [:]
  /// The number of objects at which those are forgotten whose insertions are not in the stack any more.
  private var insertionLimit = UndoRecorder.smallestLimit
  /// The insertions that the save under way makes updates.
  private var updating: [RecordedInsertion] = []
  /// The insertions that became updates of an object, or of the row that the inserted object has since then, by that
  /// object, in the order in which they were made.
  private var updates: [ObjectIdentifier: [WeakInsertion]] = [:]
  /// The latest recorded change of each side of a relationship.
  private var latestSides: [SidePlace: WeakSide] = [:]
  /// The number of sides at which those are forgotten that are not in the stack any more.
  private var sideLimit = UndoRecorder.smallestLimit
  /// The number of updated objects at which those are forgotten whose insertions are not in the stack any more.
  private var updateLimit = UndoRecorder.smallestLimit
  private static let smallestLimit = 1_000
  /// How often objects have been merged.
  private(set) var mergeCount = 0
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

  private struct SidePlace: Hashable {
    let owner: ObjectIdentifier
    let index: Int
  }

  private struct WeakSide {
    weak var side: RecordedSide?
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

  /// Notes an insertion whose step can still learn what a save overwrites.
  mutating func note(_ insertion: RecordedInsertion) {
    let id = ObjectIdentifier(insertion.model)
    insertions[id, default: []].removeAll { $0.insertion == nil }
    insertions[id, default: []].append(WeakInsertion(insertion: insertion))
    guard insertions.count > insertionLimit else { return }
    insertions = insertions.filter { $1.contains { $0.insertion != nil } }
    insertionLimit = max(Self.smallestLimit, insertions.count * 2)
  }

  /// Whether the insertion of an object may be undone.
  func hasInsertion(of model: AnyObject) -> Bool {
    insertions[ObjectIdentifier(model)]?.contains { $0.insertion != nil } == true
  }

  /// Keeps what the insertion of an object overwrites by the save that is under way.
  mutating func keep(_ overwritten: RowCopy, for model: AnyObject) {
    for case let insertion? in (insertions[ObjectIdentifier(model)] ?? []).map(\.insertion) {
      insertion.found = (overwritten, mergeCount)
      updating.append(insertion)
    }
  }

  /// To be called after a save, which gives what was inserted its row.
  mutating func endSave(succeeded: Bool) {
    for insertion in updating { insertion.endSave(succeeded: succeeded) }
    if succeeded {
      // Objects were merged in the order of their last insertions.
      let last = Dictionary(
        updating.map { (ObjectIdentifier($0.model), $0.number) }, uniquingKeysWith: max)
      func place(_ insertion: RecordedInsertion) -> Int64 {
        last[ObjectIdentifier(insertion.model)] ?? 0
      }
      for insertion in updating.sorted(by: { place($0) < place($1) }) { noteUpdate(insertion) }
      if updates.count > updateLimit {
        updates = updates.filter { $1.contains { $0.insertion != nil } }
        updateLimit = max(Self.smallestLimit, updates.count * 2)
      }
      saveCount += 1
    }
    updating = []
  }

  private mutating func noteUpdate(_ insertion: RecordedInsertion) {
    let stays = ObjectIdentifier(insertion.model.standIn)
    let own = ObjectIdentifier(insertion.model)
    // What others were merged into may be merged itself.
    let earlier = own == stays ? [] : updates.removeValue(forKey: own) ?? []
    updates[stays, default: []].removeAll { $0.insertion == nil || $0.insertion === insertion }
    updates[stays, default: []] += earlier + [WeakInsertion(insertion: insertion)]
  }

  /// The step of the insertion by which an object became the update of another one, or of a row.
  func update(by model: any PersistentModel) -> RecordedInsertion? {
    updates[ObjectIdentifier(model.standIn)]?.last { $0.insertion?.model === model }?.insertion
  }

  /// The insertions that have updated an object, or the one that stands for it, by a merge after a number of others.
  func updates(of model: any PersistentModel, since mergeCount: Int) -> [RecordedInsertion] {
    if updates.isEmpty { return [] }
    let stays = model.standIn
    let all = (updates[ObjectIdentifier(stays)] ?? []).compactMap(\.insertion)
      .filter { $0.merge > mergeCount }
    if let own = all.lastIndex(where: { $0.model === model }) { return Array(all[(own + 1)...]) }
    return stays === model ? all : []
  }

  // MARK: Sides

  /// Notes a change of one side, before which an earlier one had the side as it is now.
  mutating func note(_ side: RecordedSide) {
    let place = SidePlace(owner: ObjectIdentifier(side.model), index: side.index)
    latestSides[place]?.side?.after = side.before
    latestSides[place] = WeakSide(side: side)
    guard latestSides.count > sideLimit else { return }
    latestSides = latestSides.filter { $1.side != nil }
    sideLimit = max(Self.smallestLimit, latestSides.count * 2)
  }

  /// Begins a merge of objects: what is recorded until then is not what the context was afterwards.
  ///
  /// - Returns: The changes after which their sides are as they are now.
  mutating func beginMerge() -> [RecordedSide] {
    let sides = latestSides.values.compactMap(\.side)
    latestSides = [:]
    mergeCount += 1
    return sides
  }

  mutating func removeAllActions() {
    forgetActions()
    manager?.removeAllActions()
  }

  private mutating func forgetActions() {
    (waiting, insertions, updates, latestSides) = ([:], [:], [:], [:])
    updating = []
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
    // The change of a merged object is recorded as that of the object which stands for it.
    guard undo.isRecording, isHere(model), !model.has(_ModelFlags.redirected),
      case .attribute = model.content(at: index), let copy = model.copySlot(at: index)
    else { return }
    let mergeCount = undo.mergeCount
    undo.record(self) { graph in
      if mergeCount != graph.undo.mergeCount {
        for insertion in graph.undo.updates(of: model, since: mergeCount) {
          insertion.keep(copy, at: index)
        }
      }
      graph.restoreAttribute(copy, of: model, at: index)
    }
  }

  func restoreAttribute(_ copy: Any, of model: any PersistentModel, at index: Int) {
    let model = model.standIn
    willChange(model, at: index)
    notifying(model, index) { model.restoreSlot(copy, at: index) }
    if isHere(model) { markChanged(model, at: index) }
  }

  // MARK: Objects

  func recordInsertion(of model: any PersistentModel) {
    guard undo.isRecording else { return }
    let insertion = RecordedInsertion(of: model)
    undo.note(insertion)
    undo.record(self) { $0.takeBack(insertion) }
  }

  func recordDeletion(of model: any PersistentModel) {
    guard undo.isRecording else { return }
    // What waits is for an older deletion, and did not exist before this one.
    _ = undo.takeWaiting(for: model)
    undo.record(self) { $0.undoDeletion(of: model) }
  }

  private func takeBack(_ insertion: RecordedInsertion) {
    let model = insertion.model
    // It became an update of a row, which has its object.
    if let row = insertion.overwritten { return restore(row, of: model.standIn) }
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

  private func undoDeletion(of model: any PersistentModel) {
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
