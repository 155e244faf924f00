import Foundation

extension ObjectGraph {
  // MARK: What the program sets

  /// Makes the other sides follow a to-one property that the program has set.
  ///
  /// Invariant: afterwards the old destination no longer leads back, the new one does, and the object that led to the
  /// new one in a one-to-one relationship leads nowhere. A destination without a context is inserted. What is set to
  /// the value it had changes nothing, and is not recorded for undo.
  ///
  /// - Parameter old: The content before; `new` is already in the property.
  func didSetToOne(
    _ owner: any PersistentModel, _ index: Int, _ old: _Target, _ new: (any PersistentModel)?
  ) {
    unchanged = Unchanged()
    if owner.has(_ModelFlags.redirected) { return forward(owner, to: owner.standIn, index) }
    if let new, refusesForeignTarget(new, of: owner, index, keeping: old) { return }
    if let new, new.has(_ModelFlags.redirected) {
      leadToStandIns(owner, index)
      return didSetToOne(owner, index, old, new.standIn)
    }
    let isStep = beginStep()
    defer { if isStep { undo.endStep() } }
    let entity = entity(of: owner)
    let property = entity.properties[index]
    let oldInverse = inverse(of: property, list: owner.list(at: index))
    let previous = left(old, by: owner, property, oldInverse)
    if let new {
      if previous === new { return unchanged.note(owner, index) }
      if new._$statePointer.pointee.home == nil { insert(new, isLinked: true) }
    } else if case .none = old {
      return unchanged.note(owner, index)
    }
    recordSide(of: owner, at: index, .toOne(previous.map { .model($0) } ?? old))
    // Of several lists that share this property as inverse, setting the property means the first.
    owner.setList(nil, at: index)
    // A save reports an object of another context.
    let target = new.flatMap { isHere($0) ? $0 : nil }
    let newSide = Self.side(target, inverse(of: property))
    let partner = newSide.flatMap {
      $0.inverse.isToMany ? nil : side(leadingTo: $0.model, at: $0.inverse.index)
    }
    apply(
      Inverses.ofReference(
        owner, index, old: leading(Self.side(previous, oldInverse), to: owner), new: newSide,
        partner: partner))
  }

  private static func side(
    _ model: (any PersistentModel)?, _ inverse: Inverses.Inverse?
  ) -> Inverses.Side? {
    guard let model, let inverse else { return nil }
    return Inverses.Side(model: model, inverse: inverse)
  }

  /// The side that leads to an object whose to-one property leads back; the destination is loaded.
  func side(leadingTo model: any PersistentModel, at index: Int) -> Inverses.Side? {
    let owner = destination(of: model, at: index)
    let inverse = inverse(of: entity(of: model).properties[index], list: model.list(at: index))
    return leading(Self.side(owner, inverse), to: model)
  }

  /// A side, unless it is a to-one property that leads elsewhere, which then must not be cleared.
  ///
  /// Where this context and another one have each changed one side of a pair, the two sides contradict each other until the
  /// next save: a partner may belong to another object by now, or to the same one by another relationship that has the
  /// same inverse.
  private func leading(
    _ side: Inverses.Side?, to model: any PersistentModel
  ) -> Inverses.Side? {
    guard let side else { return nil }
    let inverse = side.inverse
    return inverse.isToMany || refers(side.model, inverse.index, to: model, inverse.list)
      ? side : nil
  }

  /// Makes the other sides follow a list that the program has set.
  ///
  /// If the old list was not loaded, its members are read now: without them nothing says who has left.
  func didSetToMany(_ owner: any PersistentModel, _ index: Int, _ old: _Targets) {
    unchanged = Unchanged()
    if owner.has(_ModelFlags.redirected) { return forward(owner, to: owner.standIn, index) }
    if entity(of: owner).properties[index].isForeign {
      return refuseForeignMembers(of: owner, index)
    }
    if hasStandIns { leadToStandIns(owner, index) }
    guard case .toMany(let new) = owner.content(at: index) else { return }
    let isStep = beginStep()
    defer { if isStep { undo.endStep() } }
    let before = old.loaded ?? derivedMembers(of: owner, at: index, old.delta)
    // The delta stays; the assignment made a storage without one.
    owner.setContent(.toMany(_Targets(loaded: new.loaded, delta: old.delta)), at: index)
    didReplaceMembers(of: owner, at: index, before, with: new.loaded ?? [])
  }

