/// New objects with one unique key become one object before a save is planned.
///
/// Their rows are then written like any others: both sides of each relationship, lists and join tables follow from
/// changes of single sides, as if the program had made them.
final class DuplicateMerger {
  // Unowned without a check: the engine owns this part, and nothing else keeps it.
  unowned(unsafe) let graph: ObjectGraph
  /// Whether a save leaves existing rows unchanged that have the unique values of new objects; the new objects then
  /// stand for these rows.
  var keepsUniqueRows = false
  /// The new objects that were merged into others with their unique keys since the last save, each with the other one.
  var merged: [DuplicateFinder.Pair] = []
  /// Whether any object stands for another one. Most contexts have none, and need not look at each destination.
  var hasStandIns = false
  /// The state before the merges of the save under way, which a failure restores; nil if nothing was merged.
  private var mergeRecord: MergeRecord?

  init(_ graph: ObjectGraph) { self.graph = graph }

  /// Forgets the merged objects, when the context ends.
  func abandon() { merged = [] }

  /// Merges each new object that has a unique key of an earlier new object, or of a changed one, into that one.
  ///
  /// With undo, each that has a unique key of any row is merged into the row's object. Undo then has both, and takes the
  /// merge back like any other.
  ///
  /// Invariant: if it returns, no new object has a unique key of an earlier new or of a changed object, except one with
  /// keys of two objects, which the save refuses. If it throws, ``takeBackMerging()`` restores what was merged so far.
  ///
  /// - Throws: `modelValidationFailure` for keys that contradict each other, and errors of reading rows.
  func mergeDuplicates() throws {
    guard mayHaveDuplicates else { return }
    // A merge is no step of the program's. What it changes is recorded for `UndoEpoch` instead.
    // The same one at the end, whatever an observer sets.
    let manager = graph.undo.manager
    manager?.disableUndoRegistration()
    graph.undo.begin(.merge)
    defer {
      graph.undo.endPart()
      manager?.enableUndoRegistration()
      graph.editor.unchanged = Unchanged()
      graph.editor.membership = nil
    }
    // A key may have a reference to an object that was merged itself.
    while mayHaveDuplicates {
      let found = try duplicates()
      // Keys may also meet through a stored row: one that has several of them, or one to which a key refers.
      let sharers =
        found.isEmpty && !mergesIntoRows && !hasNewObjectInKey ? [] : try sharersOfRows()
      let pairs = sharers.isEmpty ? found : sharers
      if pairs.isEmpty { return }
      // Before the first merge alone: a save without duplicates copies nothing, and further rounds restore to the same
      // state.
      if mergeRecord == nil { mergeRecord = MergeRecord(graph) }
      for (duplicate, original) in pairs { merge(duplicate, into: original) }
      redirectOneWayReferences(to: pairs.map(\.duplicate))
    }
  }

  private var mergesIntoRows: Bool { graph.undo.manager != nil && !keepsUniqueRows }

  private var mayHaveDuplicates: Bool {
    var count = 0
    for model in graph.pending.models(.inserted) where isConstrained(model) {
      count += 1
      // A single new object can only share the key of a changed one, or with undo be merged into its row's object.
      if count > 1 || mergesIntoRows { return true }
    }
    return count > 0 && graph.pending.models(.changed).contains(where: isConstrained)
  }

  /// Whether a key of a pending object refers to a new object, which may have a stored row.
  private var hasNewObjectInKey: Bool {
    guard graph.entities.contains(where: { $0.layout.hasReferenceInKey }) else { return false }
    return [PendingChanges.Kind.inserted, .changed].contains { kind in
      graph.pending.models(kind).contains {
        !graph.entity(of: $0).newObjects(inKeysOf: $0, graph.entities).isEmpty
      }
    }
  }

  private func isConstrained(_ model: any PersistentModel) -> Bool {
    !model.has(_ModelFlags.deleted)
      && graph.entities[Int(model._$statePointer.pointee.entity)].layout.isConstrained
  }

