import Foundation

/// Changes the sides of relationships: what follows on the other side from each change that the program makes, and from an
/// insertion.
final class RelationshipEditor {
  // Unowned without a check: the engine owns this part, and nothing else keeps it.
  unowned(unsafe) let graph: ObjectGraph
  /// The members of the list that was last added to, so that n additions cost n look-ups in a set.
  ///
  /// It has addresses, which are reused once an object is freed. So it is dropped when a side changes in another way
  /// than by one addition, when commits are applied, and where the owner is not pending, since only a pending owner
  /// keeps its members alive.
  @exclusivity(unchecked) var membership: Membership?
  /// The relationship that was last set to the value it held. Looked at in each change of a property, which a check of
  /// exclusive access would double.
  @exclusivity(unchecked) var unchanged = Unchanged()
  /// What the save under way has cleared of relationships without an inverse, which a failure restores.
  var cutSides: [CutSide] = []
  /// Whether a save clears or restores these.
  var isCutting = false
  /// Links that initializers gave to objects of this context, and whose owners are not inserted yet.
  var firstLinks = FirstLinks()

  init(_ graph: ObjectGraph) { self.graph = graph }

  /// Forgets what was kept for the next changes, when the context ends.
  func abandon() {
    firstLinks = FirstLinks()
    membership = nil
  }