  /// Applies to a relationship the change that the program made to the borrowed array; false if the relationship must
  /// be set to that array instead.
  func didModifyToMany(
    _ owner: any PersistentModel, _ index: Int, _ targets: UnsafeMutablePointer<_Targets>,
    _ new: [AnyObject]
  ) -> Bool {
    // Undo keeps the whole old list, and a successor has its own list.
    guard !undo.isRecording, owner.successor == nil, !isForeign(owner, index),
      let change = targets.pointee.change(to: new)
    else { return false }
    unchanged = Unchanged()
    let entity = entity(of: owner)
    let destination = entity.properties[index].destination.map { layout.entities[$0] }
    if hasStandIns, let destination,
      change.added.contains(where: { destination.model($0).has(_ModelFlags.redirected) })
    {
      return false
    }
    if change.mayRepeat(isMember: {
      refersBack($0, to: owner, entity.properties[index]) ?? targets.pointee.contains($0)
    }) {
      return false
    }
    targets.pointee.apply(change)
    if change.isEmpty {
      noteUnchanged(owner, index)
    } else {
      didChangeMembers(of: owner, at: index, change)
    }
    return true
  }

  /// Whether the type that a relationship has in the program is another version's class.
  private func isForeign(_ owner: any PersistentModel, _ index: Int) -> Bool {
    // The reads of such a class's objects are traced, which is quicker to find out.
    owner.has(_ModelFlags.traced) && entity(of: owner).properties[index].isForeign
  }

  /// Whether a relationship of another version's class was set to an object of that class, which is then dropped.
  func refusesForeignTarget(
    _ target: any PersistentModel, of owner: any PersistentModel, _ index: Int,
    keeping old: _Target
  ) -> Bool {
    guard isForeign(owner, index), layout.entity(for: type(of: target)) == nil else { return false }
    let entity = entity(of: owner)
    pending.misuses.append(
      .init(error: Misuses.use(ofForeign: entity.properties[index], of: entity, layout)))
    owner.setContent(.toOne(old), at: index)
    unchanged.note(owner, index)
    didChangePending()
    return true
  }

  /// Drops the objects that the program has put into a list of another version's class: they are of a class that is not in
  /// the schema, and must not be used as those that are.
  func refuseForeignMembers(of owner: any PersistentModel, _ index: Int) {
    guard case .toMany(let targets) = owner.content(at: index) else { return }
    let entity = entity(of: owner)
    if targets.loaded?.isEmpty == false {
      pending.misuses.append(
        .init(error: Misuses.use(ofForeign: entity.properties[index], of: entity, layout)))
    }
    let isNew = owner.has(_ModelFlags.inserted)
    owner.setContent(.toMany(_Targets(loaded: isNew ? [] : nil)), at: index)
    unchanged.note(owner, index)
    didChangePending()
  }

  /// Applies to the object that stands for a merged one what the program did to the merged one.
  private func forward(
    _ loser: any PersistentModel, to successor: any PersistentModel, _ index: Int
  ) {
    if isHere(successor) { makeCurrent(successor) }
    let old = successor.content(at: index)
    let new = loser.content(at: index)
    successor.setContent(new, at: index)
    switch (old, new) {
    // The object that stands for it has left the context: it is linked as any object without a context is.
    case _ where !isHere(successor): return linkLoosely(successor, index, old, new)
    case (.toOne(let old), .toOne(.model(let target))):
      didSetToOne(successor, index, old, target)
    case (.toOne(let old), .toOne): didSetToOne(successor, index, old, nil)
    case (.toMany(let old), .toMany): didSetToMany(successor, index, old)
    default: break
    }
    didChange(successor, at: index)
  }

