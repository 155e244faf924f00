import Foundation

/// Records the way back from each change of one side of a relationship or of one attribute.
///
/// A change of a relationship is recorded for each side, so that undoing restores each side with its order, and needs
/// no search for an inverse.
///
/// Invariant: a side or an attribute is recorded before it changes. Of what a save changes itself, which is taken back as
/// a whole, only the first change of each is recorded, which has what was there before the save.
final class UndoRecorder {
  typealias Action = (ObjectGraph) -> Void

  // Unowned without a check: the engine owns this part, and nothing else keeps it.
  unowned(unsafe) let graph: ObjectGraph

  // Looked at several times in each change of a property, which a check of exclusive access would double.
  @exclusivity(unchecked) var manager: UndoManager? {
    didSet {
      graph.updateRecordsUndo()
      forgetActions()
      (taken, changedPlaces) = ([:], [:])
      // What was open is a group of the former manager's.
      (openSteps, hasOwnGroup) = (0, false)
    }
  }
  /// What undoing could not restore, because the deletion of the other object was saved in the meantime, by that
  /// object. If undo goes on to the deletion itself, it restores this, too.
  ///
  /// The keys are addresses, which stay unique: each action holds its object.
  private var waiting: [ObjectIdentifier: [Wait]] = [:]
  /// Since the last save that changed something itself, or since the one before the state that undo has reached.
  var epoch = UndoEpoch()
  /// What takes back the changes of the save under way, by their part of the save.
  private var taken: [SavePart: [Action]] = [:]
  /// What these have changed; the first action for each place restores what was before the save.
  private var changedPlaces: [SavePart: Set<Place>] = [:]
  /// The part of a save for which actions are kept.
  @exclusivity(unchecked) private var part: SavePart?
  /// How many changes of the engine are under way, one inside the other.
  private var openSteps = 0
  /// Whether the open group was opened for them.
  private var hasOwnGroup = false
  /// Grows as each save ends, also one that fails.
  private var saveCount = 0
  /// What undo and redo have made of the sides of objects whose deletion was saved, until these are back.
  private var absent: [Place: (model: any PersistentModel, content: RecordedSide.Content)] = [:]
  /// How many had when the action was recorded that is performed.
  private var undoneMoment: Int?
  /// Whether that action takes back what the save after this moment changed itself.
  private var undoesSave = false

  init(_ graph: ObjectGraph) { self.graph = graph }

  /// Forgets the manager, and all that was recorded with it.
  func reset() {
    manager = nil
    (epoch, taken, changedPlaces, part) = (UndoEpoch(), [:], [:], nil)
  }

