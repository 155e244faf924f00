/// What a context's objects and pending changes are before new objects with one unique key are merged.
///
/// A save that fails puts it back: an app that mends the cause may also give an object another key, which then is an
/// object of its own again, with its values and relationships.
///
/// Costs a copy of the slots of each pending object, and of the relationships of each registered one.
struct MergeRecord {
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
    (pending, merged) = (graph.pending, graph.merged)
    for kind in PendingChanges.Kind.allCases {
      for model in graph.pending.models(kind) { add(model, graph, isPending: true) }
    }
    for case let model as any PersistentModel in graph.loader.registry.all()
    where graph.traits[Int(model._$statePointer.pointee.entity)].hasRelationships {
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

  /// Puts everything back.
  func restore(_ graph: ObjectGraph) {
    for object in objects {
      graph.notifying(object.model, nil) { restore(object) }
    }
    (graph.pending, graph.merged) = (pending, merged)
    // What was only read to be merged is read again when it is next used.
    for case let model as any PersistentModel in graph.loader.registry.all()
    where !known.contains(ObjectIdentifier(model)) {
      let state = model._$statePointer
      guard
        graph.traits[Int(state.pointee.entity)].hasRelationships
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