  /// Sets the other sides of a relationship of an object that stands for a merged one and has left the context.
  private func linkLoosely(
    _ model: any PersistentModel, _ index: Int, _ old: _SlotContent, _ new: _SlotContent
  ) {
    switch (old, new) {
    case (.toOne(let old), .toOne(.model(let target))):
      LooseLinks.didReplace(old, with: target, model, index)
    case (.toOne(let old), .toOne): LooseLinks.didReplace(old, with: nil, model, index)
    case (.toMany(let old), .toMany(let new)):
      LooseLinks.didReplace(old, with: new.loaded ?? [], model, index)
    default: break
    }
  }

  /// Replaces merged objects, in a relationship that the program has set, by the objects that stand for them: a
  /// merged one has no row of its own to refer to.
  func leadToStandIns(_ owner: any PersistentModel, _ index: Int) {
    switch owner.content(at: index) {
    case .toOne(.model(let target)) where target.has(_ModelFlags.redirected):
      owner.setContent(.toOne(.model(target.standIn)), at: index)
    case .toMany(let targets):
      guard let loaded = targets.loaded,
        let destination = entity(of: owner).properties[index].destination
      else { return }
      let entity = layout.entities[destination]
      guard loaded.contains(where: { entity.model($0).has(_ModelFlags.redirected) }) else { return }
      let list = loaded.map { entity.model($0).standIn as AnyObject }
      owner.setContent(.toMany(_Targets(loaded: list, delta: targets.delta)), at: index)
    default: break
    }
  }

  /// Updates the other sides after a list was replaced.
  ///
  /// An object that is in the new list twice stays in it once: a row of the store can be a member once.
  func didReplaceMembers(
    of owner: any PersistentModel, at index: Int, _ before: [AnyObject], with new: [AnyObject]
  ) {
    let property = entity(of: owner).properties[index]
    var change = ListChange(from: before, to: new)
    if change.isEmpty { return noteUnchanged(owner, index) }
    if change.mayRepeat(isMember: { isMember($0, of: owner, property, before) }) {
      let unique = Self.withoutDuplicates(new)
      owner.updateTargets(at: index) { $0.loaded = unique }
      change = ListChange(from: before, to: unique, isUnique: true)
      if change.isEmpty { return noteUnchanged(owner, index) }
    }
    didChangeMembers(of: owner, at: index, change, before: before)
  }

  /// Records a change of a list for the next save, and makes the other sides follow.
  ///
  /// Invariant: afterwards the list's delta, its pairs in a join table, and the other sides of the members that left
  /// and came agree with the new list. Each pair is recorded once, from this side.
  ///
  /// - Parameter before: The old list, for undo.
  private func didChangeMembers(
    of owner: any PersistentModel, at index: Int, _ change: ListChange, before: [AnyObject] = []
  ) {
    let entity = entity(of: owner)
    let property = entity.properties[index]
    // Inserted first, then linked: an inserted object may already lead to this owner, and stays when the list is
    // undone.
    guard let destination = property.destination.map({ layout.entities[$0] }) else { return }
    for object in change.added {
      let target = destination.model(object)
      if target._$statePointer.pointee.home == nil { insert(target, isLinked: true) }
    }
    recordMembers(of: owner, at: index, before)
    changeSide(of: owner, at: index) { _, delta in
      for object in change.removed { delta.remove(object) }
      for object in change.added { delta.add(object) }
      if change.isReordered { delta.setOrder(change.result) }
    }
    if change.added.count == 1, change.removed.isEmpty {
      membership?.insert(change.added, into: owner, index)
    } else {
      membership = nil
    }
    let inverse = inverse(of: property)
    for object in change.removed {
      let target = destination.model(object)
      logPair(property, entity, owner, target, isAdded: false)
      guard let inverse else { continue }
      let refers = !inverse.isToMany && refers(target, inverse.index, to: owner, inverse.list)
      if let change = Inverses.ofRemoval(of: target, from: owner, inverse, refers: refers) {
        apply([change])
      }
    }
    for object in change.added {
      let target = destination.model(object)
      // A save reports an object of another context.
      guard isHere(target) else { continue }
      logPair(property, entity, owner, target, isAdded: true)
      guard let inverse else { continue }
      attach(target, to: owner, index, inverse)
    }
  }

