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
    if graph.undo.isRecording {
      graph.undo.recordMembers(
        of: owner, at: index, ownMembers(before, of: owner, property, change))
    }
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

  /// The old members of a list without those that leave it and lead elsewhere: read later than these, the list has another
  /// context's commit, by which they came, and undo would not lead them here.
  private func ownMembers(
    _ before: [AnyObject], of owner: any PersistentModel, _ property: PropertyLayout,
    _ change: ListChange
  ) -> [AnyObject] {
    let strangers = change.removed.filter { object in
      (object as? any PersistentModel).map(graph.isHere) == true
        && refersBack(object, to: owner, property) == false
    }
    if strangers.isEmpty { return before }
    let ids = Set(strangers.map(ObjectIdentifier.init))
    return before.filter { !ids.contains(ObjectIdentifier($0)) }
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
      if graph.reader.refers(target, inverse.index, to: owner, inverse.list) {
        return keepReference(of: target, at: inverse.index)
      }
      old = leaveOwner(target, at: inverse.index)
    }
    apply(Inverses.ofAddition(of: target, to: owner, index, inverse, old: old))
  }

  /// Marks the reference of a stored object as changed that has come into a list and leads to it already: the list was
  /// read after another context had led the object elsewhere, and the program has put it back.
  private func keepReference(of model: any PersistentModel, at index: Int) {
    let state = model._$statePointer
    guard state.pointee.rowID > 0, !state.pointee.changes.contains(index), graph.isHere(model)
    else { return }
    graph.undo.recordSide(of: model, at: index)
    graph.markChanged(model, at: index)
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
      graph.pending.addOtherRow(row, root: graph.entities[destination].layout.rootIndex, side)
    }
    return nil
  }

  /// Takes an object from a side that leads to it by the object's to-one property, which is about to change.
  func take(
    _ model: any PersistentModel, from owner: any PersistentModel, _ inverse: Inverses.Inverse
  ) {
    guard let side = leading(Inverses.Side(model: owner, inverse: inverse), to: model) else {
      return
    }
    apply([side.losing(model)])
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
  func memberSet(
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
