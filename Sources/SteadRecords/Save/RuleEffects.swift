/// What the rules of deleted objects have done to others, until the deletions are saved or discarded.
///
/// A rule concerns what leads to the deleted object when the deletion is saved. Others may have led a child elsewhere by
/// then: it stays, and leads there. So the links are kept by which rules came to objects, and each time others' commits
/// arrive, those are taken back that the store no longer has.
///
/// Invariant: has a link for each object that a rule has deleted, and for each reference that a rule has cleared.
struct RuleEffects {
  /// A relationship of a deleted object that led to another one.
  struct Link {
    let property: Int
    let target: any PersistentModel
    let isCascade: Bool
    /// Whether this context had changed the relationship, so that the store's link is another one.
    let isOwn: Bool
    /// In which of several lists an own link was.
    let list: Int?
    /// Whether others have led the target elsewhere.
    fileprivate(set) var isGone = false

    init(
      property: Int, target: any PersistentModel, isCascade: Bool, isOwn: Bool, list: Int?
    ) {
      (self.property, self.target, self.isCascade) = (property, target, isCascade)
      (self.isOwn, self.list) = (isOwn, list)
    }
  }

  /// The effects of one object's rules.
  struct Effects {
    let deleted: any PersistentModel
    var links: [Link] = []
    /// What this context had changed of lists without a to-one inverse, by their properties.
    var lists: [Int: ToManyDelta] = [:]
    /// The references that this context had cleared.
    var cleared = PropertySet()
  }

  /// By the deleted objects, which are held.
  private var effects: [ObjectIdentifier: Effects] = [:]
  /// Whether a deletion was redone since the last review, after which its links may be gone.
  private(set) var needsReview = false

  /// Notes what a rule is about to do.
  mutating func add(
    _ links: [Link], _ delta: ToManyDelta?, of model: any PersistentModel, _ index: Int
  ) {
    var own = effects.removeValue(forKey: ObjectIdentifier(model)) ?? Effects(deleted: model)
    own.links += links
    if let delta, own.lists[index] == nil { own.lists[index] = delta }
    effects[ObjectIdentifier(model)] = own
  }

  /// Notes a reference of a deleted object that the program had cleared before.
  mutating func addCleared(of model: any PersistentModel, _ index: Int) {
    effects[ObjectIdentifier(model), default: Effects(deleted: model)].cleared.insert(index)
  }

  /// The effects of an object's rules.
  func effects(of model: any PersistentModel) -> Effects? {
    effects.isEmpty ? nil : effects[ObjectIdentifier(model)]
  }

  /// Forgets the effects of an object's rules, since its deletion is undone.
  mutating func forget(_ model: any PersistentModel) {
    if !effects.isEmpty { effects[ObjectIdentifier(model)] = nil }
  }

  /// Notes the effects again of a deletion that is redone.
  mutating func restore(_ effects: Effects?) {
    guard let effects else { return }
    self.effects[ObjectIdentifier(effects.deleted)] = effects
    needsReview = true
  }

  // MARK: Review

  /// Finds the links that others have led elsewhere, or back, since the last time.
  ///
  /// - Parameters:
  ///   - isActive: Whether an object is still deleted.
  ///   - isTouched: Whether others may have changed an object.
  ///   - stored: Which of some targets the store links to a deleted object by a relationship, in one query; nil if that
  ///     cannot be read.
  /// - Returns: All that are gone, with the objects whose rules they concern; empty if nothing has changed.
  mutating func update(
    isActive: (any PersistentModel) -> Bool, isTouched: (any PersistentModel) -> Bool,
    stored: ([any PersistentModel], _ index: Int, any PersistentModel) -> Set<ObjectIdentifier>?
  ) -> [(Effects, Link)] {
    let all = needsReview
    needsReview = false
    var hasChanged = false
    for (id, effect) in effects where isActive(effect.deleted) {
      let takesAll = all || isTouched(effect.deleted)
      // By relationship, so that each asks the store once.
      var places: [Int: [Int]] = [:]
      for (place, link) in effect.links.enumerated()
      where !link.isOwn && (takesAll || isTouched(link.target)) {
        places[link.property, default: []].append(place)
      }
      for (index, places) in places {
        // What cannot be read has not moved.
        guard let stored = stored(places.map { effect.links[$0].target }, index, effect.deleted)
        else { continue }
        for place in places {
          let isGone = !stored.contains(ObjectIdentifier(effect.links[place].target))
          if isGone != effect.links[place].isGone { hasChanged = true }
          effects[id]?.links[place].isGone = isGone
        }
      }
    }
    if !hasChanged { return [] }
    return effects.values.filter { isActive($0.deleted) }
      .flatMap { effect in effect.links.filter(\.isGone).map { (effect, $0) } }
  }

  /// The objects among the deleted ones that only cascades have deleted, none of which still comes to them from what the
  /// program has deleted.
  func unreached(_ deleted: [any PersistentModel]) -> [any PersistentModel] {
    // What no link led to was deleted in another way.
    let linked = Set(
      effects.values.flatMap(\.links).filter(\.isCascade).map { ObjectIdentifier($0.target) })
    func isCascaded(_ model: any PersistentModel) -> Bool {
      model.has(_ModelFlags.cascaded) && linked.contains(ObjectIdentifier(model))
    }
    var queue = deleted.filter { !isCascaded($0) }
    var reached = Set(queue.map { ObjectIdentifier($0) })
    while let next = queue.popLast() {
      for link in effects[ObjectIdentifier(next)]?.links ?? []
      where link.isCascade && !link.isGone {
        if reached.insert(ObjectIdentifier(link.target)).inserted { queue.append(link.target) }
      }
    }
    return deleted.filter { isCascaded($0) && !reached.contains(ObjectIdentifier($0)) }
  }
}