  /// Records that a list was set to what it held, so that the `didChange` that follows makes nothing pending.
  private func noteUnchanged(_ owner: any PersistentModel, _ index: Int) {
    // The owner may not be pending, and then its members may be freed: another object could be at an address in the
    // set.
    membership = nil
    unchanged.note(owner, index)
  }

  /// Makes an object that came into a list refer back.
  func attach(
    _ target: any PersistentModel, to owner: any PersistentModel, _ index: Int,
    _ inverse: Inverses.Inverse
  ) {
    var old: Inverses.Side?
    if !inverse.isToMany {
      if refers(target, inverse.index, to: owner, inverse.list) { return }
      old = leaveOwner(target, at: inverse.index)
    }
    apply(Inverses.ofAddition(of: target, to: owner, index, inverse, old: old))
  }

  /// The side that leads to an object by a to-one property that is about to change; nil if no object has to change
  /// for it.
  private func leaveOwner(
    _ model: any PersistentModel, at index: Int
  ) -> Inverses.Side? {
    guard case .toOne(let target) = model.content(at: index) else { return nil }
    let property = entity(of: model).properties[index]
    let inverse = inverse(of: property, list: model.list(at: index))
    return leading(Self.side(left(target, by: model, property, inverse), inverse), to: model)
  }

  /// The object that a to-one property led to, if its side has to be changed. If there is none, the row is recorded,
  /// so that other contexts read it again.
  ///
  /// A to-one side is a column of its own, which must be cleared, so its object is loaded. With a to-many inverse the
  /// object need not be loaded: its list is made from its rows and from the members' own references. Undo loads it
  /// nevertheless, to restore the member's place there.
  private func left(
    _ target: _Target, by model: any PersistentModel, _ property: PropertyLayout,
    _ inverse: Inverses.Inverse?
  ) -> (any PersistentModel)? {
    if inverse?.isToMany == false || undo.isRecording {
      if let object = resolved(target, model, property.index) { return object }
    } else if let object = registeredTarget(target, property) {
      return object
    }
    if case .row(let row) = target, let destination = property.destination {
      let side = property.relationship?.inverse.map {
        PendingChanges.OtherSide(entity: destination, property: $0, row: row)
      }
      pending.addOtherRow(row, root: traits[destination].root, side)
    }
    return nil
  }

  /// Whether an object was in a list before: by its own side where that tells, else by the list.
  private func isMember(
    _ object: AnyObject, of owner: any PersistentModel, _ property: PropertyLayout,
    _ before: [AnyObject]
  ) -> Bool {
    refersBack(object, to: owner, property)
      ?? members(before, of: owner, property.index).contains(ObjectIdentifier(object))
  }

  /// Whether a member of a list refers back itself; nil if only the list can tell.
  private func refersBack(
    _ object: AnyObject, to owner: any PersistentModel, _ property: PropertyLayout
  ) -> Bool? {
    guard case .toMany(.inverse(let toOne), let destination) = property.kind else { return nil }
    let model = layout.entities[destination].model(object)
    return isHere(model) && refers(model, toOne, to: owner, property.relationship?.list)
  }

  /// The set of a list's members, kept for the list that was last asked for: n additions to one list take time in n,
  /// not in n².
  private func members(
    _ list: [AnyObject], of owner: any PersistentModel, _ index: Int
  ) -> Set<ObjectIdentifier> {
    if let membership, membership.owner === owner, membership.index == index,
      membership.members.count == list.count
    {
      return membership.members
    }
    let members = Set(list.map(ObjectIdentifier.init))
    membership = Membership(owner: owner, index: index, members: members)
    return members
  }

