/// What a context has changed of one to-many relationship since its last save.
///
/// Kept separately from the loaded array, which is only a cache: after other contexts' commits the array is rebuilt
/// from the rows and from this.
@usableFromInline final class ToManyDelta {
  /// The added members, in that order; an entry counts while `places` has it.
  private var added: [AnyObject] = []
  private var places: [ObjectIdentifier: Int] = [:]
  /// The removed members. Held, since the address of a deallocated object may be reused by another.
  private var removed: [ObjectIdentifier: AnyObject] = [:]
  /// The whole relationship when it was last reordered.
  private(set) var ordering: [AnyObject]?
  /// The members added after that.
  private var addedSince: Set<ObjectIdentifier> = []
  /// Whether the relationship is in the list of those that the next save writes.
  var isNoted = false
  /// A copy of the loaded array for the program to change; nil when that has changed otherwise.
  var twin: ListTwin?

  /// The added members, in that order.
  var additions: [AnyObject] {
    added.enumerated().compactMap { places[ObjectIdentifier($1)] == $0 ? $1 : nil }
  }

  /// Another delta of the same changes.
  func copy() -> ToManyDelta {
    let copy = ToManyDelta()
    (copy.added, copy.places, copy.removed) = (added, places, removed)
    (copy.ordering, copy.addedSince, copy.isNoted) = (ordering, addedSince, isNoted)
    return copy
  }

  var isEmpty: Bool { places.isEmpty && removed.isEmpty && ordering == nil }

  func hasAdded(_ object: AnyObject) -> Bool { places[ObjectIdentifier(object)] != nil }

  func hasRemoved(_ object: AnyObject) -> Bool { removed[ObjectIdentifier(object)] != nil }

  /// Puts an object at the end.
  func add(_ object: AnyObject) {
    let id = ObjectIdentifier(object)
    removed[id] = nil
    if ordering != nil { addedSince.insert(id) }
    places[id] = added.count
    added.append(object)
  }

  func remove(_ object: AnyObject) {
    let id = ObjectIdentifier(object)
    places[id] = nil
    removed[id] = object
  }

  func setOrder(_ objects: [AnyObject]) {
    ordering = objects
    addedSince = []
  }

  /// The relationship as it is with these changes.
  ///
  /// - Parameter stored: The rows' members, without those that this context has led elsewhere.
  func applied(to stored: [AnyObject]) -> [AnyObject] {
    let additions = additions
    let kept = stored.filter {
      let id = ObjectIdentifier($0)
      return removed[id] == nil && places[id] == nil
    }
    guard let ordering else { return kept + additions }
    let members = Set((kept + additions).map(ObjectIdentifier.init))
    var known = Set<ObjectIdentifier>(minimumCapacity: ordering.count)
    let ordered = ordering.filter {
      let id = ObjectIdentifier($0)
      return members.contains(id) && !addedSince.contains(id) && known.insert(id).inserted
    }
    return ordered + (kept + additions).filter { !known.contains(ObjectIdentifier($0)) }
  }
}
