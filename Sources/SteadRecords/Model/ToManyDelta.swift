/// What a context has changed of one to-many relationship since its last save.
///
/// Kept separately from the loaded array, which is only a cache: after other contexts' commits the array is rebuilt by
/// ``applied(to:)`` from the rows and from this. Invariant: an object is among the additions or the removals, never in
/// both.
@usableFromInline final class ToManyDelta {
  /// The members in the order of their addition, with entries of members that were removed again: only an entry at
  /// which `indices` has its object counts, so that a removal takes constant time.
  private var added: [AnyObject] = []
  private var indices: [ObjectIdentifier: Int] = [:]
  /// The removed members. Held, since the address of a deallocated object may be reused by another.
  private var removed: [ObjectIdentifier: AnyObject] = [:]
  /// The members, present and former, that this context has added before it removed them: those were no members when the
  /// first change was made.
  private var new: Set<ObjectIdentifier> = []
  /// The whole relationship when it was last reordered.
  private(set) var ordering: [AnyObject]?
  /// The members added after that.
  private var addedSince: Set<ObjectIdentifier> = []
  /// Whether the next save's list of changed relationships has this one.
  var isEnqueued = false
  /// The second array of a list that is changed in place; nil once the engine has changed the loaded one.
  var shadow: LentArrayShadow?

  /// The added members, in that order.
  var additions: [AnyObject] {
    added.enumerated().compactMap { indices[ObjectIdentifier($1)] == $0 ? $1 : nil }
  }

  /// Another delta of the same changes.
  func copy() -> ToManyDelta {
    let copy = ToManyDelta()
    // Without the shadow, which mirrors one loaded array.
    (copy.added, copy.indices, copy.removed) = (added, indices, removed)
    (copy.new, copy.isEnqueued) = (new, isEnqueued)
    (copy.ordering, copy.addedSince) = (ordering, addedSince)
    return copy
  }

  /// Whether the relationship is as it is stored. An addition that was taken back leaves a removal
  /// behind, so the delta is not empty then.
  var isEmpty: Bool { indices.isEmpty && removed.isEmpty && ordering == nil }

  /// Whether the next save adds the object to the stored relationship.
  func hasAdded(_ object: AnyObject) -> Bool { indices[ObjectIdentifier(object)] != nil }

  /// Whether the next save removes the object from the stored relationship.
  func hasRemoved(_ object: AnyObject) -> Bool { removed[ObjectIdentifier(object)] != nil }

  /// Puts an object at the end.
  func add(_ object: AnyObject) {
    let id = ObjectIdentifier(object)
    // Keeps the invariant: what was removed and is added again counts as added, at the end.
    if removed.removeValue(forKey: id) == nil, indices[id] == nil { new.insert(id) }
    if ordering != nil { addedSince.insert(id) }
    indices[id] = added.count
    added.append(object)
  }

  /// Records a removal, which cancels an addition.
  func remove(_ object: AnyObject) {
    let id = ObjectIdentifier(object)
    // The entry in `added` stays. Taking it out would move the ones behind it, and cost time in
    // proportion to them.
    indices[id] = nil
    removed[id] = object
  }

  /// Whether the next save adds an object that was no member before this context's first change.
  func hasAddedNew(_ object: AnyObject) -> Bool {
    hasAdded(object) && new.contains(ObjectIdentifier(object))
  }

  /// Whether the next save removes an object that was a member before this context's first change.
  func hasRemovedOld(_ object: AnyObject) -> Bool {
    hasRemoved(object) && !new.contains(ObjectIdentifier(object))
  }

  /// Whether the members are the stored ones, in whatever order.
  var hasSameMembers: Bool { indices.isEmpty && removed.isEmpty }

  /// Forgets what was changed of an object, so that others' commits decide whether it is a member.
  func forget(_ object: AnyObject) {
    let id = ObjectIdentifier(object)
    (indices[id], removed[id]) = (nil, nil)
    new.remove(id)
  }

  /// Forgets the removals but for those that an earlier delta has, too.
  func forgetRemovals(but earlier: ToManyDelta?) {
    if removed.isEmpty { return }
    removed = removed.filter { earlier?.hasRemoved($0.value) == true }
  }

  /// Records the order of the whole relationship; members that are added later come after it.
  func setOrder(_ objects: [AnyObject]) {
    ordering = objects
    addedSince = []
  }

