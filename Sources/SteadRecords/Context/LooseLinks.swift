// Relationships of objects that belong to no context: both sides are kept consistent there, too.

extension ToOneTarget {
  /// Updates the other sides after a to-one property was set, by the owner's context or without one.
  func didReplace<Owner: PersistentModel>(with new: Model?, _ owner: Owner, _ index: Int) {
    if let home = owner._$statePointer.pointee.home {
      return home.referenceDidChange(of: owner, index, erased, new)
    }
    new?.makeFirstLinks()
    LooseLinks.didReplace(erased, with: new, owner, index)
  }
}

extension ToMany {
  /// Updates the other sides after a list was set, by the owner's context or without one.
  static func didReplace<Owner: PersistentModel>(
    _ old: _Targets, with new: [AnyObject], _ owner: Owner, _ index: Int
  ) {
    if let home = owner._$statePointer.pointee.home {
      return home.membersDidChange(of: owner, index, old)
    }
    // Links that initializers gave come first, in the order in which the program made them.
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
    // An object with a link of an initializer that is not made yet, or with a context, takes the way of the setter,
    // which handles both.
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
  /// Lets an object that has left its context be linked again, as a new one is.
  fileprivate func becomesFree() {
    // With the flag, a context takes an object without a home for a deleted one, and drops it from lists.
    _$statePointer.pointee.clear(_ModelFlags.missing)
  }
}

/// One relationship of an object without a context.
///
/// Invariant: after each change, both sides agree for all objects that have no context. The sides of a context's
/// objects are left to that context, which sets them as it inserts the owner (``ModelHome/adoptOwner(_:of:_:)``), and
/// can undo that.
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

  /// Updates the other sides after a to-one property of an object without a context was set.
  ///
  /// If the destination is in a context, the object is inserted there.
  static func didReplace<Owner: PersistentModel>(
    _ old: _Target, with new: (any PersistentModel)?, _ owner: Owner, _ index: Int
  ) {
    owner.becomesFree()
    if let new, new._$statePointer.pointee.home == nil { new.becomesFree() }
    // An owner that comes into a context is linked there, where it can be undone.
    let home = new?._$statePointer.pointee.home
    LooseLinks(owner, index)?.didSetToOne(old, home == nil ? new : nil)
    // The destination's side of the relationship now reaches the new object.
    home?.adoptOwner(owner, of: index, .toOne(old))
  }

  /// Updates the other sides after a list of an object without a context was set.
  ///
  /// If a member is in a context, the object is inserted there with all members, which leave their old owners first.
  static func didReplace<Owner: PersistentModel>(
    _ old: _Targets, with new: [AnyObject], _ owner: Owner, _ index: Int
  ) {
    owner.becomesFree()
    var unique = new
    // A row can be a member once.
    if Set(new.map(ObjectIdentifier.init)).count != new.count {
      unique = RelationshipEditor.withoutDuplicates(new)
      owner.setContent(.toMany(_Targets(loaded: unique)), at: index)
    }
    var home: ModelHome?
    for case let target as any PersistentModel in unique {
      // The first context found gets the owner; its save then refuses members of any other one.
      if let found = target._$statePointer.pointee.home {
        home = home ?? found
      } else {
        target.becomesFree()
      }
    }
    let before = old.loaded ?? []
    let known = Set(before.map(ObjectIdentifier.init))
    let kept = home == nil ? unique : unique.filter { known.contains(ObjectIdentifier($0)) }
    // nil without an inverse: then no other side exists, and only a context has to learn of the owner.
    let links = LooseLinks(owner, index)
    // What comes into a context is linked there, where it can be undone.
    links?.didChange(ListChange(from: before, to: kept, isUnique: true))
    if home != nil { links?.giveUpOldOwners(of: unique) }
    home?.adoptOwner(owner, of: index, .toMany(old))
  }

  /// Updates the other sides after a list was changed in place.
  static func didChange<Owner: PersistentModel>(
    _ change: ListChange, _ owner: Owner, _ index: Int
  ) {
    owner.becomesFree()
    LooseLinks(owner, index)?.didChange(change)
  }

