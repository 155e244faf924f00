/// What a context has changed of one to-many relationship since its last save.
///
/// Kept beside the loaded array, which is no more than a cache: after commits of others the array is
/// made again from the rows and from this.
@usableFromInline final class ToManyDelta {
  /// What was put in, in that order; an entry counts while `places` has it.
  private var added: [AnyObject] = []
  private var places: [ObjectIdentifier: Int] = [:]
  /// What was taken out. Held, since the address of one that is gone may be given to another object.
  private var removed: [ObjectIdentifier: AnyObject] = [:]
  /// The whole of the relationship when it was last put into an order of its own.
  private(set) var ordering: [AnyObject]?
  /// What was put in after that.
  private var addedSince: Set<ObjectIdentifier> = []
  /// Whether the relationship is in the list of those that the next save writes.
  var isNoted = false
  /// A copy of the loaded array for the program to change; nil when that has changed otherwise.
  var twin: ListTwin?

  /// What was put in, in that order.
  var additions: [AnyObject] {
    added.enumerated().compactMap { places[ObjectIdentifier($1)] == $0 ? $1 : nil }
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
  /// - Parameter stored: What the rows say, without those that this context has led elsewhere.
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
