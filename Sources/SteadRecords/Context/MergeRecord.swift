/// A context's objects and pending changes as they were before new objects with one unique key were merged.
///
/// A save that fails restores them: a program that corrects the cause may also give an object another key, and the
/// object then is one of its own again, with its values and relationships.
///
/// Has all objects, since a merge changes single sides and nothing says in advance of which objects. Costs a copy of
/// the slots of each pending object, and of the relationships of each registered one.
struct MergeRecord {
  /// The state of one object, with copies of what a merge may change.
  private struct Object {
    let model: any PersistentModel
    let flags: UInt32
    let rowID: Int64
    let changes: PropertySet
    let successor: (any PersistentModel)?
    let lists: [Int: Int]
    let isPending: Bool
    /// Attributes, of pending objects alone: merging changes no other ones.
    var attributes: [(index: Int, copy: Any)] = []
    var relationships: [(index: Int, content: _SlotContent)] = []
  }

  private let pending: PendingChanges
  private let merged: [DuplicateFinder.Pair]
  private var objects: [Object] = []
  private var known: Set<ObjectIdentifier> = []

  init(_ graph: ObjectGraph) {
    (pending, merged) = (graph.pending, graph.merger.merged)
    // Pending objects first: an object is taken once, and of these the attributes are needed, too.
    for kind in PendingChanges.Kind.allCases {
      for model in graph.pending.models(kind) { add(model, graph, isPending: true) }
    }
    for case let model as any PersistentModel in graph.loader.registry.all()
    where graph.entities[Int(model._$statePointer.pointee.entity)].layout.hasRelationships {
      add(model, graph, isPending: false)
    }
  }

  private mutating func add(
    _ model: any PersistentModel, _ graph: ObjectGraph, isPending: Bool
  ) {
    guard known.insert(ObjectIdentifier(model)).inserted else { return }
    let state = model._$statePointer
    var object = Object(
      model: model, flags: state.pointee.flags.load(ordering: .relaxed),
      rowID: state.pointee.rowID, changes: state.pointee.changes,
      successor: state.pointee.extra?.successor, lists: state.pointee.extra?.lists ?? [:],
      isPending: isPending)
    for property in graph.entity(of: model).properties {
      switch model.content(at: property.index) {
      case .attribute:
        guard isPending, let copy = model.copySlot(at: property.index) else { continue }
        object.attributes.append((property.index, copy))
      case .toMany(let targets):
        // The delta is changed in place.
        let copy = _Targets(loaded: targets.loaded, delta: targets.delta?.copy())
        object.relationships.append((property.index, .toMany(copy)))
      case let content: object.relationships.append((property.index, content))
      }
    }
    objects.append(object)
  }

  /// Restores the objects and the pending changes.
  ///
  /// An object that the merge has changed without its being pending before is marked as stale, since its row has what
  /// it had. One that was not registered then was only read for the merge, and is read again at its next use.
  func restore(_ graph: ObjectGraph) {
    for object in objects {
      graph.notifying(object.model, nil) { restore(object) }
    }
    (graph.pending, graph.merger.merged) = (pending, merged)
    // What was only read to be merged is read again when it is next used.
    for case let model as any PersistentModel in graph.loader.registry.all()
    where !known.contains(ObjectIdentifier(model)) {
      let state = model._$statePointer
      guard
        graph.entities[Int(state.pointee.entity)].layout.hasRelationships
          || state.pointee.has(_ModelFlags.pending)
      else { continue }
      graph.notifying(model, nil) {
        state.pointee.clear(_ModelFlags.pending)
        state.pointee.changes = PropertySet()
        for index in graph.entity(of: model).relationships {
          if case .toMany = model.content(at: index) {
            model.setContent(.toMany(_Targets()), at: index)
          }
        }
        state.pointee.set(_ModelFlags.stale)
      }
    }
  }