  /// Whether an object belongs to no context.
  private func isLoose(_ model: any PersistentModel) -> Bool {
    model._$statePointer.pointee.home == nil
  }

  /// Makes the other sides follow a to-one property that was set.
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

  /// Makes the other sides of the objects that left and came follow.
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

  /// Removes objects that are about to enter a context from their old owners, which would otherwise be inserted with
  /// them, as what their relationships reach.
  private func giveUpOldOwners(of targets: [AnyObject]) {
    // With a to-many inverse a member may have several owners, and leaves none.
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

  /// Makes changes of single sides of objects without a context. Those of a context's objects are left to that context,
  /// when this object is inserted there.
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
          // Without a context there are no rows to load, so the list is complete.
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

// MARK: - First links

extension FirstLink {
  /// Keeps a link that an initializer sets; called while the initializer runs.
  ///
  /// - Parameters:
  ///   - state: The owner's state, which lies in the object.
  ///   - type: The class that declares the relationship and the state.
  static func note<Owner: PersistentModel>(
    _ targets: [AnyObject], _ state: inout _ModelState, _ index: Int, _ type: Owner.Type
  ) {
    let targets = targets.compactMap { $0 as? any PersistentModel }
    guard !targets.isEmpty, let offset = stateOffset(in: type) else { return }
    let inverse = LooseLinks.inverse(of: index, in: type)
    let home = targets.lazy.compactMap { $0._$statePointer.pointee.home }.first
    // Without an inverse, only a context needs to know, to insert the owner.
    guard inverse != nil || home != nil else { return }
    // The initializer still runs, so there is no reference to the object yet. Its address follows from that of its
    // state, which lies in it.
    let address = withUnsafeMutablePointer(to: &state) { UnsafeMutableRawPointer($0) - offset }
    let link = FirstLink(.fromOpaque(address), index)
    state.keep(link)
    state.extra?.firstOwner = address
    for target in targets {
      // Links that other objects have set to the target come first, as they would with setters.
      target.makeFirstLinks(besidesThoseOf: address)
      target._$statePointer.pointee.keep(link)
      // The target no longer belongs to its previous owner.
      guard let inverse, !inverse.isToMany else { continue }
      if case .toOne(.model(let other)) = target.content(at: inverse.index) {
        other._$statePointer.pointee.keep(link)
      }
    }
    home?.keep(link)
  }

  /// Sets the other sides, as the property's setter would have.
  func make() {
    guard let owner = take() as? any PersistentModel else { return }
    // A context that took the owner in has set them.
    guard owner._$statePointer.pointee.home == nil else { return }
    owner.didInitialize(at: index)
  }

  /// Where a class keeps its state; nil when it is laid out in another way than expected.
  private static func stateOffset(in type: AnyClass) -> Int? {
    offsets.value(for: ObjectIdentifier(type)) { storedPropertyOffsets(in: type, ["_$state"])[0] }
  }

  private static let offsets = TypeCache<Int?>()
}

extension _ModelState {
  fileprivate mutating func keep(_ link: FirstLink) {
    makeExtra().firstLinks.append(link)
    set(_ModelFlags.linked)
  }
}

extension PersistentModel {
  /// Makes the links that wait at the object, in the order in which initializers gave them.
  ///
  /// - Parameter owner: An object whose initializer is running, so that its links keep waiting.
  func makeFirstLinks(besidesThoseOf owner: UnsafeMutableRawPointer? = nil) {
    let state = _$statePointer
    guard state.pointee.has(_ModelFlags.linked) else { return }
    state.pointee.clear(_ModelFlags.linked)
    for link in state.pointee.extra?.firstLinks.takeAll() ?? [] {
      if owner != nil, link.owner == owner { state.pointee.keep(link) } else { link.make() }
    }
  }

  /// Updates the other sides for the first value of a relationship, as if it had been set.
  fileprivate func didInitialize(at index: Int) {
    switch content(at: index) {
    case .toOne(.model(let target)): LooseLinks.didReplace(.none, with: target, self, index)
    case .toMany(let targets):
      LooseLinks.didReplace(_Targets(loaded: []), with: targets.loaded ?? [], self, index)
    default: break
    }
  }
}
