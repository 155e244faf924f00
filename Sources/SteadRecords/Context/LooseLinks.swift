// Relationships of objects that belong to no context: their sides are kept in step, too.

extension ToOneTarget {
  /// Keeps the other sides in step with a new destination.
  func didReplace<Owner: PersistentModel>(with new: Model?, _ owner: Owner, _ index: Int) {
    if let home = owner._$statePointer.pointee.home {
      return home.referenceDidChange(of: owner, index, erased, new)
    }
    new?.makeFirstLinks()
    LooseLinks.didReplace(erased, with: new, owner, index)
  }
}

extension ToMany {
  /// Keeps the other sides in step with new destinations.
  static func didReplace<Owner: PersistentModel>(
    _ old: _Targets, with new: [AnyObject], _ owner: Owner, _ index: Int
  ) {
    if let home = owner._$statePointer.pointee.home {
      return home.membersDidChange(of: owner, index, old)
    }
    for case let target as any PersistentModel in new { target.makeFirstLinks() }
    LooseLinks.didReplace(old, with: new, owner, index)
  }

  /// Applies to a relationship the change that the program made to the borrowed array; false if the relationship must
  /// be set to that array instead.
  ///
  /// - Parameter targets: The relationship in the owner's own storage.
  static func didModify<Owner: PersistentModel>(
    _ targets: UnsafeMutablePointer<_Targets>, _ new: [AnyObject], _ owner: Owner, _ index: Int
  ) -> Bool {
    if let home = owner._$statePointer.pointee.home {
      return home.membersDidModify(of: owner, index, targets, new)
    }
    guard let change = targets.pointee.change(to: new),
      !change.mayRepeat(isMember: { targets.pointee.contains($0) })
    else { return false }
    let added = change.added.compactMap { $0 as? any PersistentModel }
    // One that waits for a link, or that has a context, takes the way of the setter.
    guard
      added.allSatisfy({ $0._$statePointer.pointee.home == nil && !$0.has(_ModelFlags.linked) })
    else { return false }
    for target in added { target.becomesFree() }
    targets.pointee.apply(change)
    LooseLinks.didChange(change, owner, index)
    return true
  }
}

extension _Targets {
  /// How the list became another one; nil when it is not loaded.
  func change(to new: [AnyObject]) -> ListChange? {
    loaded.map { ListChange(from: $0, to: new) }
  }

  /// Makes the list the result of a change of it, and keeps the program's array for its next change.
  mutating func apply(_ change: ListChange) {
    if change.isEmpty { return returnUnchanged(change.result) }
    if loaded != nil { change.apply(to: &loaded!) }
    delta = delta ?? ToManyDelta()
    delta?.setShadow(change.result, added: change.added, removed: change.removed)
  }
}

extension PersistentModel {
  /// An object that left its context is linked as a new one is.
  fileprivate func becomesFree() {
    _$statePointer.pointee.clear(_ModelFlags.missing)
  }
}

/// One relationship of an object without a context.
struct LooseLinks {
  private let layout: StoreLayout
  private let owner: any PersistentModel
  private let index: Int
  private let property: PropertyLayout
  /// The property that leads back from a new destination.
  private let inverse: Inverses.Inverse

  /// nil if the relationship has no inverse, or if the models contradict each other.
  private init?<Owner: PersistentModel>(_ owner: Owner, _ index: Int) {
    guard let (layout, property) = Self.find(index, in: Owner.self, or: type(of: owner)),
      let inverse = layout.inverse(of: property)
    else { return nil }
    self.layout = layout
    self.owner = owner
    self.index = index
    self.property = property
    self.inverse = inverse
  }

  private static func find<Owner: PersistentModel>(
    _ index: Int, in type: Owner.Type, or subclass: any PersistentModel.Type
  ) -> (layout: StoreLayout, property: PropertyLayout)? {
    guard let layout = LooseLayout.layout(for: type),
      let entity = layout.entity(for: subclass) ?? layout.entity(for: type),
      entity.properties.indices.contains(index)
    else { return nil }
    return (layout, entity.properties[index])
  }

  /// The inverse of a relationship; nil when it has none, or when the models contradict each other.
  static func inverse<Owner: PersistentModel>(
    of index: Int, in type: Owner.Type
  ) -> Inverses.Inverse? {
    find(index, in: type, or: type).flatMap { $0.layout.inverse(of: $0.property) }
  }

  /// Keeps the other sides in step with a new destination.
  static func didReplace<Owner: PersistentModel>(
    _ old: _Target, with new: (any PersistentModel)?, _ owner: Owner, _ index: Int
  ) {
    owner.becomesFree()
    if let new, new._$statePointer.pointee.home == nil { new.becomesFree() }
    // What comes into a context is linked there, where it can be undone.
    let home = new?._$statePointer.pointee.home
    LooseLinks(owner, index)?.didSetToOne(old, home == nil ? new : nil)
    // The destination's side of the relationship now reaches the new object.
    home?.adoptOwner(owner, of: index, .toOne(old))
  }