  /// The new objects that would share a row with another object, in the order of their insertion.
  ///
  /// Assigns rows as the save will, in a savepoint, and takes that back: two new objects without a common key may
  /// each have one of the keys of a stored row. Throws where unique keys contradict each other, so that a save that
  /// is refused for them leaves its objects as they are.
  private func sharersOfRows() throws -> [DuplicateFinder.Pair] {
    let save = SaveResult(SavePlan(&graph.pending, sides: []), of: graph)
    var sharing: [RowSharing] = []
    do {
      // Takes back the numbers that the objects got of rows which are rolled back.
      defer { save.revert() }
      for index in save.stores {
        // Without a commit it is rolled back.
        try graph.stores[index].writer.transact { connection in
          try SaveWriter.assignRows(of: save, in: index, connection)
          sharing += save.sharedRows(in: index, includingStored: mergesIntoRows)
        }
      }
    }
    let pairs = try sharing.flatMap { row in
      let stored =
        try row.isStored ? readableObject(graph.layout.entities[row.root], row.number) : nil
      let original = stored ?? row.objects[0].model
      return row.objects.filter { $0.model !== original }.map {
        (place: $0.place, pair: (duplicate: $0.model, original: original))
      }
    }
    // In the order of insertion: the values of the later object count, as with a later save.
    return pairs.sorted { $0.place < $1.place }.map(\.pair)
  }

  /// The object of a row; nil if the row can't be read. The save then overwrites the row, and undo of that deletes
  /// it, since there is nothing to give back.
  private func readableObject(
    _ entity: EntityLayout, _ row: Int64
  ) throws -> (any PersistentModel)? {
    do {
      return try graph.reader.object(entity, row: row)
    } catch let error as SwiftDataError where error == .unreadableValue {
      return nil
    }
  }

  /// The new objects whose keys other pending objects of the same store have, as far as that is known without the
  /// rows.
  private func duplicates() throws -> [DuplicateFinder.Pair] {
    var pairs: [DuplicateFinder.Pair] = []
    for index in graph.stores.indices {
      func isConcerned(_ model: any PersistentModel) -> Bool {
        isConstrained(model)
          && graph.entities[Int(model._$statePointer.pointee.entity)].storeIndex == index
      }
      let new = graph.pending.models(.inserted).filter(isConcerned)
      guard !new.isEmpty else { continue }
      let changed = graph.pending.models(.changed).filter {
        isConcerned($0) && !$0.has(_ModelFlags.inserted)
      }
      pairs += try graph.stores[index].writer.joinTransaction { connection in
        var finder = DuplicateFinder(UniqueKeys(graph.entities, connection))
        return try finder.pairs(new: new, changed: changed) { graph.entity(of: $0) }
      }
    }
    return pairs
  }

  // MARK: One pair

  /// Gives an object the values and relationships of a later one, for which it stands from then on.
  ///
  /// Invariant: afterwards no relationship of the duplicate leads anywhere, and none leads to it but those without an
  /// inverse, which ``redirectOneWayReferences(to:)`` redirects. The sides change as if the program had set them, so
  /// that their rows are written like any others.
  private func merge(_ duplicate: any PersistentModel, into original: any PersistentModel) {
    graph.reader.makeCurrent(original)
    let properties = zip(
      graph.entity(of: original).properties, graph.entity(of: duplicate).properties
    )
    .prefix { $0.name == $1.name }.map(\.0)
    if !keepsUniqueRows { copyAttributes(properties, of: duplicate, to: original) }
    let lists = properties.filter(\.isToMany)
    let references = properties.filter { !$0.isToMany && $0.relationship != nil }
    // References after lists, since an object may be in its own lists. Repeated, since a move may make one of the two
    // lead to the other, which the next pass resolves.
    for pass in 0..<3 {
      for property in lists { moveMembers(property, of: duplicate, to: original) }
      for property in references {
        moveReference(property, of: duplicate, to: original, isFirst: pass == 0)
      }
    }
    for index in graph.entity(of: duplicate).relationships {
      DeleteRules(graph).cut(duplicate, graph.entity(of: duplicate).properties[index])
    }
    makeStandIn(original, for: duplicate)
  }

  /// Gives the original the attributes of the duplicate: as if it had been saved after the original, whose row an
  /// upsert would overwrite.
  private func copyAttributes(
    _ properties: [PropertyLayout], of duplicate: any PersistentModel,
    to original: any PersistentModel
  ) {
    let attributes = properties.filter { $0.relationship == nil && $0.destination == nil }
    graph.notifying(original, PropertySet(attributes.map(\.index))) {
      for property in attributes {
        if let copy = duplicate.copySlot(at: property.index) {
          graph.undo.willChange(original, at: property.index)
          original.restoreSlot(copy, at: property.index)
        }
      }
    }
    for property in attributes { graph.markChanged(original, at: property.index) }
  }