  /// The relationship with these changes: a three-way merge with what is stored now.
  ///
  /// Members that others have added stay, and members that others have removed are gone, unless this context has added
  /// them. With an ordering, its members come first in that order; everything else follows.
  ///
  /// - Parameter stored: The rows' members, without those whose inverse this context has changed.
  func applied(to stored: [AnyObject]) -> [AnyObject] {
    let additions = additions
    let kept = stored.filter {
      let id = ObjectIdentifier($0)
      // An object that this context has added may be stored by now, since another context added it,
      // too. It is in `additions`, and must not come twice.
      return removed[id] == nil && indices[id] == nil
    }
    guard let ordering else { return kept + additions }
    let members = Set((kept + additions).map(ObjectIdentifier.init))
    // The ordering may have members that are gone since, or an object twice.
    var known = Set<ObjectIdentifier>(minimumCapacity: ordering.count)
    let ordered = ordering.filter {
      let id = ObjectIdentifier($0)
      return members.contains(id) && !addedSince.contains(id) && known.insert(id).inserted
    }
    return ordered + (kept + additions).filter { !known.contains(ObjectIdentifier($0)) }
  }
}

// MARK: - Arrays lent to the program

// `parent.children.append(child)` changes the array in place only if nothing else holds it. But the engine needs the
// array as it was, to see what changed, and for readers in the meantime. So a list that is changed often has two arrays
// of the same objects: the relationship keeps one and lends the other to the program. The program's changes are then
// applied to the first.

/// The array that is lent to the program, and the set of its members.
///
/// Invariant: while `list` is not nil, it has the elements of the loaded array in the same order, in a buffer of its
/// own.
struct LentArrayShadow {
  /// Shorter lists are copied for each change.
  static let smallestCount = 32

  /// nil while the program holds it.
  fileprivate var list: [AnyObject]?
  /// The members of the loaded array; made with the first look-up.
  fileprivate var members: Set<ObjectIdentifier>?
}

extension _Targets {
  /// The array for the program to change, held by nothing else if possible.
  func lend() -> [AnyObject]? {
    guard let loaded else { return nil }
    // Without a shadow the loaded array itself is lent. The first change of the program then copies
    // it.
    guard let list = delta?.shadow?.list else { return loaded }
    // The caller holds the only reference now, which lets an append change the buffer in place.
    delta?.shadow?.list = nil
    return list
  }

  /// Takes back an array that the program has not changed.
  func returnUnchanged(_ list: [AnyObject]) { delta?.shadow?.list = list }

  /// Whether the list has an object.
  func contains(_ object: AnyObject) -> Bool {
    guard let loaded else { return false }
    guard let delta, delta.shadow != nil else { return loaded.contains { $0 === object } }
    if delta.shadow?.members == nil {
      // Costs time in proportion to the list once. `setShadow` updates it afterwards.
      delta.shadow?.members = Set(loaded.lazy.map(ObjectIdentifier.init))
    }
    return delta.shadow?.members?.contains(ObjectIdentifier(object)) ?? false
  }

  // MARK: The engine's own changes

  /// Removes an object from the loaded array.
  mutating func remove(_ object: AnyObject) {
    guard let index = loaded?.lastIndex(where: { $0 === object }) else { return }
    loaded?.remove(at: index)
  }

  /// Takes over another content of the same relationship.
  mutating func replace(with other: _Targets) {
    self = other
    // The other content may be of another array, of which the shadow is no copy.
    delta?.shadow = nil
  }

  /// Changes the content, and drops the shadow if the loaded array has changed.
  mutating func update(_ body: (inout _Targets) -> Void) {
    guard delta?.shadow != nil else { return body(&self) }
    let before = address
    body(&self)
    if address != before { delta?.shadow = nil }
  }

  /// The buffer of the loaded array. Each change of the engine's moves the buffer or its end, so an equal range means an
  /// unchanged array.
  private var address: Range<UInt>? {
    loaded?.withUnsafeBytes {
      let start = UInt(bitPattern: $0.baseAddress)
      return start..<start + UInt($0.count)
    }
  }
}

extension ToManyDelta {
  /// Makes or updates the shadow after the program has changed the lent array; short lists have none.
  ///
  /// - Parameters:
  ///   - list: The array as the program left it.
  ///   - added: What the program has added to it.
  ///   - removed: What it has removed.
  func setShadow(_ list: [AnyObject], added: [AnyObject], removed: [AnyObject]) {
    guard list.count >= LentArrayShadow.smallestCount else { return shadow = nil }
    if shadow == nil { shadow = LentArrayShadow() }
    shadow?.list = list
    if shadow?.members == nil { return }
    for object in removed { shadow?.members?.remove(ObjectIdentifier(object)) }
    for object in added { shadow?.members?.insert(ObjectIdentifier(object)) }
  }
}