  /// Keeps the other sides in step with new destinations.
  static func didReplace<Owner: PersistentModel>(
    _ old: _Targets, with new: [AnyObject], _ owner: Owner, _ index: Int
  ) {
    owner.becomesFree()
    var unique = new
    if Set(new.map(ObjectIdentifier.init)).count != new.count {
      unique = ObjectGraph.withoutDuplicates(new)
      owner.setContent(.toMany(_Targets(loaded: unique)), at: index)
    }
    var home: ModelHome?
    for case let target as any PersistentModel in unique {
      if let found = target._$statePointer.pointee.home {
        home = home ?? found
      } else {
        target.becomesFree()
      }
    }
    let before = old.loaded ?? []
    let known = Set(before.map(ObjectIdentifier.init))
    let kept = home == nil ? unique : unique.filter { known.contains(ObjectIdentifier($0)) }
    let links = LooseLinks(owner, index)
    // What comes into a context is linked there, where it can be undone.
    links?.didChange(ListChange(from: before, to: kept, isUnique: true))
    if home != nil { links?.giveUpOldOwners(of: unique) }
    home?.adoptOwner(owner, of: index, .toMany(old))
  }

  /// Keeps the other sides in step with a list that was changed in place.
  static func didChange<Owner: PersistentModel>(
    _ change: ListChange, _ owner: Owner, _ index: Int
  ) {
    owner.becomesFree()
    LooseLinks(owner, index)?.didChange(change)
  }

  private func isLoose(_ model: any PersistentModel) -> Bool {
    model._$statePointer.pointee.home == nil
  }

  private func didSetToOne(_ old: _Target, _ new: (any PersistentModel)?) {
    var previous: (any PersistentModel)?
    if case .model(let model) = old { previous = model }
    let oldInverse = layout.inverse(of: property, list: owner.list(at: index)) ?? inverse
    // Also for an object that led nowhere: it may have been in a list before it left a context.
    if previous !== new || new == nil { owner.setList(nil, at: index) }
    if previous === new { return }
    apply(
      Inverses.ofReference(
        owner, index, old: previous.map { Inverses.Side(model: $0, inverse: oldInverse) },
        new: new.map { Inverses.Side(model: $0, inverse: inverse) },
        partner: inverse.isToMany ? nil : new.flatMap { side(leadingTo: $0) }))
  }

  private func didChange(_ change: ListChange) {
    for case let target as any PersistentModel in change.removed {
      let refers = side(leadingTo: target)?.isProperty(index, of: owner) ?? false
      if let change = Inverses.ofRemoval(of: target, from: owner, inverse, refers: refers) {
        apply([change])
      }
    }
    for case let target as any PersistentModel in change.added {
      let old = side(leadingTo: target)
      if old?.isProperty(index, of: owner) == true { continue }
      apply(Inverses.ofAddition(of: target, to: owner, index, inverse, old: old))
    }
  }

  /// Removes objects that enter a context from their old owners; those would otherwise follow them into the context.
  private func giveUpOldOwners(of targets: [AnyObject]) {
    guard !inverse.isToMany else { return }
    for case let target as any PersistentModel in targets {
      guard let old = side(leadingTo: target), !old.isProperty(index, of: owner) else { continue }
      target.setContent(.toOne(.none), at: inverse.index)
      target.setList(nil, at: inverse.index)
      apply(Inverses.ofReference(target, inverse.index, old: old, new: nil, partner: nil))
    }
  }

  /// The side that leads to an object whose to-one property leads back.
  private func side(leadingTo model: any PersistentModel) -> Inverses.Side? {
    guard isLoose(model), case .toOne(.model(let owner)) = model.content(at: inverse.index),
      let inverse = layout.inverse(
        of: inverseProperty(of: model), list: model.list(at: inverse.index))
    else { return nil }
    return Inverses.Side(model: owner, inverse: inverse)
  }

  /// The property that leads back, as an object's own class has it.
  private func inverseProperty(of model: any PersistentModel) -> PropertyLayout {
    let entity =
      layout.entity(for: type(of: model)) ?? layout.entities[property.destination ?? 0]
    return entity.properties[inverse.index]
  }

  /// A context's objects are linked when this object is inserted.
  private func apply(_ changes: [Inverses.Change]) {
    for change in changes {
      switch change {
      case .refer(let model, let index, let target, let list):
        guard isLoose(model) else { continue }
        model.setContent(.toOne(target.map { .model($0) } ?? .none), at: index)
        model.setList(
          list.flatMap { $0 == inverseProperty(of: model).firstList ? nil : $0 }, at: index)
      case .add(let model, let owner, let index):
        guard isLoose(owner) else { continue }
        owner.updateTargets(at: index) { targets in
          if targets.contains(model) { return }
          if targets.loaded == nil { targets.loaded = [] }
          targets.loaded?.append(model)
        }
      case .remove(let model, let owner, let index):
        guard isLoose(owner) else { continue }
        owner.updateTargets(at: index) { $0.remove(model) }
      }
    }
  }
}