  /// Adds the members of a list to the original's.
  private func moveMembers(
    _ property: PropertyLayout, of duplicate: any PersistentModel, to original: any PersistentModel
  ) {
    let members = graph.reader.targets(of: duplicate, at: property.index)
    guard !members.isEmpty else { return }
    // From the members' side, whose lists keep their order.
    if let inverse = graph.inverse(of: property), inverse.isToMany {
      for member in members { replace(duplicate, with: original, in: member, inverse.index) }
      return
    }
    // The duplicate's list first: with a to-one inverse a member is in one list at a time.
    setMembers(of: duplicate, property.index, [])
    let all =
      graph.reader.members(of: original, at: property.index) + members.map { $0 as AnyObject }
    setMembers(of: original, property.index, RelationshipEditor.withoutDuplicates(all))
  }

  /// Makes a to-one property of the original lead to the duplicate's destination, and that of the duplicate to
  /// nothing.
  ///
  /// Invariant: afterwards the duplicate no longer leads to the destination that it had. Each change goes through the
  /// editor, so both sides of every relationship agree.
  ///
  /// - Parameter isFirst: Whether this is the first pass: only then does a duplicate without a destination clear the
  ///   original's.
  private func moveReference(
    _ property: PropertyLayout, of duplicate: any PersistentModel, to original: any PersistentModel,
    isFirst: Bool
  ) {
    let index = property.index
    guard let target = graph.reader.destination(of: duplicate, at: index) else {
      if isFirst, !keepsUniqueRows { setReference(of: original, index, nil) }
      return
    }
    let inverse = graph.inverse(of: property, list: duplicate.list(at: index))
    if keepsUniqueRows, inverse?.isToMany ?? true {
      return setReference(of: duplicate, index, nil)
    }
    if let inverse, graph.isHere(target) {
      if inverse.isToMany {
        // From the other side, whose list keeps its order.
        replace(duplicate, with: original, in: target, inverse.index)
      } else if inverse.list == nil {
        // From the other side, which may be one of several relationships that share this inverse.
        setReference(of: target, inverse.index, original)
      } else if graph.reader.destination(of: original, at: index) === target,
        !graph.reader.refers(target, inverse.index, to: original, inverse.list)
      {
        // Another context has led this side there, and the target is in another relationship of the original.
        setReference(of: original, index, nil)
      }
    }
    if graph.reader.destination(of: original, at: index) !== target {
      setReference(of: original, index, target === duplicate ? original : target)
    }
    if graph.reader.destination(of: duplicate, at: index) === target {
      setReference(of: duplicate, index, nil)
    }
  }

  /// Puts the original in the place of the duplicate in a list; it stays in the list once.
  private func replace(
    _ duplicate: any PersistentModel, with original: any PersistentModel,
    in owner: any PersistentModel, _ index: Int
  ) {
    let list = graph.reader.members(of: owner, at: index)
    setMembers(
      of: owner, index,
      RelationshipEditor.withoutDuplicates(list.map { $0 === duplicate ? original : $0 }))
  }

  // MARK: One-way references

  /// Leads new and changed objects to the originals of merged ones, which nothing leads back from.
  private func redirectOneWayReferences(to duplicates: [any PersistentModel]) {
    let roots = Set(
      duplicates.map { graph.entities[Int($0._$statePointer.pointee.entity)].layout.rootIndex })
    let places = roots.flatMap { graph.layout.oneWay[$0] }
    guard !places.isEmpty else { return }
    for kind in [PendingChanges.Kind.inserted, .changed] {
      for model in graph.pending.models(kind) {
        let entity = Int(model._$statePointer.pointee.entity)
        for place in places where place.entity == entity {
          redirectReferences(of: model, place.property)
        }
      }
    }
  }

  private func redirectReferences(of model: any PersistentModel, _ index: Int) {
    switch model.content(at: index) {
    case .toOne(.model(let target)):
      if let original = target.successor { setReference(of: model, index, original) }
    case .toMany(let targets):
      // A list with pending changes may have a duplicate though another context's commit has unloaded it.
      guard targets.loaded != nil || targets.delta != nil else { return }
      let loaded = targets.loaded ?? graph.reader.members(of: model, at: index)
      let list = loaded.map { object -> AnyObject in
        (object as? any PersistentModel)?.successor ?? object
      }
      guard !list.elementsEqual(loaded, by: { $0 === $1 }) else { return }
      setMembers(of: model, index, RelationshipEditor.withoutDuplicates(list))
    default: break
    }
  }

  // MARK: Single sides

  /// Sets a list as if the program had.
  func setMembers(of owner: any PersistentModel, _ index: Int, _ list: [AnyObject]) {
    let before = graph.reader.members(of: owner, at: index)
    // An equal list must not make its owner pending.
    guard !before.elementsEqual(list, by: { $0 === $1 }) else { return }
    graph.notifying(owner, index) { owner.updateTargets(at: index) { $0.loaded = list } }
    graph.editor.didReplaceMembers(of: owner, at: index, before, with: list)
    graph.markChanged(owner, at: index)
  }

