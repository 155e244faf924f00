/// New objects with one unique key become one object before a save is planned.
///
/// Their rows are then written like any others: both sides of each relationship, lists and join tables follow from
/// changes of single sides, as if the program had made them.
extension ObjectGraph {
  /// Merges each new object that has a unique key of an earlier new object, or of a changed one, into that one.
  ///
  /// With undo, each that has a unique key of any row is merged into the row's object. Undo then has both, and takes the
  /// merge back like any other.
  func mergeDuplicates() throws {
    guard mayHaveDuplicates else { return }
    // A merge is no step of the program's. What it changes is recorded for `UndoEpoch` instead.
    undo.manager?.disableUndoRegistration()
    undo.begin(.merge)
    defer {
      undo.endPart()
      undo.manager?.enableUndoRegistration()
      unchanged = Unchanged()
      membership = nil
    }
    // A key may have a reference to an object that was merged itself.
    while mayHaveDuplicates {
      let found = try duplicates()
      // Keys may also meet through a stored row that has several.
      let sharers = found.isEmpty && !mergesIntoRows ? [] : try sharersOfRows()
      let pairs = sharers.isEmpty ? found : sharers
      if pairs.isEmpty { return }
      if mergeRecord == nil { mergeRecord = MergeRecord(self) }
      for (duplicate, original) in pairs { merge(duplicate, into: original) }
      redirectOneWayReferences(to: pairs.map(\.duplicate))
    }
  }

  private var mergesIntoRows: Bool { undo.manager != nil && !keepsUniqueRows }

  private var mayHaveDuplicates: Bool {
    var count = 0
    for model in pending.models(.inserted) where isConstrained(model) {
      count += 1
      if count > 1 || mergesIntoRows { return true }
    }
    return count > 0 && pending.models(.changed).contains(where: isConstrained)
  }

  private func isConstrained(_ model: any PersistentModel) -> Bool {
    !model.has(_ModelFlags.deleted)
      && traits[Int(model._$statePointer.pointee.entity)].isConstrained
  }

  /// The new objects that would share a row with another object, in the order of their insertion.
  ///
  /// Assigns rows as the save will, in a savepoint, and takes that back: two new objects without a common key may
  /// each have one of the keys of a stored row. Throws where unique keys contradict each other, so that a save that
  /// is refused for them leaves its objects as they are.
  private func sharersOfRows() throws -> [DuplicateFinder.Pair] {
    var writer = writer(of: SavePlan(&pending, sides: []))
    var sharing: [RowSharing] = []
    do {
      defer { writer.revert() }
      for index in writer.stores {
        let connection = try stores[index].begin()
        defer { stores[index].rollBack() }
        try writer.assignRows(of: index, connection)
        sharing += writer.sharedRows(in: index, includingStored: mergesIntoRows)
      }
    }
    let pairs = try sharing.flatMap { row in
      let stored = try row.isStored ? readableObject(layout.entities[row.root], row.number) : nil
      let original = stored ?? row.objects[0].model
      return row.objects.filter { $0.model !== original }.map {
        (place: $0.place, pair: (duplicate: $0.model, original: original))
      }
    }
    return pairs.sorted { $0.place < $1.place }.map(\.pair)
  }

  /// The object of a row; nil if the row can't be read. The save then overwrites the row, and undo of that deletes
  /// it, since there is nothing to give back.
  private func readableObject(
    _ entity: EntityLayout, _ row: Int64
  ) throws -> (any PersistentModel)? {
    do {
      return try object(entity, row: row)
    } catch let error as SwiftDataError where error == .unreadableValue {
      return nil
    }
  }