  /// Makes the links that initializers gave to objects of this context, which inserts the links' owners.
  ///
  /// Called before anything that asks for the context's objects or changes: an owner that is not inserted yet would
  /// be missing there.
  func makeFirstLinks() {
    if firstLinks.isEmpty { return }
    for link in firstLinks.takeAll() { link.make() }
  }

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
    // A note of an earlier assignment is still here if no `didChange` followed it, as for a property that was marked as
    // changed before. It must not swallow this change.
    unchanged = Unchanged()
    if owner.has(_ModelFlags.redirected) { return forward(owner, to: owner.standIn, index) }
    if let new, refusesForeignTarget(new, of: owner, index, keeping: old) { return }
    if let new, new.has(_ModelFlags.redirected) {
      leadToStandIns(owner, index)
      return didSetToOne(owner, index, old, new.standIn)
    }
    let isStep = graph.undo.beginStep()
    defer { if isStep { graph.undo.endStep() } }
    let entity = graph.entity(of: owner)
    let property = entity.properties[index]
    let oldInverse = graph.inverse(of: property, list: owner.list(at: index))
    let previous = left(old, by: owner, property, oldInverse)
    if let new {
      if previous === new { return unchanged.note(owner, index) }
      // Before the side is recorded: undo goes backwards, and so restores the side while the object is still here.
      if new._$statePointer.pointee.home == nil { insert(new, isLinked: true) }
    } else if case .none = old {
      return unchanged.note(owner, index)
    }
    graph.undo.recordSide(of: owner, at: index, .toOne(previous.map { .model($0) } ?? old))
    // Of several lists that share this property as inverse, setting the property means the first.
    owner.setList(nil, at: index)
    // A save reports an object of another context.
    let target = new.flatMap { graph.isHere($0) ? $0 : nil }
    let newSide = Self.side(target, graph.inverse(of: property))
    // Asked for before anything changes: afterwards the new destination leads to this owner.
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
    let owner = graph.reader.destination(of: model, at: index)
    let inverse = graph.inverse(
      of: graph.entity(of: model).properties[index], list: model.list(at: index))
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
    return inverse.isToMany
      || graph.reader.refers(side.model, inverse.index, to: model, inverse.list)
      ? side : nil
  }

  /// Makes the other sides follow a list that the program has set.
  ///
  /// If the old list was not loaded, its members are read now: without them nothing says who has left.
  func didSetToMany(_ owner: any PersistentModel, _ index: Int, _ old: _Targets) {
    unchanged = Unchanged()
    if owner.has(_ModelFlags.redirected) { return forward(owner, to: owner.standIn, index) }
    if graph.entity(of: owner).properties[index].isForeign {
      return refuseForeignMembers(of: owner, index)
    }
    if graph.merger.hasStandIns { leadToStandIns(owner, index) }
    guard case .toMany(let new) = owner.content(at: index) else { return }
    let isStep = graph.undo.beginStep()
    defer { if isStep { graph.undo.endStep() } }
    // Rows and delta, not the slot: the program has already replaced its content.
    let before = old.loaded ?? graph.reader.derivedMembers(of: owner, at: index, old.delta)
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
    // The setter handles these: undo keeps the whole old list, which a change in place would overwrite, and a merged
    // object's list is its successor's.
    guard !graph.undo.isRecording, owner.successor == nil, !isForeign(owner, index),
      let change = targets.pointee.change(to: new)
    else { return false }
    unchanged = Unchanged()
    let entity = graph.entity(of: owner)
    let destination = entity.properties[index].destination.map { graph.layout.entities[$0] }
    if graph.merger.hasStandIns, let destination,
      change.added.contains(where: { destination.model($0).has(_ModelFlags.redirected) })
    {
      return false
    }
    // A row can be a member once, and `didReplaceMembers` drops the repetition.
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
    owner.has(_ModelFlags.traced) && graph.entity(of: owner).properties[index].isForeign
  }

  /// Whether a relationship of another version's class was set to an object of that class, which is then dropped.
  func refusesForeignTarget(
    _ target: any PersistentModel, of owner: any PersistentModel, _ index: Int,
    keeping old: _Target
  ) -> Bool {
    guard isForeign(owner, index), graph.layout.entity(for: type(of: target)) == nil else {
      return false
    }
    let entity = graph.entity(of: owner)
    graph.pending.misuses.append(
      .init(error: Misuses.use(ofForeign: entity.properties[index], of: entity, graph.layout)))
    owner.setContent(.toOne(old), at: index)
    unchanged.note(owner, index)
    graph.didChangePending()
    return true
  }

  /// Drops the objects that the program has put into a list of another version's class: they are of a class that is not in
  /// the schema, and must not be used as those that are.
  func refuseForeignMembers(of owner: any PersistentModel, _ index: Int) {
    guard case .toMany(let targets) = owner.content(at: index) else { return }
    let entity = graph.entity(of: owner)
    if targets.loaded?.isEmpty == false {
      graph.pending.misuses.append(
        .init(error: Misuses.use(ofForeign: entity.properties[index], of: entity, graph.layout)))
    }
    let isNew = owner.has(_ModelFlags.inserted)
    owner.setContent(.toMany(_Targets(loaded: isNew ? [] : nil)), at: index)
    unchanged.note(owner, index)
    graph.didChangePending()
  }

  /// Applies to the object that stands for a merged one what the program did to the merged one.
  private func forward(
    _ loser: any PersistentModel, to successor: any PersistentModel, _ index: Int
  ) {
    // Otherwise a later read of the row would replace what is set here.
    if graph.isHere(successor) { graph.reader.makeCurrent(successor) }
    let old = successor.content(at: index)
    let new = loser.content(at: index)
    successor.setContent(new, at: index)
    switch (old, new) {
    // The object that stands for it has left the context: it is linked as any object without a context is.
    case _ where !graph.isHere(successor): return linkLoosely(successor, index, old, new)
    case (.toOne(let old), .toOne(.model(let target))):
      didSetToOne(successor, index, old, target)
    case (.toOne(let old), .toOne): didSetToOne(successor, index, old, nil)
    case (.toMany(let old), .toMany): didSetToMany(successor, index, old)
    default: break
    }
    graph.didChange(successor, at: index)
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
        let destination = graph.entity(of: owner).properties[index].destination
      else { return }
      let entity = graph.layout.entities[destination]
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
    let property = graph.entity(of: owner).properties[index]
    var change = ListChange(from: before, to: new)
    if change.isEmpty { return noteUnchanged(owner, index) }
    if change.mayRepeat(isMember: { isMember($0, of: owner, property, before) }) {
      // Compared again, without the repetitions: what was added twice must not be recorded twice.
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
    let entity = graph.entity(of: owner)
    let property = entity.properties[index]
    // Inserted first, then linked: an inserted object may already lead to this owner, and stays when the list is
    // undone.
    guard let destination = property.destination.map({ graph.layout.entities[$0] }) else { return }
    for object in change.added {
      let target = destination.model(object)
      if target._$statePointer.pointee.home == nil { insert(target, isLinked: true) }
    }
    graph.undo.recordMembers(of: owner, at: index, before)
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
    let inverse = graph.inverse(of: property)
    for object in change.removed {
      let target = destination.model(object)
      logPair(property, entity, owner, target, isAdded: false)
      guard let inverse else { continue }
      let refers =
        !inverse.isToMany && graph.reader.refers(target, inverse.index, to: owner, inverse.list)
      if let change = Inverses.ofRemoval(of: target, from: owner, inverse, refers: refers) {
        apply([change])
      }
    }
    for object in change.added {
      let target = destination.model(object)
      // A save reports an object of another context.
      guard graph.isHere(target) else { continue }
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
  ///
  /// The side of the former owner is changed, too, if it has one that leads to the object.
  func attach(
    _ target: any PersistentModel, to owner: any PersistentModel, _ index: Int,
    _ inverse: Inverses.Inverse
  ) {
    var old: Inverses.Side?
    if !inverse.isToMany {
      // An object that is inserted with its reference set leads here already.
      if graph.reader.refers(target, inverse.index, to: owner, inverse.list) { return }
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
    let property = graph.entity(of: model).properties[index]
    let inverse = graph.inverse(of: property, list: model.list(at: index))
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
    if inverse?.isToMany == false || graph.undo.isRecording {
      if let object = graph.reader.resolved(target, model, property.index) { return object }
    } else if let object = graph.reader.registeredTarget(target, property) {
      return object
    }
    if case .row(let row) = target, let destination = property.destination {
      let side = property.relationship?.inverse.map {
        PendingChanges.OtherSide(entity: destination, property: $0, row: row)
      }
      graph.pending.addOtherRow(row, root: graph.traits[destination].root, side)
    }
    return nil
  }

  /// Whether an object was in a list before: by its own side where that tells, else by the list.
  private func isMember(
    _ object: AnyObject, of owner: any PersistentModel, _ property: PropertyLayout,
    _ before: [AnyObject]
  ) -> Bool {
    refersBack(object, to: owner, property)
      ?? memberSet(before, of: owner, property.index).contains(ObjectIdentifier(object))
  }

  /// Whether a member of a list refers back itself; nil if only the list can tell.
  private func refersBack(
    _ object: AnyObject, to owner: any PersistentModel, _ property: PropertyLayout
  ) -> Bool? {
    guard case .toMany(.inverse(let toOne), let destination) = property.kind else { return nil }
    let model = graph.layout.entities[destination].model(object)
    return graph.isHere(model)
      && graph.reader.refers(model, toOne, to: owner, property.relationship?.list)
  }

  /// The set of a list's members, kept for the list that was last asked for: n additions to one list take time in n,
  /// not in n².
  private func memberSet(
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
    guard graph.isHere(model) else { return }
    graph.reader.makeCurrent(model)
    let property = graph.entity(of: model).properties[index]
    if property.isForeign, let target, target._$statePointer.pointee.rowID <= 0 {
      graph.pending.misuses.append(
        .init(error: Misuses.link(property, of: graph.entity(of: model), toNew: target)))
    }
    graph.undo.recordSide(of: model, at: index)
    graph.notifying(model, index) {
      model.setContent(.toOne(target.map { .model($0) } ?? .none), at: index)
      let first = property.firstList
      // The first list needs no number, so that an object of a relationship that shares its inverse with no other
      // needs no memory for it.
      model.setList(list == first ? nil : list, at: index)
    }
    graph.markChanged(model, at: index)
  }

  /// Adds an object to the end of a list as a consequence of another side's change, unless it is in the list. If the
  /// list is not loaded, its delta alone gets the object.
  private func add(_ member: any PersistentModel, to owner: any PersistentModel, _ index: Int) {
    // An object of another context is left alone: a save reports it.
    guard graph.isHere(owner) else { return }
    graph.reader.makeCurrent(owner)
    let property = graph.entity(of: owner).properties[index]
    if hasAlready(member, owner, property) { return }
    graph.undo.recordSide(of: owner, at: index)
    graph.notifying(owner, index) {
      changeSide(of: owner, at: index) { targets, delta in
        delta.add(member)
        targets.loaded?.append(member)
      }
    }
    membership?.insert([member], into: owner, index)
    graph.markChanged(owner, at: index)
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
    return memberSet(loaded, of: owner, property.index).contains(ObjectIdentifier(member))
  }

  /// Removes an object from a list as a consequence of another side's change.
  private func remove(
    _ member: any PersistentModel, from owner: any PersistentModel, _ index: Int
  ) {
    guard graph.isHere(owner) else { return }
    graph.reader.makeCurrent(owner)
    graph.undo.recordSide(of: owner, at: index)
    membership = nil
    graph.notifying(owner, index) {
      changeSide(of: owner, at: index) { targets, delta in
        delta.remove(member)
        targets.remove(member)
      }
    }
    graph.markChanged(owner, at: index)
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
    if isNew { graph.pending.addSide(.init(owner: owner, index: index)) }
  }

  // MARK: Rows of join tables

  /// Records that a row of a join table is to be inserted or deleted. Each call is kept, in order, since a pair may
  /// come and go.
  func logPair(
    _ property: PropertyLayout, _ entity: EntityLayout, _ owner: any PersistentModel,
    _ target: any PersistentModel, isAdded: Bool
  ) {
    // Without a join table, the member's own column has the pair.
    guard let table = property.joinTable else { return }
    graph.pending.addPair(
      .init(table: table, entity: entity.index, owner: owner, target: target, isAdded: isAdded))
    if property.relationship?.inverse == property.index, property.destination == entity.index {
      // A relationship that is its own inverse has a row for each direction.
      graph.pending.addPair(
        .init(table: table, entity: entity.index, owner: target, target: owner, isAdded: isAdded))
    }
  }

  // MARK: Objects that go

  /// Takes deleted objects out of the loaded relationships that no rule has cleared: those without an inverse, and
  /// those whose rule leaves a reference behind.
  ///
  /// Otherwise an owner would return an object that has left the context. Costs a look at each registered object if
  /// the class has such relationships, else nothing.
  ///
  /// Invariant: afterwards no registered object leads to one of these by such a relationship, loaded or by its row's
  /// number.
  ///
  /// - Parameter isOwnCommit: Whether this context deleted them. Another context's commit names the owners of one-way
  ///   relationships, whose rows it changed.
  func dropReferences(to deleted: [any PersistentModel], isOwnCommit: Bool = true) {
    guard !deleted.isEmpty else { return }
    // By root, since each hierarchy numbers its own rows.
    var rows: [Int: Set<Int64>] = [:]
    for model in deleted {
      let state = model._$statePointer
      rows[graph.traits[Int(state.pointee.entity)].root, default: []].insert(state.pointee.rowID)
    }
    let places = rows.keys.flatMap {
      (isOwnCommit ? graph.layout.oneWay[$0] : []) + graph.layout.danglingReferences[$0]
    }
    guard !places.isEmpty else { return }
    let gone = Set(deleted.map { ObjectIdentifier($0) })
    for case let owner as any PersistentModel in graph.loader.registry.all() {
      let entity = graph.entity(of: owner)
      for place in places where place.entity == entity.index {
        let index = place.property
        switch owner.content(at: index) {
        case .toOne(.model(let target)) where gone.contains(ObjectIdentifier(target)):
          graph.notifying(owner, index) { owner.setContent(.toOne(.none), at: index) }
        case .toOne(.row(let row)):
          let root = entity.properties[index].destination.map { graph.traits[$0].root }
          if let root, rows[root]?.contains(row) == true {
            // Observed before, perhaps: a large context drops the objects that relationships hold.
            graph.notifying(owner, index) { owner.setContent(.toOne(.none), at: index) }
          }
        case .toMany(var targets):
          let left = targets.loaded?.filter { !gone.contains(ObjectIdentifier($0)) }
          guard left?.count != targets.loaded?.count else { continue }
          targets.loaded = left
          graph.notifying(owner, index) { owner.setContent(.toMany(targets), at: index) }
        default: break
        }
      }
    }
  }

  // MARK: Duplicates

  /// The objects, each at its first place. Costs a set of them.
  static func withoutDuplicates(_ objects: [AnyObject]) -> [AnyObject] {
    guard objects.count > 1 else { return objects }
    var seen = Set<ObjectIdentifier>(minimumCapacity: objects.count)
    return objects.filter { seen.insert(ObjectIdentifier($0)).inserted }
  }
}

/// A relationship that was set to the value it held, which isn't a change.
///
/// Invariant: lasts until the next assignment of a relationship, the next change of a property or the next save. The
/// object is retained: another one at its address would lose the change of an attribute at the same index.
struct Unchanged {
  private var place: (model: any PersistentModel, index: Int)?

  /// Records the relationship of the assignment under way, in place of any other.
  mutating func note(_ model: any PersistentModel, _ index: Int) { place = (model, index) }

  /// Whether a change is that of the noted relationship, which is then forgotten, as it is by any other change.
  mutating func takes(_ model: any PersistentModel, _ index: Int) -> Bool {
    guard let place else { return false }
    self.place = nil
    return place.model === model && place.index == index
  }
}