  /// Sets a to-one property as if the program had.
  func setReference(
    of owner: any PersistentModel, _ index: Int, _ target: (any PersistentModel)?
  ) {
    guard case .toOne(let old) = owner.content(at: index) else { return }
    switch old {
    case .none where target == nil: return
    case .model(let model) where model === target: return
    default: break
    }
    graph.notifying(owner, index) {
      owner.setContent(.toOne(target.map { .model($0) } ?? .none), at: index)
    }
    graph.editor.didSetToOne(owner, index, old, target)
    graph.markChanged(owner, at: index)
  }

  // MARK: Afterwards

  /// Completes the merges of a save that has succeeded. A chain of objects that stand for each other is shortened to
  /// its last one.
  func endMerging() {
    placeMerged()
    for (duplicate, original) in merged where duplicate.successor != nil {
      duplicate._$statePointer.pointee.makeExtra().successor = original.successor ?? original
    }
    (merged, mergeRecord) = ([], nil)
  }

  /// Makes merged objects separate again after their save has failed: the program may change the key of one and save
  /// again.
  func takeBackMerging() {
    guard let record = mergeRecord else { return }
    mergeRecord = nil
    record.restore(graph)
    graph.editor.unchanged = Unchanged()
    graph.editor.membership = nil
  }

  /// Gives merged objects the rows of those that stand for them.
  func placeMerged() {
    for (duplicate, original) in merged where duplicate.successor != nil {
      let last = original.successor ?? original
      duplicate._$statePointer.pointee.rowID = last._$statePointer.pointee.rowID
    }
  }

  // MARK: Identities

  /// Makes an object, whose relationships have been moved, stand for the one that it was merged into.
  func makeStandIn(_ original: any PersistentModel, for duplicate: any PersistentModel) {
    if graph.undo.isRecording {
      let values = graph.entity(of: duplicate).properties.compactMap { property in
        property.relationship == nil
          ? duplicate.copySlot(at: property.index).map { (index: property.index, copy: $0) } : nil
      }
      graph.undo.record { $0.merger.separate(duplicate, from: original, values) }
    }
    graph.settle(duplicate)
    let state = duplicate._$statePointer
    state.pointee.makeExtra().successor = original
    state.pointee.object = nil
    state.pointee.set(_ModelFlags.redirected)
    hasStandIns = true
    merged.append((duplicate, original))
  }

  /// Makes an object that was merged into another one a new object of its own again, without relationships, which the
  /// next actions restore.
  private func separate(
    _ duplicate: any PersistentModel, from original: any PersistentModel,
    _ values: [(index: Int, copy: Any)]
  ) {
    // `mergeAgain` has deleted its row.
    guard duplicate.successor != nil else { return graph.undo.undoDeletion(of: duplicate) }
    graph.undo.record { $0.merger.mergeAgain(duplicate, into: original) }
    let state = duplicate._$statePointer
    graph.notifying(duplicate, nil) {
      state.pointee.extra?.successor = nil
      state.pointee.clear(
        _ModelFlags.redirected | _ModelFlags.fault | _ModelFlags.stale | _ModelFlags.partial
          | _ModelFlags.missing)
      state.pointee.home = graph
      // It had the number of the original's row (`placeMerged`).
      state.pointee.rowID = TemporaryRowID.next()
      for value in values { duplicate.restoreSlot(value.copy, at: value.index) }
      for index in graph.entity(of: duplicate).relationships {
        if case .toMany = duplicate.content(at: index) {
          duplicate.setContent(.toMany(_Targets(loaded: [])), at: index)
        } else {
          duplicate.setContent(.toOne(.none), at: index)
        }
        duplicate.setList(nil, at: index)
      }
    }
    graph.pending.add(
      duplicate, to: .inserted, root: graph.entities[Int(state.pointee.entity)].layout.rootIndex,
      at: graph.commits.clock.next())
    graph.didChangePending()
  }

  /// Undoes a separation: makes an object stand for the original again.
  private func mergeAgain(_ duplicate: any PersistentModel, into original: any PersistentModel) {
    guard graph.isHere(duplicate), duplicate.successor == nil else { return }
    // A save has given it a row, when it had another key.
    guard duplicate.has(_ModelFlags.inserted) else { return DeleteRules(graph).delete(duplicate) }
    // It gets the original's row after the next save, which else would take pairs that it gave up for the original's.
    graph.notifying(duplicate, nil) { makeStandIn(original, for: duplicate) }
    graph.didChangePending()
  }
}
