import Foundation

extension Optional where Wrapped == ObjectGraph {
  /// Keeps the other side of a to-one relationship in step with a new value.
  func didSetToOne<Owner: PersistentModel>(
    _ owner: Owner, _ index: Int, _ old: _Target, _ new: (any PersistentModel)?
  ) {
    if let self {
      self.didSetToOne(owner, index, old, new)
    } else if let new, let graph = new._$statePointer.pointee.graph,
      graph.hasInverse(type(of: owner), index)
    {
      // The destination's side of the relationship now reaches the new object.
      graph.insert(owner)
    }
  }

  /// Keeps the other side of a to-many relationship in step with new values.
  func didSetToMany<Owner: PersistentModel>(
    _ owner: Owner, _ index: Int, _ old: _Targets, _ new: [any PersistentModel]
  ) {
    if let self {
      self.didSetToMany(owner, index, old, new)
    } else if let graph = new.lazy.compactMap({ $0._$statePointer.pointee.graph }).first,
      graph.hasInverse(type(of: owner), index)
    {
      graph.insert(owner)
    }
  }
}

extension ObjectGraph {
  func hasInverse(_ type: any PersistentModel.Type, _ index: Int) -> Bool {
    layout.entity(for: type)?.properties[index].relationship?.inverse != nil
  }

  func didSetToOne(
    _ owner: any PersistentModel, _ index: Int, _ old: _Target, _ new: (any PersistentModel)?
  ) {
    let property = entity(of: owner).properties[index]
    let previous = registeredTarget(old, property)
    if previous === new { return }
    if let inverse = property.relationship?.inverse, let previous {
      removeObject(owner, from: previous, inverse)
    }
    guard let new else { return }
    if new._$statePointer.pointee.graph == nil { insert(new) }
    guard new._$statePointer.pointee.graph === self else {
      Report.problem("A relationship was set to an object of another context; it was not taken in.")
      owner.setContent(.toOne(.none), at: index)
      return
    }
    noteMove(of: owner, property)
    setInverse(of: property, from: owner, to: new)
  }

  private func registeredTarget(
    _ target: _Target, _ property: PropertyLayout
  ) -> (any PersistentModel)? {
    switch target {
    case .none: return nil
    case .model(let model): return model
    case .row(let row):
      guard let destination = property.destination else { return nil }
      return registered(layout.entities[destination], row: row)
    }
  }

  func didSetToMany(
    _ owner: any PersistentModel, _ index: Int, _ old: _Targets, _ new: [any PersistentModel]
  ) {
    let entity = entity(of: owner)
    let property = entity.properties[index]
    let before = old.loaded ?? loadBase(owner, property, old.delta)
    let after = Self.withoutDuplicates(new)
    if after.count != new.count || old.delta != nil {
      owner.setContent(.toMany(_Targets(loaded: after)), at: index)
    }
    membership = nil
    var common = 0
    while common < before.count, common < after.count, before[common] === after[common] {
      common += 1
    }
    if common == before.count, common == after.count { return }
    let kept = Set(after[common...].map(ObjectIdentifier.init))
    let known = Set(before[common...].map(ObjectIdentifier.init))
    for case let target as any PersistentModel in before[common...]
    where !kept.contains(ObjectIdentifier(target)) {
      recordPair(property, entity, owner, target, isAdded: false)
      if let inverse = property.relationship?.inverse {
        removeFromInverse(target, inverse, owner)
      }
    }
    var added: [AnyObject] = []
    for case let target as any PersistentModel in after[common...]
    where !known.contains(ObjectIdentifier(target)) {
      if target._$statePointer.pointee.graph == nil { insert(target) }
      guard target._$statePointer.pointee.graph === self else { continue }
      added.append(target)
      recordPair(property, entity, owner, target, isAdded: true)
      setInverse(of: property, from: owner, to: target)
    }
    let survivors = before[common...].filter { kept.contains(ObjectIdentifier($0)) }
    let isReordered = !zip(survivors, after[common...]).allSatisfy { $0 === $1 }
    noteOrder(owner, property, appended: added, isReordered: isReordered)
  }

  // MARK: Inverses

  /// Makes the destination refer back to the owner.
  func setInverse(
    of property: PropertyLayout, from owner: any PersistentModel,
    to target: any PersistentModel
  ) {
    guard let index = property.relationship?.inverse else { return }
    let inverse = entity(of: target).properties[index]
    switch target.content(at: index) {
    case .attribute: break
    case .toOne(let current):
      let previous = registeredTarget(current, inverse)
      if previous === owner { return }
      if let previous { removeObject(target, from: previous, property.index) }
      notifying(target, index) { target.setContent(.toOne(.model(owner)), at: index) }
      noteMove(of: target, inverse)
      touch(target, index: index)
    case .toMany(let targets):
      if targets.loaded == nil, inverse.joinTable == nil {
        // Found through its own column once it is loaded.
        touch(target, index: index)
        return
      }
      if append(owner, to: target, index, targets) { touch(target, index: index) }
    }
  }