  // MARK: Single sides

  /// Makes changes of single sides, none of which has a consequence for another side. `Inverses` has found them all.
  func apply(_ changes: [Inverses.Change]) {
    for change in changes {
      switch change {
      case .refer(let model, let index, let target, let list):
        refer(model, index, to: target, list)
      case .add(let model, let owner, let index): add(model, to: owner, index)
      case .remove(let model, let owner, let index):
        if owner._$statePointer.pointee.home == nil {
          owner.updateTargets(at: index) { $0.remove(model) }
        } else {
          remove(model, from: owner, index)
        }
      }
    }
  }

  /// Sets a to-one property as a consequence of another side's change.
  ///
  /// An object of another context is left alone: a save reports it. A reference to a new object by a property of
  /// another version's class cannot be saved, and is reported, too.
  private func refer(
    _ model: any PersistentModel, _ index: Int, to target: (any PersistentModel)?, _ list: Int?
  ) {
    guard isHere(model) else { return }
    makeCurrent(model)
    let property = entity(of: model).properties[index]
    if property.isForeign, let target, target._$statePointer.pointee.rowID <= 0 {
      pending.misuses.append(
        .init(error: Misuses.link(property, of: entity(of: model), toNew: target)))
    }
    recordSide(of: model, at: index)
    notifying(model, index) {
      model.setContent(.toOne(target.map { .model($0) } ?? .none), at: index)
      let first = property.firstList
      // The first list needs no number, so that an object of a relationship that shares its inverse with no other
      // needs no memory for it.
      model.setList(list == first ? nil : list, at: index)
    }
    markChanged(model, at: index)
  }

  /// Adds an object to the end of a list as a consequence of another side's change, unless it is in the list. If the
  /// list is not loaded, its delta alone gets the object.
  private func add(_ member: any PersistentModel, to owner: any PersistentModel, _ index: Int) {
    guard isHere(owner) else { return }
    makeCurrent(owner)
    let property = entity(of: owner).properties[index]
    if hasAlready(member, owner, property) { return }
    recordSide(of: owner, at: index)
    notifying(owner, index) {
      changeSide(of: owner, at: index) { targets, delta in
        delta.add(member)
        targets.loaded?.append(member)
      }
    }
    membership?.insert([member], into: owner, index)
    markChanged(owner, at: index)
  }

  /// Whether an object that is about to be added to a list is already in it.
  ///
  /// A separate function, so that its reference to the list ends before the list is changed in place.
  @inline(never)
  private func hasAlready(
    _ member: any PersistentModel, _ owner: any PersistentModel, _ property: PropertyLayout
  ) -> Bool {
    guard case .toMany(let held) = owner.content(at: property.index) else { return true }
    guard let loaded = held.loaded else { return held.delta?.hasAdded(member) == true }
    guard contains(member, loaded, owner, property) else { return false }
    // The set holds addresses. A pending owner keeps its members alive, so that none is used again. Without the
    // set, inserting an owner with n new members would take time in n².
    if !owner.has(_ModelFlags.pending) { membership = nil }
    return true
  }

  /// Whether a list has an object that is about to be added to it.
  private func contains(
    _ member: any PersistentModel, _ loaded: [AnyObject], _ owner: any PersistentModel,
    _ property: PropertyLayout
  ) -> Bool {
    // The last ones are the likeliest, and a list that was just read is short.
    if loaded.count <= 8 { return loaded.contains { $0 === member } }
    return members(loaded, of: owner, property.index).contains(ObjectIdentifier(member))
  }

  /// Removes an object from a list as a consequence of another side's change.
  private func remove(
    _ member: any PersistentModel, from owner: any PersistentModel, _ index: Int
  ) {
    guard isHere(owner) else { return }
    makeCurrent(owner)
    recordSide(of: owner, at: index)
    membership = nil
    notifying(owner, index) {
      changeSide(of: owner, at: index) { targets, delta in
        delta.remove(member)
        targets.remove(member)
      }
    }
    markChanged(owner, at: index)
  }