  /// What a save changes itself, in this order.
  enum SavePart {
    /// The rules of deletion, applied to what was linked to a deleted object since. They stay if the save fails.
    case rules
    /// New objects with the key of another one. A save that fails takes this back.
    case merge
  }

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
    let (moment, epoch) = (saveCount, epoch)
    register { graph in
      graph.undo.perform(asOf: moment) {
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
    manager.registerUndo(withTarget: graph, handler: action)
    if needsGroup, !hasOwnGroup { manager.endUndoGrouping() }
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
    guard openSteps == 0, hasOwnGroup else { return }
    hasOwnGroup = false
    // An observer of the manager may have closed it.
    if let manager, manager.groupingLevel > 0 { manager.endUndoGrouping() }
  }

  // MARK: What waits

  /// Keeps what is left to restore of one side of a relationship until the deletion of an object, which the action
  /// holds, is undone.
  func wait(
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
  func takeWaiting(for object: AnyObject) -> [Action] {
    (waiting.removeValue(forKey: ObjectIdentifier(object)) ?? []).map(\.action)
  }

  /// Forgets what waits for one side of a relationship if undo has gone on to what that held before.
  func forgetWaiting(_ owner: AnyObject, _ index: Int) {
    // A redo only comes to later states, from which undo comes back to what waits.
    if waiting.isEmpty || manager?.isRedoing == true { return }
    // What waits since the save itself is what the side held before it, and stays.
    let reached = undoneMoment.map { undoesSave ? $0 + 1 : $0 }
    let (owner, moment) = (ObjectIdentifier(owner), reached ?? saveCount)
    for object in waiting.keys {
      // What was recorded after the save that cleared the side is later than what waits.
      waiting[object]?.removeAll {
        $0.owner == owner && $0.index == index && $0.moment >= moment
      }
    }
  }

  // MARK: What a save changes itself

  /// Keeps what is recorded until `endPart()` as the way back over what the save changes itself.
  ///
  /// It is no step: the program did not make it, and the next undo would then take back nothing that it did. What
  /// observers change meanwhile belongs to it.
  func begin(_ part: SavePart) {
    // While registration is off, nothing leads back over a deletion, so what its rules cut must stay cut. A merge
    // concerns all steps from before, and turns registration off itself.
    guard let manager, part == .merge || manager.isUndoRegistrationEnabled else { return }
    self.part = part
  }

  /// Ends what ``begin(_:)`` began: the following changes are steps again.
  func endPart() { part = nil }

  /// Whether a change is to be recorded: of what a save changes itself, only the first of each place.
  func isFirstChange(of model: any PersistentModel, _ index: Int) -> Bool {
    guard let part else { return true }
    let place = Place(owner: ObjectIdentifier(model), index: index)
    if part == .merge, changedPlaces[.rules]?.contains(place) == true { return false }
    return changedPlaces[part, default: []].insert(place).inserted
  }

  /// Makes what a save that has succeeded changed itself the way back to an earlier epoch.
  func endSave() {
    endEpoch((taken[.rules] ?? []) + (taken[.merge] ?? []))
    saveCount += 1
  }

  /// Forgets the merge of an attempt to save that has failed, and was taken back.
  func forgetMerge() { (taken[.merge], changedPlaces[.merge]) = (nil, nil) }

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
    (taken, changedPlaces) = ([:], [:])
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

  private func forgetActions() { (waiting, absent) = ([:], [:]) }

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
  /// - Parameter isOfSave: Whether they take back what the save after this moment changed itself.
  func perform(asOf moment: Int, isOfSave: Bool = false, _ actions: () -> Void) {
    // Nested: on the way to an earlier epoch, what a save changed is taken back as of that save.
    let outer = (undoneMoment, undoesSave)
    (undoneMoment, undoesSave) = (moment, isOfSave)
    actions()
    (undoneMoment, undoesSave) = outer
  }

  // MARK: Attributes

  /// Records an attribute before it changes. Costs a copy of the value.
  func willChange(_ model: any PersistentModel, at index: Int) {
    // The change of a merged object is recorded as that of the object which stands for it.
    guard isRecording, graph.isHere(model), !model.has(_ModelFlags.redirected),
      case .attribute = model.content(at: index), isFirstChange(of: model, index),
      let copy = model.copySlot(at: index)
    else { return }
    record { $0.undo.restoreAttribute(copy, of: model, at: index) }
  }

  /// Restores an attribute, of the object that stands for a merged one if it was merged since.
  func restoreAttribute(_ copy: Any, of model: any PersistentModel, at index: Int) {
    let model = model.standIn
    if graph.isHere(model) {
      graph.reader.makeCurrent(model)
      willChange(model, at: index)
    } else if let current = model.copySlot(at: index) {
      // Changed while it was deleted: the step stays one that can be redone.
      record { $0.undo.restoreAttribute(current, of: model, at: index) }
    }
    graph.notifying(model, index) { model.restoreSlot(copy, at: index) }
    if graph.isHere(model) { graph.markChanged(model, at: index) }
  }

  // MARK: Objects

  /// Records the way back from an insertion.
  func recordInsertion(of model: any PersistentModel) {
    guard isRecording else { return }
    record { $0.undo.undoInsertion(of: model) }
  }

  /// Records the way back from a deletion.
  func recordDeletion(of model: any PersistentModel) {
    guard isRecording else { return }
    // What waits is for an older deletion, and did not exist before this one.
    _ = takeWaiting(for: model)
    record { $0.undo.undoDeletion(of: model) }
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
    record { $0.editor.insert(model) }
    graph.leave(model)
    graph.didChangePending()
  }

  /// Undoes a deletion: one that is pending is cancelled, after a save the object is inserted again, as a new row.
  /// Then what waited for it is restored.
  func undoDeletion(of model: any PersistentModel) {
    let model = model.standIn
    guard graph.isHere(model) else {
      graph.editor.insert(model)
      for action in takeWaiting(for: model) { action(graph) }
      // The actions of the same step restore the sides.
      if !absent.isEmpty { absent = absent.filter { $0.value.model !== model } }
      return
    }
    guard model.has(_ModelFlags.deleted) else { return }
    record { DeleteRules($0).delete(model) }
    graph.pending.remove(model, from: .deleted)
    // What a save has cut that was refused afterwards.
    for action in takeWaiting(for: model) { action(graph) }
    graph.didChangePending()
  }
}

// MARK: - Sides of relationships

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

extension UndoRecorder {
  // MARK: Recording

  /// Keeps what one side of a relationship holds, or held.
  func recordSide(of model: any PersistentModel, at index: Int, _ held: _SlotContent? = nil) {
    guard isRecording else { return }
    switch held ?? model.content(at: index) {
    case .attribute: return
    case .toOne(var target):
      // The object, since its row may be deleted and written again under another number.
      if case .row(let row) = target,
        let model = graph.reader.resolve(row, model, index) as? any PersistentModel
      {
        target = .model(model)
      }
      record(RecordedSide(model, index, .reference(target, list: model.list(at: index))))
    case .toMany(let targets):
      recordMembers(
        of: model, at: index,
        held == nil ? graph.reader.members(of: model, at: index) : targets.loaded ?? [])
    }
  }

  /// Records the members that a list held.
  func recordMembers(of model: any PersistentModel, at index: Int, _ members: [AnyObject]) {
    guard isRecording else { return }
    record(RecordedSide(model, index, .members(members)))
  }

  /// Records a side, unless a merge is under way that has recorded it already.
  private func record(_ side: RecordedSide) {
    guard isFirstChange(of: side.model, side.index) else { return }
    record { $0.undo.restore(side) }
  }

  // MARK: Undo

  /// Restores a side, of the object that stands for a merged one if it was merged since.
  func restore(_ side: RecordedSide) {
    let owner = side.model.standIn
    guard graph.isHere(owner) else { return restoreAbsent(side, of: owner) }
    switch side.before {
    case .reference(let target, let list): restoreReference(side, of: owner, target, list)
    case .members(let members): restoreMembers(side, of: owner, members)
    }
  }

  /// Keeps what a side of an object would hold whose deletion was saved since, so that the step can be redone once the
  /// object is back.
  private func restoreAbsent(_ side: RecordedSide, of owner: any PersistentModel) {
    let place = Place(owner: ObjectIdentifier(owner), index: side.index)
    let held = absent.updateValue((owner, side.before), forKey: place)?.content
    let before = RecordedSide(owner, side.index, held ?? Self.content(of: owner, at: side.index))
    record { $0.undo.restore(before) }
  }

  /// What the save of its deletion has left of a side.
  private static func content(
    of model: any PersistentModel, at index: Int
  ) -> RecordedSide.Content {
    switch model.content(at: index) {
    case .toMany(let targets): .members(targets.loaded ?? [])
    case .toOne(let target): .reference(target, list: model.list(at: index))
    case .attribute: .reference(.none, list: nil)
    }
  }

  /// Restores a to-one property, or clears it if the deletion of its destination was saved in the meantime.
  ///
  /// Changes this side alone: the actions of the same step restore the other side.
  private func restoreReference(
    _ side: RecordedSide, of model: any PersistentModel, _ target: _Target, _ list: Int?
  ) {
    let index = side.index
    graph.reader.makeCurrent(model)
    recordSide(of: model, at: index)
    forgetWaiting(model, index)
    // The list on the other side is loaded while this side still leads there. The next action, which restores that
    // list, records it for redo first: loaded later, it would lack this object.
    let property = graph.entity(of: model).properties[index]
    if let inverse = graph.inverse(of: property, list: model.list(at: index)), inverse.isToMany,
      let owner = graph.reader.destination(of: model, at: index)
    {
      _ = graph.reader.members(of: owner, at: inverse.index)
    }
    var found = target
    // Its deletion was saved in the meantime.
    if case .model(let destination) = target, !graph.isHere(destination) {
      wait(for: destination, model, index) { $0.undo.restore(side) }
      found = .none
    }
    graph.notifying(model, index) {
      model.setContent(.toOne(found), at: index)
      model.setList(list, at: index)
    }
    graph.markChanged(model, at: index)
  }

  /// Restores a list, without the members whose deletion was saved in the meantime: those wait for their deletion to
  /// be undone.
  ///
  /// Changes this side alone. The actions of the same step restore the members' sides. Both sides record pairs of a
  /// join table, which is the same pair twice, and written once.
  ///
  /// Invariant: afterwards the list is the recorded one without the objects that are not here, its delta and its pairs
  /// agree with it, and the list that it replaced is recorded, for redo.
  private func restoreMembers(
    _ side: RecordedSide, of model: any PersistentModel, _ all: [AnyObject]
  ) {
    let index = side.index
    let before = graph.reader.members(of: model, at: index)
    recordMembers(of: model, at: index, before)
    forgetWaiting(model, index)
    // Without those whose deletion was saved in the meantime.
    let members = all.filter { ($0 as? any PersistentModel).map(graph.isHere) ?? false }
    for case let gone as any PersistentModel in all where !graph.isHere(gone) {
      wait(for: gone, model, index) { $0.undo.restore(side) }
    }
    let entity = graph.entity(of: model)
    let (old, new) = (
      Set(before.map(ObjectIdentifier.init)), Set(members.map(ObjectIdentifier.init))
    )
    graph.notifying(model, index) {
      graph.editor.changeSide(of: model, at: index) { targets, delta in
        for object in before where !new.contains(ObjectIdentifier(object)) { delta.remove(object) }
        for object in members where !old.contains(ObjectIdentifier(object)) { delta.add(object) }
        // Order and members at once: a member that returns has its old place.
        delta.setOrder(members)
        targets.loaded = members
      }
    }
    let property = entity.properties[index]
    for case let target as any PersistentModel in before
    where !new.contains(ObjectIdentifier(target)) {
      graph.editor.logPair(property, entity, model, target, isAdded: false)
    }
    for case let target as any PersistentModel in members
    where !old.contains(ObjectIdentifier(target)) {
      graph.editor.logPair(property, entity, model, target, isAdded: true)
    }
    // The list changed by more than one addition.
    graph.editor.membership = nil
    graph.markChanged(model, at: index)
  }
}

// MARK: - One-way references

extension UndoRecorder {
  /// Keeps, for the undo of deletions, which relationships without an inverse the save is about to clear: those that
  /// lead to deleted objects, of owners that are loaded or not.
  ///
  /// Nothing is registered with the undo manager: the step that brings the object back restores these, too. Costs a
  /// query for each deleted object and each such relationship to its class, and loads the owners.
  ///
  /// - Throws: The error of a query. The save then writes nothing.
  func keepOneWayLinks(to deleted: [any PersistentModel]) throws {
    guard isRecording, !graph.layout.oneWay.allSatisfy(\.isEmpty) else { return }
    for target in deleted {
      let state = target._$statePointer
      for place in graph.layout.oneWay[graph.traits[Int(state.pointee.entity)].root] {
        let entity = graph.layout.entities[place.entity]
        let property = entity.properties[place.property]
        for owner in try owners(entity, property, of: target) { keepLink(owner, property, target) }
      }
    }
  }

  /// The objects of a class that lead to an object, by their rows or by what is pending.
  private func owners(
    _ entity: EntityLayout, _ property: PropertyLayout, of target: any PersistentModel
  ) throws -> [any PersistentModel] {
    let row = target._$statePointer.pointee.rowID
    var found: [any PersistentModel] = []
    // Pending owners, too: their rows need not lead to the object yet.
    for kind in [PendingChanges.Kind.inserted, .changed] {
      found += graph.pending.models(kind).filter { graph.entity(of: $0) === entity }
    }
    // A new object has no row, and a row's number means something in its own store alone.
    if row > 0,
      graph.storeIndex[entity.index] == graph.storeIndex[Int(target._$statePointer.pointee.entity)]
    {
      let rows = try graph.reader.lookUp(in: graph.storeIndex[entity.index]) {
        try $0.owners(of: row, entity.table, property)
      }
      found += try graph.reader.load(entity, rows: rows).filter { graph.entity(of: $0) === entity }
    }
    // A pending owner may also have a row that leads there.
    var seen: Set<ObjectIdentifier> = []
    return found.filter { owner in
      guard graph.isHere(owner), !owner.has(_ModelFlags.deleted),
        seen.insert(ObjectIdentifier(owner)).inserted
      else { return false }
      return graph.reader.targets(of: owner, at: property.index).contains { $0 === target }
    }
  }

  /// Keeps the value of one relationship until the deletion of its destination is undone.
  private func keepLink(
    _ owner: any PersistentModel, _ property: PropertyLayout, _ target: any PersistentModel
  ) {
    let index = property.index
    let before: RecordedSide.Content =
      property.isToMany
      ? .members(graph.reader.members(of: owner, at: index))
      : .reference(.model(target), list: owner.list(at: index))
    let side = RecordedSide(owner, index, before)
    wait(for: target, owner, index) { graph in
      // A save that was refused may not have come to clearing it.
      let owner = owner.standIn
      if graph.reader.targets(of: owner, at: index).contains(where: { $0 === target }) { return }
      graph.undo.restore(side)
    }
  }
}

extension StoreConnection {
  /// The rows whose relationship leads to a row.
  fileprivate func owners(
    of row: Int64, _ table: String, _ property: PropertyLayout
  ) throws -> [Int64] {
    if let join = property.joinTable {
      return try integers(
        "SELECT \(join.owner) FROM \(join.name.sqlName) WHERE \(join.target) = ?1",
        [.integer(row)])
    }
    guard let column = property.column else { return [] }
    return try integers(
      "SELECT \"_id\" FROM \(table.sqlName) WHERE \(column.sqlName) = ?1", [.integer(row)])
  }
}