  /// Appends to a to-many relationship's storage, unless the object is in it.
  private func append(
    _ object: any PersistentModel, to owner: any PersistentModel, _ index: Int, _ targets: _Targets
  ) -> Bool {
    let id = ObjectIdentifier(object)
    if let loaded = targets.loaded {
      if membership?.owner != ObjectIdentifier(owner) || membership?.index != index
        || membership?.members.count != loaded.count
      {
        membership = Membership(
          owner: ObjectIdentifier(owner), index: index,
          members: Set(loaded.map(ObjectIdentifier.init)))
      }
      guard membership?.members.insert(id).inserted == true else { return false }
    }
    notifying(owner, index) {
      var appender = TargetAppender(target: object)
      owner._$visit(index, &appender)
    }
    return true
  }

  /// Removes the owner from what a destination refers back to.
  func removeFromInverse(
    _ target: any PersistentModel, _ index: Int, _ owner: any PersistentModel
  ) {
    removeObject(owner, from: target, index)
  }

  /// Removes an object from another's relationship.
  func removeObject(
    _ object: any PersistentModel, from owner: any PersistentModel, _ index: Int
  ) {
    switch owner.content(at: index) {
    case .attribute: break
    case .toOne(let current):
      switch current {
      case .none: return
      case .row(let row): guard row == object._$statePointer.pointee.rowID else { return }
      case .model(let model): guard model === object else { return }
      }
      notifying(owner, index) { owner.setContent(.toOne(.none), at: index) }
      touch(owner, index: index)
    case .toMany(let targets):
      membership = nil
      if targets.loaded != nil || entity(of: owner).properties[index].joinTable != nil {
        notifying(owner, index) {
          var remover = TargetRemover(target: object)
          owner._$visit(index, &remover)
        }
      }
      touch(owner, index: index)
    }
  }

  // MARK: Rows of relationships

  func recordPair(
    _ property: PropertyLayout, _ entity: EntityLayout, _ owner: any PersistentModel,
    _ target: any PersistentModel, isAdded: Bool
  ) {
    guard let table = property.joinTable else { return }
    pairs.append(
      PairChange(
        table: table, store: entity.index, owner: owner, target: target, isAdded: isAdded))
    if property.relationship?.inverse == property.index, property.destination == entity.index {
      // A relationship that is its own inverse has a row for each direction.
      pairs.append(
        PairChange(
          table: table, store: entity.index, owner: target, target: owner, isAdded: isAdded))
    }
  }

  /// Plans the writing of a relationship's order, when the order of the rows is not the same.
  func noteOrder(
    _ owner: any PersistentModel, _ property: PropertyLayout, appended: [AnyObject],
    isReordered: Bool
  ) {
    let movesOldRows =
      property.joinTable == nil
      && appended.contains {
        (($0 as? any PersistentModel)?._$statePointer.pointee.rowID ?? 0) > 0
      }
    let isUnsorted = appended.count > 1 && isOutOfInsertionOrder(appended)
    if isReordered || movesOldRows || (property.joinTable == nil && isUnsorted) {
      reordered.append((owner, property.index))
    }
  }

  /// Whether new objects will get their rows in another order than the relationship has them.
  private func isOutOfInsertionOrder(_ objects: [AnyObject]) -> Bool {
    // Temporary numbers count down in the order of insertion.
    var last: Int64 = 0
    for case let model as any PersistentModel in objects {
      let row = model._$statePointer.pointee.rowID
      if row > 0 { continue }
      if row >= last, last != 0 { return true }
      last = row
    }
    return false
  }

  /// A row that changes its owner loses its place in the old owner's order.
  private func noteMove(of model: any PersistentModel, _ property: PropertyLayout) {
    guard model._$statePointer.pointee.rowID > 0,
      let destination = property.destination, let inverse = property.relationship?.inverse,
      layout.entities[destination].properties[inverse].isToMany
    else { return }
    clearedOrders.append((model, property.index))
  }
}

struct TargetAppender: _SlotVisitor {
  let target: any PersistentModel

  mutating func visit<S: _Slot>(_ slot: inout S, _ index: Int) { slot._append(target) }
}

struct TargetRemover: _SlotVisitor {
  let target: any PersistentModel

  mutating func visit<S: _Slot>(_ slot: inout S, _ index: Int) { slot._remove(target) }
}