  /// Changes a to-many relationship, and records its changes for the next save.
  ///
  /// Invariant: between two saves, each changed side is in `pending.sides` once, because the save plans positions for
  /// each entry. The delta itself says whether it is there.
  func changeSide(
    of owner: any PersistentModel, at index: Int,
    _ change: (inout _Targets, ToManyDelta) -> Void
  ) {
    var isNew = false
    owner.updateTargets(at: index) { targets in
      let delta = targets.delta ?? ToManyDelta()
      targets.delta = delta
      isNew = !delta.isEnqueued
      delta.isEnqueued = true
      change(&targets, delta)
    }
    if isNew { pending.addSide(.init(owner: owner, index: index)) }
  }

  /// Reads the row of a stale, partial or empty object, as has to be done before one of its sides is changed: a later
  /// read would replace the changed side by the row's.
  func makeCurrent(_ model: any PersistentModel) {
    if model.has(_ModelFlags.fault | _ModelFlags.stale | _ModelFlags.partial) { reload(model) }
  }

  // MARK: Rows of join tables

  /// Records that a row of a join table is to be inserted or deleted. Each call is kept, in order, since a pair may
  /// come and go.
  func logPair(
    _ property: PropertyLayout, _ entity: EntityLayout, _ owner: any PersistentModel,
    _ target: any PersistentModel, isAdded: Bool
  ) {
    guard let table = property.joinTable else { return }
    pending.addPair(
      .init(table: table, entity: entity.index, owner: owner, target: target, isAdded: isAdded))
    if property.relationship?.inverse == property.index, property.destination == entity.index {
      // A relationship that is its own inverse has a row for each direction.
      pending.addPair(
        .init(table: table, entity: entity.index, owner: target, target: owner, isAdded: isAdded))
    }
  }

  // MARK: Looking

  func inverse(of property: PropertyLayout, list: Int? = nil) -> Inverses.Inverse? {
    layout.inverse(of: property, list: list)
  }

  /// The object that a to-one property leads to, if it is in memory; nothing is loaded.
  func registeredTarget(
    _ target: _Target, _ property: PropertyLayout
  ) -> (any PersistentModel)? {
    switch target {
    case .none: return nil
    case .model(let model): return model
    case .row(let row):
      return property.destination.flatMap { registered(layout.entities[$0], row: row) }
    }
  }

  /// The object that a to-one property leads to, loaded if necessary.
  private func resolved(
    _ target: _Target, _ owner: any PersistentModel, _ index: Int
  ) -> (any PersistentModel)? {
    switch target {
    case .none: nil
    case .model(let model): model
    case .row(let row): resolve(row, owner, index) as? any PersistentModel
    }
  }

  /// What a to-one property leads to, loaded when it is not.
  func destination(of model: any PersistentModel, at index: Int) -> (any PersistentModel)? {
    guard isHere(model) else { return nil }
    makeCurrent(model)
    guard case .toOne(let target) = model.content(at: index) else { return nil }
    return resolved(target, model, index)
  }

  /// Whether a to-one property leads to an owner, and, with the number of a list, to that list.
  func refers(
    _ model: any PersistentModel, _ index: Int, to owner: any PersistentModel, _ list: Int?
  ) -> Bool {
    if model.has(_ModelFlags.fault | _ModelFlags.stale), isHere(model) { reload(model) }
    if let list,
      list != model.list(at: index) ?? entity(of: model).properties[index].firstList
    {
      return false
    }
    return switch model.content(at: index) {
    case .toOne(.model(let target)): target === owner
    case .toOne(.row(let row)): row == owner._$statePointer.pointee.rowID
    default: false
    }
  }

  static func withoutDuplicates(_ objects: [AnyObject]) -> [AnyObject] {
    guard objects.count > 1 else { return objects }
    var seen = Set<ObjectIdentifier>(minimumCapacity: objects.count)
    return objects.filter { seen.insert(ObjectIdentifier($0)).inserted }
  }
}