  private func restore(_ object: Object) {
    let (model, state) = (object.model, object.model._$statePointer)
    // The row still has the values that merging has overwritten.
    let isOverwritten = !object.isPending && state.pointee.has(_ModelFlags.pending)
    // All flags at once, those of pending changes included, which have to agree with the lists of `pending`.
    state.pointee.flags.store(object.flags, ordering: .relaxed)
    state.pointee.rowID = object.rowID
    state.pointee.changes = object.changes
    if let extra = state.pointee.extra {
      (extra.successor, extra.lists) = (object.successor, object.lists)
    }
    for slot in object.attributes { model.restoreSlot(slot.copy, at: slot.index) }
    for slot in object.relationships { model.setContent(slot.content, at: slot.index) }
    if isOverwritten { state.pointee.set(_ModelFlags.stale) }
  }
}

// MARK: - Epochs

/// The period between two saves that changed objects themselves, with the actions that take back the first one's
/// changes.
///
/// A save merges objects with one unique key, and applies the rules of deletion to what was linked to a deleted object
/// afterwards. Neither is a step of undo, but the steps from before refer to objects that are one object now, or are
/// not linked any more. So each recorded action knows its epoch, and before it is performed in a later one, what the
/// saves since then changed is taken back: each object is itself again, and has what it had when its save began. Every
/// step then finds the state that it left.
///
/// Each epoch holds the next one strongly, and the previous one weakly; recorded actions hold their own. So the way
/// back over a save is forgotten with the last action from before it.
final class UndoEpoch {
  private(set) weak var previous: UndoEpoch?
  /// Keeps the next epoch of the current way.
  private var next: UndoEpoch?
  /// Take back what the save changed, the last one first.
  private var actions: [UndoRecorder.Action]
  /// How many saves had succeeded before that one.
  private let moment: Int

  init() { (actions, moment) = ([], 0) }

  init(_ actions: [UndoRecorder.Action], after previous: UndoEpoch, moment: Int) {
    (self.previous, self.actions, self.moment) = (previous, actions, moment)
    previous.next = self
  }

  /// Becomes the current epoch again.
  fileprivate func keepOnWay() { previous?.next = self }

  deinit {
    // No recorded action is from before the save that began the next epoch, so nothing takes that save back any more.
    // The next epoch itself stays if it is the current one.
    next?.actions = []
    // One after the other: a long chain would be released on as deep a stack.
    var rest = next
    next = nil
    while isKnownUniquelyReferenced(&rest) {
      let following = rest?.next
      rest?.next = nil
      rest = following
    }
  }

  /// Whether an epoch is this one or an earlier one on the way here.
  fileprivate func comes(after epoch: UndoEpoch) -> Bool {
    var place: UndoEpoch? = self
    while let current = place {
      if current === epoch { return true }
      place = current.previous
    }
    return false
  }

  /// Performs the actions, the last one first.
  fileprivate func takeBack(_ graph: ObjectGraph) {
    graph.undo.perform(asOf: moment, isOfSave: true) {
      for action in actions.reversed() { action(graph) }
    }
  }
}

extension UndoRecorder {
  /// Takes back what the saves since an epoch changed, as a part of the undo or redo under way, whose inverse does it
  /// again.
  func returnTo(_ past: UndoEpoch) {
    if epoch === past { return }
    // An app may have discarded some of its manager's actions.
    guard epoch.comes(after: past) else { return }
    while epoch !== past, let previous = epoch.previous {
      let latest = epoch
      // Registered first and so performed last: the save's own actions belong to the epoch before it.
      epoch = previous
      recordArrival { $0.undo.arrive(in: latest) }
      latest.takeBack(graph)
    }
    graph.didChangePending()
  }

  /// The save's changes were made again, or taken back again.
  private func arrive(in arrived: UndoEpoch) {
    let left = epoch
    recordArrival { $0.undo.arrive(in: left) }
    arrived.keepOnWay()
    epoch = arrived
  }
}