  /// The new objects whose keys other pending objects of the same store have, as far as that is known without the
  /// rows.
  private func duplicates() throws -> [DuplicateFinder.Pair] {
    var pairs: [DuplicateFinder.Pair] = []
    for index in stores.indices {
      func isHere(_ model: any PersistentModel) -> Bool {
        isConstrained(model) && storeIndex[Int(model._$statePointer.pointee.entity)] == index
      }
      let new = pending.models(.inserted).filter(isHere)
      guard !new.isEmpty else { continue }
      let changed = pending.models(.changed).filter {
        isHere($0) && !$0.has(_ModelFlags.inserted)
      }
      pairs += try stores[index].joinTransaction { connection in
        var finder = DuplicateFinder(UniqueKeys(loader.rowContexts, connection))
        return try finder.pairs(new: new, changed: changed) { entity(of: $0) }
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
    makeCurrent(original)
    let properties = zip(entity(of: original).properties, entity(of: duplicate).properties)
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
    for index in entity(of: duplicate).relationships {
      cut(duplicate, entity(of: duplicate).properties[index])
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
    notifying(original, PropertySet(attributes.map(\.index))) {
      for property in attributes {
        if let copy = duplicate.copySlot(at: property.index) {
          willChange(original, at: property.index)
          original.restoreSlot(copy, at: property.index)
        }
      }
    }
    for property in attributes { markChanged(original, at: property.index) }
  }

  /// Adds the members of a list to the original's.
  private func moveMembers(
    _ property: PropertyLayout, of duplicate: any PersistentModel, to original: any PersistentModel
  ) {
    let members = targets(of: duplicate, at: property.index)
    guard !members.isEmpty else { return }
    if let inverse = inverse(of: property), inverse.isToMany {
      for member in members { replace(duplicate, with: original, in: member, inverse.index) }
      return
    }
    setMembers(of: duplicate, property.index, [])
    let all = self.members(of: original, at: property.index) + members.map { $0 as AnyObject }
    setMembers(of: original, property.index, Self.withoutDuplicates(all))
  }

  /// Makes a to-one property of the original lead to the duplicate's destination, and that of the duplicate to
  /// nothing.
  ///
  /// - Parameter isFirst: Whether this is the first pass: only then does a duplicate without a destination clear the
  ///   original's.
  private func moveReference(
    _ property: PropertyLayout, of duplicate: any PersistentModel, to original: any PersistentModel,
    isFirst: Bool
  ) {
    let index = property.index
    guard let target = destination(of: duplicate, at: index) else {
      if isFirst, !keepsUniqueRows { setReference(of: original, index, nil) }
      return
    }
    let inverse = inverse(of: property, list: duplicate.list(at: index))
    if keepsUniqueRows, inverse?.isToMany ?? true {
      return setReference(of: duplicate, index, nil)
    }
    if let inverse, isHere(target) {
      if inverse.isToMany {
        // From the other side, whose list keeps its order.
        replace(duplicate, with: original, in: target, inverse.index)
      } else if inverse.list == nil {
        // From the other side, which may be one of several relationships that share this inverse.
        setReference(of: target, inverse.index, original)
      } else if destination(of: original, at: index) === target,
        !refers(target, inverse.index, to: original, inverse.list)
      {
        // Another context has led this side there, and the target is in another relationship of the original.
        setReference(of: original, index, nil)
      }
    }
    if destination(of: original, at: index) !== target {
      setReference(of: original, index, target === duplicate ? original : target)
    }
    if destination(of: duplicate, at: index) === target { setReference(of: duplicate, index, nil) }
  }

  /// Puts the original in the place of the duplicate in a list; it stays in the list once.
  private func replace(
    _ duplicate: any PersistentModel, with original: any PersistentModel,
    in owner: any PersistentModel, _ index: Int
  ) {
    let list = members(of: owner, at: index)
    setMembers(
      of: owner, index,
      Self.withoutDuplicates(list.map { $0 === duplicate ? original : $0 }))
  }

  // MARK: One-way references

  /// Leads new and changed objects to the originals of merged ones, which nothing leads back from.
  private func redirectOneWayReferences(to duplicates: [any PersistentModel]) {
    let roots = Set(duplicates.map { traits[Int($0._$statePointer.pointee.entity)].root })
    let places = roots.flatMap { layout.oneWay[$0] }
    guard !places.isEmpty else { return }
    for kind in [PendingChanges.Kind.inserted, .changed] {
      for model in pending.models(kind) {
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
      guard let loaded = targets.loaded else { return }
      let list = loaded.map { object -> AnyObject in
        (object as? any PersistentModel)?.successor ?? object
      }
      guard !list.elementsEqual(loaded, by: { $0 === $1 }) else { return }
      setMembers(of: model, index, Self.withoutDuplicates(list))
    default: break
    }
  }

  // MARK: Single sides

  /// Sets a list as if the program had.
  func setMembers(of owner: any PersistentModel, _ index: Int, _ list: [AnyObject]) {
    let before = members(of: owner, at: index)
    guard !before.elementsEqual(list, by: { $0 === $1 }) else { return }
    notifying(owner, index) { owner.updateTargets(at: index) { $0.loaded = list } }
    didReplaceMembers(of: owner, at: index, before, with: list)
    markChanged(owner, at: index)
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
    notifying(owner, index) {
      owner.setContent(.toOne(target.map { .model($0) } ?? .none), at: index)
    }
    didSetToOne(owner, index, old, target)
    markChanged(owner, at: index)
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
    record.restore(self)
    unchanged = Unchanged()
    membership = nil
  }

  /// Gives merged objects the rows of those that stand for them.
  func placeMerged() {
    for (duplicate, original) in merged where duplicate.successor != nil {
      let last = original.successor ?? original
      duplicate._$statePointer.pointee.rowID = last._$statePointer.pointee.rowID
    }
  }
}
